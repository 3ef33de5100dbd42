"""What a lesson's own cells leave behind besides their output and the names that they bind.

`effects_of` runs a lesson with its model answers, in a process of its own, and looks before and
after each cell at what later cells share: modes and random states, files, the environment, threads
and processes, hooks, warnings, what modules hold, the simulated GPU. Code tells the rest: a cell
that changes somebody else's attributes, or takes a name away that the set-up cell has imported,
has an effect whatever it did this time.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from autograder.errors import LessonError
from autograder.lessons.cells import cells_of, grader, read_notebook
from autograder.lessons.lint.findings import Finding
from autograder.lessons.model import Lesson
from autograder.lessons.regions import without_markers
from autograder.lessons.release import stable_bytes
from autograder.lessons.shown.cells import ShownCells, said_by_code, shows
from autograder.records.journal import write_bytes

LIMIT_S = 300.0
Facts = dict[str, str]


def effects_of(lesson: Lesson, *, limit_s: float = LIMIT_S) -> dict[str, tuple[str, ...]]:
    """By the ids of the lesson's own cells: what each leaves behind, nothing where it only shows.

    Args:
        lesson: Its set-up cell, answers and tests are not among them.
        limit_s: Seconds that all of it may run.

    Raises:
        LessonError: The lesson does not run to its end.
    """
    root = str(Path(__file__).parents[2])
    paths = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH", "")]))
    with tempfile.TemporaryDirectory(prefix="effects-") as folder:
        report = Path(folder, "report.json")
        work = Path(folder, "lesson")
        shutil.copytree(lesson.source.parent, work)
        try:
            done = subprocess.run(
                [
                    sys.executable,
                    "-m",
                    "autograder.simulation.effects",
                    lesson.source.name,
                    str(report),
                ],
                cwd=work,
                env=os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "HOME": folder},
                capture_output=True,
                timeout=limit_s,
            )
            found: dict[str, list[str]] = json.loads(report.read_text("utf-8"))
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            why = error if isinstance(error, subprocess.TimeoutExpired) else done.stderr[-1000:]
            raise LessonError(
                f"its cells could not be run one after another: {why!r}",
                place=str(lesson.source),
                remedy="Run the notebook in JupyterLab from its top, and mend what stops it.",
            ) from error
    return {id_: tuple(effects) for id_, effects in found.items()}


def mark(lesson: Lesson) -> int:
    """Write into the source notebook which cells only show; how many do.

    Raises:
        LessonError: The lesson does not run to its end.
    """
    effects, notebook, count = effects_of(lesson), read_notebook(lesson.source), 0
    for cell in notebook["cells"]:
        about = cell.get("metadata", {}).get("course", {})
        about.pop("shows", None)
        if effects.get(cell.get("id"), ("unknown",)) == ():
            cell["metadata"]["course"] = {**about, "shows": True}
            count += 1
    write_bytes(lesson.source, stable_bytes(notebook))
    return count


def false_marks(lesson: Lesson) -> tuple[int, tuple[Finding, ...]]:
    """How many cells say that they only show, and those of which it is no longer true.

    Raises:
        LessonError: The lesson does not run to its end.
    """
    marked = [cell["id"] for cell in lesson.cells() if shows(cell)]
    effects = effects_of(lesson) if marked else {}
    remedy = f"Run `autograder tidy --shows {lesson.slug[:2]}`."
    return len(marked), tuple(
        Finding(str(lesson.source), f"cell {id_} says that it only shows, but: {effect}", remedy)
        for id_ in marked
        for effect in effects[id_]
    )


def main(source: str, report: str) -> None:
    """Run the notebook `source` in this process and write its cells' effects to `report`."""
    from autograder.engine.kernel.shell import new_shell, record_with, warm_up
    from autograder.engine.student.trusted_modules import load_offered

    cells = [one for one in cells_of(read_notebook(Path(source))) if one["cell_type"] == "code"]
    shell = new_shell()
    warm_up(shell)
    load_offered()
    record_with(shell, lambda event: None, 10_000)
    lesson, found = ShownCells(cells), dict[str, list[str]]()
    for cell in cells:
        if grader(cell).get("grade") and not grader(cell).get("solution"):
            continue  # it runs beside the checker
        before = shared_state()
        shell.run(without_markers(cell["source"]))
        after = shared_state()
        if not grader(cell):
            changed = [name for name in after if before.get(name) != after[name]]
            found[cell["id"]] = [*said_by_code(cell, lesson), *changed]
    Path(report).write_text(json.dumps(found), "utf-8")


def shared_state() -> Facts:
    """What every later cell of this process shares, each part as text that can be compared."""
    return {name: repr(look()) for name, look in _LOOKS.items()}


def _modes() -> Any:
    import torch

    from course.inspection.global_state import GlobalState

    state = GlobalState()
    hooks = [
        (name, len(value))
        for name, value in vars(torch.nn.modules.module).items()
        if name.startswith("_global_") and isinstance(value, dict)
    ]
    flags = torch.backends.mkldnn.enabled, torch.is_warn_always_enabled()
    return state.modes, hooks, flags, torch.get_float32_matmul_precision()


def _random() -> Any:
    from course.inspection.global_state import GlobalState

    return hash(GlobalState().generators)


def _files() -> Any:
    paths = sorted(path for path in Path().rglob("*") if "__pycache__" not in path.parts)
    return os.getcwd(), [(str(one), one.stat().st_size, one.stat().st_mtime_ns) for one in paths]


def _process() -> Any:
    import multiprocessing
    import signal
    import threading
    import warnings

    handlers = [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)]
    helpers = threading.active_count(), len(multiprocessing.active_children())
    streams = [id(one) for one in (sys.stdout, sys.stderr, sys.excepthook, sys.displayhook)]
    return dict(os.environ), sys.path, warnings.filters, handlers, helpers, streams


def _libraries() -> Any:
    import logging

    import matplotlib as mpl
    import torch.multiprocessing

    root = logging.getLogger()
    sharing = torch.multiprocessing.get_sharing_strategy()
    return dict(mpl.rcParams), root.level, root.handlers, sharing, _patched()


def _patched() -> list[tuple[str, int]]:
    """What the modules hold that everybody changes who changes one: by name and identity."""
    import torch

    import course.inspection.facts

    spaces: tuple[Any, ...] = (
        *(torch, torch.Tensor, torch.nn.functional, torch.nn.Module, torch.optim.Optimizer),
        *(torch.autograd, torch.utils.data, torch.utils.data.DataLoader, course.inspection.facts),
    )
    return [
        (f"{getattr(space, '__name__', '')}.{name}", id(value))
        for space in spaces
        for name, value in list(vars(space).items())
        if callable(value)
    ]


def _gpu() -> Any:
    loaded = [name for name in sys.modules if name.startswith("course.gpu.simulator")]
    if not loaded:
        return ()
    from course import gpu

    count = gpu.device_count()
    stats = [gpu.memory_stats(number) for number in range(count)]
    free = [gpu.mem_get_info(number) for number in range(count)]
    return len(loaded), count, stats, free, gpu.current_device(), gpu.memory_snapshot()


_LOOKS: dict[str, Callable[[], Any]] = {
    "modes": _modes,
    "random states": _random,
    "files": _files,
    "the process": _process,
    "libraries": _libraries,
    "the simulated GPU": _gpu,
}

if __name__ == "__main__":
    main(*sys.argv[1:])
    os._exit(0)  # whatever a cell has left running
