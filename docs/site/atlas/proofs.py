"""What every proof showed. As a program it runs those of the claims that it is given.

Proofs change global state, start workers and leave files behind; the process that runs Sphinx
stays clear of that.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from autograder.kept_results import KeptResults
from autograder.lessons.lint.proofs.results import keep_proof, known_proof
from course.claims import claim, claims, prove
from docs.site.errors import ProofFailed
from docs.site.settings import ROOT

__all__ = ["measured_proofs"]

Measured = dict[str, Any]


def measured_proofs(results: KeptResults, lessons: Sequence[str]) -> Measured:
    """What every proof showed, and with what: `{"on": {…}, "proofs": {id: {…}}}`.

    Args:
        results: What is known of proofs that ran before.
        lessons: The slugs of those whose claims are asked for.

    Raises:
        ProofFailed: Some proof did not hold; the message names each with its reason.
    """
    asked = [one for lesson in lessons for one in claims(lesson)]
    found = {one.id: known_proof(results, one) for one in asked}
    new = [one for one in asked if found[one.id] is None]
    found |= _run([one.id for one in new]) if new else {}
    for one in new:
        keep_proof(results, one, found[one.id])
    wrong = [f"{id_}: {one['error']}" for id_, one in found.items() if not one["holds"]]
    unproved = [line for line in wrong if "which is not installed" not in line]
    if unproved:
        raise ProofFailed("Proofs that do not hold on this machine:\n" + "\n".join(unproved))
    return {"on": _machine(), "proofs": {one.id: found[one.id] for one in asked}}


def _run(ids: Sequence[str]) -> dict[str, Any]:
    quiet = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-m", "docs.site.atlas.proofs", *ids]
    run = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True)
    if run.returncode:
        raise ProofFailed(f"The proofs could not be run:\n{run.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return found


def _machine() -> dict[str, str]:
    import torch

    return {
        "torch": torch.__version__.partition("+")[0],
        "build": "CUDA build" if torch.version.cuda else "CPU build",
        "python": platform.python_version(),
        "system": platform.system(),
    }


def _main(ids: Sequence[str]) -> None:
    proofs = {}
    for id_ in ids:
        seen = prove(claim(id_))
        proofs[id_] = {
            "shown": seen.shown,
            "printed": seen.printed.rstrip(),
            "holds": seen.holds,
            "error": seen.error,
        }
    print(f"\n{json.dumps(proofs)}")


if __name__ == "__main__":
    _main(sys.argv[1:])
