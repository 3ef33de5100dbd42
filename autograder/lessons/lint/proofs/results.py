"""What a proof showed, kept while neither the claim nor a module behind its proof changes.

A release, the site and the tests all want to know; whoever asks first runs the proof.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from autograder.kept_results import KeptResults, digest_of, modules_behind
from course.claims.schema import Claim

__all__ = ["keep_proof", "known_proof"]

_RUNS = "from course.claims.proofs import prove"


def known_proof(results: KeptResults, claim: Claim) -> Any:
    """What the proof showed, printed and found, as plain data; None where it has to run."""
    return results.find(_name(claim), _digest(claim))


def keep_proof(results: KeptResults, claim: Claim, seen: dict[str, Any]) -> None:
    """Keep what a proof showed, if it held: `shown`, `printed`, `holds` and `error`."""
    if seen["holds"] and seen["shown"] and not seen["error"]:
        kept = {key: seen[key] for key in ("shown", "holds", "error")}
        kept["printed"] = seen["printed"].rstrip()
        results.keep(_name(claim), _digest(claim), kept)


def _name(claim: Claim) -> str:
    return f"proof-{claim.lesson}-{claim.id}"


def _digest(claim: Claim) -> str:
    text = json.dumps([claim.proof, claim.shows, claim.needs])
    return digest_of(text, files=_behind() | modules_behind(claim.proof))


@cache
def _behind() -> frozenset[Path]:
    return modules_behind(_RUNS)
