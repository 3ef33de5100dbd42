"""The proofs of a lesson's claims, run when they changed.

What held is kept in `.autograder/kept/`, so that a release that changes no claim, and no module
behind its proof, runs none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from autograder.errors import AutograderError
from autograder.fork_server import AnsweringServer
from autograder.kept_results import KeptResults
from autograder.lessons.claims import claims_path, parse_claims
from autograder.lessons.lint.findings import Finding
from autograder.lessons.lint.proofs.results import keep_proof, known_proof
from autograder.lessons.model import Lesson
from course.claims.schema import NEEDED, Claim

LIMIT_S = 120.0
# The id of a claim; what is wrong with its proof, empty where it holds; what the proof showed.
Verdict = tuple[str, str, dict[str, Any]]


class ProofsError(AutograderError):
    """Proofs cannot be run, for a reason that is not theirs."""


@dataclass(frozen=True)
class Proved:
    """What became of a lesson's claims.

    Attributes:
        claims: How many there are.
        ran: How many proofs ran.
        failed: Those that failed.
        lacking: The package that each proof needs which could not run here.
    """

    claims: int
    ran: int
    failed: tuple[Finding, ...]
    lacking: tuple[str, ...] = ()


def prove_changed(
    course: Path,
    lesson: Lesson,
    *,
    limit_s: float = LIMIT_S,
    expect: Callable[[int], None] = lambda count: None,
    done: Callable[[str], None] = lambda id_: None,
) -> Proved:
    """Run the proofs that changed since they held last.

    Args:
        course: Keeps in .autograder/kept/ what proofs showed that held.
        lesson: Whose claims are proved.
        limit_s: Seconds that a proof may run; one that runs longer has failed.
        expect: Hears how many proofs will run.
        done: Hears the id of each when it has run.

    Raises:
        MalformedClaims: The claims file breaks its form.
        LessonError: It cannot be read.
        ProofsError: The process that runs proofs does not start, or was ended.
    """
    path = claims_path(course, lesson.slug)
    claims = parse_claims(path).claims if path else ()
    by_id = {claim.id: claim for claim in claims}
    results = KeptResults.of_course(course)
    new = [claim for claim in claims if known_proof(results, claim) is None]
    due = [claim for claim in new if not _lacking(claim)]
    failed, ids = [], [claim.id for claim in due]
    expect(len(due))
    for id_, wrong, seen in _run(path, ids, limit_s) if path and due else ():
        done(id_)
        if wrong:
            failed.append(Finding(f"{path}, claim {id_}", wrong, _REMEDY))
        elif seen:
            keep_proof(results, by_id[id_], seen)
    return Proved(len(claims), len(due), tuple(failed), tuple(filter(None, map(_lacking, new))))


def not_run(lacking: Sequence[str]) -> str:
    """What to tell of proofs that need these packages; empty where there are none."""
    if not lacking:
        return ""
    packages = ", ".join(sorted(set(lacking)))
    return (
        f"{len(lacking)} not run, for want of {packages}: `pip install -e '.[lessons]' -c "
        "constraints.txt` brings all of them, and `make test` runs every proof"
    )


def _lacking(claim: Claim) -> str:
    """The package that the proof needs and that is not installed, empty where there is none."""
    needs = claim.needs or ""
    return needs if needs in NEEDED and find_spec(needs) is None else ""


_REMEDY = "Mend the proof, its `shows`, or what the claim says; it is Python that runs."


def _run(path: Path, ids: Sequence[str], limit_s: float) -> Iterator[Verdict]:
    """Run proofs, each in a process of its own; one that dies or hangs costs itself alone."""
    program = "autograder.lessons.lint.proofs.proof_process"
    server = AnsweringServer(program, str(path), env={"MPLBACKEND": "agg"})
    try:
        for id_ in ids:
            seen = server.ask({"prove": id_, "limit_s": limit_s})
            yield id_, _wrong(seen), seen
    except EOFError as error:
        raise ProofsError(
            f"the process that runs the proofs of {path} {error}",
            remedy="Run it once more; `autograder doctor` says what this machine offers.",
        ) from error
    finally:
        server.close()


def _wrong(reply: dict[str, Any]) -> str:
    if "ended" in reply:
        return str(reply["ended"])
    if reply["elsewhere"]:
        return ""  # it needs another system; that one's tests run it
    if reply["error"]:
        return f"its proof raised {reply['error']}"
    if not reply["holds"]:
        shown = ", ".join(f"{name} = {value}" for name, value in reply["shown"])
        return f"its proof does not hold: {reply['shows']}, but {shown or 'nothing was shown'}"
    return "" if reply["shown"] else f"it shows nothing: {reply['shows']} names no result"
