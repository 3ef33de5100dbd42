"""The process behind `proofs.changed`: it runs proofs and writes a line of JSON for each."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from course.claims import Claim, prove
from course.claims.schema import parse


def main(file: str, ids: list[str]) -> None:
    """Prove the claims `ids` of a claims file, in this order."""
    replies = os.fdopen(os.dup(1), "w")
    with open(os.devnull, "w") as nothing:
        os.dup2(nothing.fileno(), 1)  # what a proof prints must not mix with the replies
    path = Path(file)
    claims = {claim.id: claim for claim in parse(path.read_text("utf-8"), path.stem).claims}
    for id_ in ids:
        replies.write(json.dumps(_reply(claims[id_])) + "\n")
        replies.flush()


def _reply(claim: Claim) -> dict[str, Any]:
    proof = prove(claim)
    elsewhere = claim.needs in ("fork", "linux") and (proof.error or "").startswith("it needs ")
    return {
        "holds": proof.holds,
        "error": proof.error,
        "shown": proof.shown,
        "shows": claim.shows,
        "elsewhere": elsewhere,
    }


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
