"""The proofs of a lesson's claims, run when they changed.

What held is kept in `.autograder/kept/`, so that a release that changes no claim, and no module
behind its proof, runs none.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from autograder.kept_results import KeptResults
from autograder.lessons.claims import claims_path, parse_claims
from autograder.lessons.lint.findings import Finding
from autograder.lessons.lint.proofs.results import keep_proof, known_proof
from autograder.lessons.model import Lesson
from course.claims.schema import NEEDED, Claim

LIMIT_S = 120.0
_END_S = 10.0  # for what takes milliseconds
# The id of a claim; what is wrong with its proof, empty where it holds; what the proof showed.
Verdict = tuple[str, str, dict[str, Any]]


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
    """Run proofs in a process of their own; one that dies or hangs costs itself alone."""
    waiting = list(ids)
    while waiting:
        for verdict in _until_it_breaks(path, tuple(waiting), limit_s):
            waiting.remove(verdict[0])
            yield verdict


def _until_it_breaks(path: Path, ids: Sequence[str], limit_s: float) -> Iterator[Verdict]:
    root = str(Path(__file__).parents[4])
    paths = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH", "")]))
    server = [sys.executable, "-m", "autograder.lessons.lint.proofs.server", str(os.getpid())]
    process = subprocess.Popen(
        [*server, str(path), *ids],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": paths, "MPLBACKEND": "agg"},
        start_new_session=True,  # Ctrl-C is for this process, which then ends the proofs
    )
    try:
        for id_ in ids:
            reply = _line(process, limit_s)
            if reply is None:
                how = "it ran past the time limit" if process.poll() is None else _died(process)
                yield id_, how, {}
                return
            seen = json.loads(reply)
            yield id_, _wrong(seen), seen
    finally:
        process.terminate()  # it ends what the proofs started, and then itself
        with suppress(subprocess.TimeoutExpired):
            process.wait(_END_S)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def _line(process: subprocess.Popen[bytes], limit_s: float) -> bytes | None:
    """The next line of the process, None where it ends or takes too long."""
    assert process.stdout is not None
    received, deadline = b"", time.monotonic() + limit_s
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while not received.endswith(b"\n"):
            if not selector.select(max(0.0, deadline - time.monotonic())):
                return None
            part = os.read(process.stdout.fileno(), 1)
            if not part:
                process.wait()
                return None
            received += part
    return received


def _died(process: subprocess.Popen[bytes]) -> str:
    return f"its process ended with {process.returncode}"


def _wrong(reply: dict[str, Any]) -> str:
    if reply["elsewhere"]:
        return ""  # it needs another system; that one's tests run it
    if reply["error"]:
        return f"its proof raised {reply['error']}"
    if not reply["holds"]:
        shown = ", ".join(f"{name} = {value}" for name, value in reply["shown"])
        return f"its proof does not hold: {reply['shows']}, but {shown or 'nothing was shown'}"
    return "" if reply["shown"] else f"it shows nothing: {reply['shows']} names no result"
