"""The process behind `proofs.changed`: it runs proofs and writes a line of JSON for each.

    python -m autograder.lessons.lint.proofs.server PID_OF_WHO_ASKS CLAIMS_FILE ID…

The proofs run in a fork of it.  Whatever ends, the proofs, this process by SIGTERM or the program
that asks, all that they started ends too, also what left its session.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from autograder.descendants import end_descendants, wait_for_end
from autograder.environment import adopt_orphans, end_with_parent
from autograder.lessons.claims import parse_claims
from course.claims import Claim, prove


def main(parent: int, file: str, ids: list[str]) -> None:
    """Prove the claims `ids` of a claims file, in this order, for the process `parent`."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # by way of `finally`
    end_with_parent(parent)
    adopt_orphans()
    try:  # SIGTERM may come while the fork is made
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            _prove(file, ids)
            return
        code = wait_for_end(child)
    finally:
        end_descendants()
    sys.exit(code if code >= 0 else 128 - code)  # a signal as a shell counts it


def _prove(file: str, ids: list[str]) -> None:
    replies = os.fdopen(os.dup(1), "w")
    with open(os.devnull, "w") as nothing:
        os.dup2(nothing.fileno(), 1)  # what a proof prints must not mix with the replies
    claims = {claim.id: claim for claim in parse_claims(Path(file)).claims}
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
        "printed": proof.printed.rstrip(),
        "shows": claim.shows,
        "elsewhere": elsewhere,
    }


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
