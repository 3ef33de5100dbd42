"""Runs every proof, in the environment that is measured: `python proofs.py RESULT`.

RESULT becomes JSON: the claims by id, with None where the relation holds, "skipped: …" where a
proof needs what is not installed, and otherwise what it came to.
"""

import json
import sys
import warnings
from pathlib import Path

from course.claims import Claim, claims, prove


def outcome(entry: Claim) -> str | None:
    """What a claim's proof came to."""
    proof = prove(entry)
    if proof.holds:
        return None
    if proof.error and proof.error.startswith("it needs "):
        return f"skipped: {proof.error}"
    return proof.error or f"{entry.shows}, but {dict(proof.shown)}"


def main(result: str) -> None:
    """Prove all, and write down what came of it."""
    warnings.simplefilter("ignore")
    found = {f"{one.lesson}: {one.id}": outcome(one) for one in claims()}
    Path(result).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
