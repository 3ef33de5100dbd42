"""The fork server behind `proofs.changed`: it loads torch once and forks for each proof.

python -m autograder.lessons.lint.proofs.proof_process PID_OF_WHO_ASKS FILE_DESCRIPTOR FILE

{"prove": id of a claim in FILE, "limit_s": seconds}  →  what the proof showed, or {"ended"}
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path

from autograder.fork_server import Died, Forks, Message, answer_in_forks
from autograder.lessons.claims import parse_claims
from autograder.lessons.imported_modules import slow_modules
from course.claims.schema import Claim


def main() -> None:
    """Prove claims for as long as somebody asks."""

    def prepare() -> Callable[[Message, Forks], Message]:
        claims = {claim.id: claim for claim in parse_claims(Path(sys.argv[3])).claims}
        # What every proof imports, and what many would spend a second on.
        for name in ("course.claims.proofs", *slow_modules(one.proof for one in claims.values())):
            import_module(name)
        return partial(_in_a_fork, claims)

    answer_in_forks(prepare)


def _in_a_fork(claims: dict[str, Claim], question: Message, forks: Forks) -> Message:
    try:
        return forks.run(partial(_prove, claims[question["prove"]]), question["limit_s"])
    except TimeoutError:
        return {"ended": "it ran past the time limit"}
    except Died as error:
        return {"ended": str(error)}


def _prove(claim: Claim) -> Message:
    from course.claims.proofs import prove

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
    main()
