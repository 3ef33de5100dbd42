"""Every proof run once for the atlas, in a process of its own: `python -m docs.site.atlas.proofs`.

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
from pathlib import Path
from typing import Any

from course.claims import claims, prove
from docs.site.errors import ProofFailed
from docs.site.kept import digest_of, kept
from docs.site.settings import ROOT

__all__ = ["measured_proofs"]

Measured = dict[str, Any]


def measured_proofs(folder: Path, lessons: Sequence[str]) -> Measured:
    """What every proof showed, and with what: `{"on": {…}, "proofs": {id: {…}}}`.

    Args:
        folder: Where the results of earlier builds lie.
        lessons: The slugs of those whose claims are asked for.

    Raises:
        ProofFailed: Some proof did not hold; the message names each with its reason.
    """
    digest = digest_of(Path(__file__).read_text("utf-8"), *lessons)
    found: Measured = kept(folder, "proofs", digest, lambda: _run_all(lessons))
    wrong = [f"{id_}: {one['error']}" for id_, one in found["proofs"].items() if not one["holds"]]
    unproved = [line for line in wrong if "which is not installed" not in line]
    if unproved:
        raise ProofFailed("Proofs that do not hold on this machine:\n" + "\n".join(unproved))
    return found


def _run_all(lessons: Sequence[str]) -> Measured:
    quiet = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-m", "docs.site.atlas.proofs", *lessons]
    run = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True)
    if run.returncode:
        raise ProofFailed(f"The proofs could not be run:\n{run.stderr[-2000:]}")
    found: Measured = json.loads(run.stdout.splitlines()[-1])
    return found


def _main(lessons: Sequence[str]) -> None:
    import torch

    build = "CUDA build" if torch.version.cuda else "CPU build"
    on = {
        "torch": torch.__version__.partition("+")[0],
        "build": build,
        "python": platform.python_version(),
        "system": platform.system(),
    }
    proofs = {}
    for claim in (one for lesson in lessons for one in claims(lesson)):
        seen = prove(claim)
        proofs[claim.id] = {
            "shown": seen.shown,
            "printed": seen.printed.rstrip(),
            "holds": seen.holds,
            "error": seen.error,
        }
    print(f"\n{json.dumps({'on': on, 'proofs': proofs})}")


if __name__ == "__main__":
    _main(sys.argv[1:])
