"""What a lesson's own cells leave behind besides their output and the names that they bind.

`effects_of` runs a lesson with its model answers, in a process of its own, and looks before and
after each cell at what later cells share: modes and random states, files, the environment, threads
and processes, hooks, warnings, what modules hold, the simulated GPU. Code tells the rest: a cell
that changes somebody else's attributes, or takes a name away that the set-up cell has imported,
has an effect whatever it did this time. What a cell draws from torch's default generator can be
drawn without it, and is counted.
"""

from __future__ import annotations

import json
import operator
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.console import quantity
from autograder.errors import LessonError
from autograder.lessons.cell_dependencies.unneeded_cells import (
    MOST_DRAWS,
    ShownCells,
    draws,
    said_by_code,
    shows,
)
from autograder.lessons.cells import cells_of, grader, read_notebook
from autograder.lessons.lint.findings import Finding
from autograder.lessons.model import Lesson
from autograder.lessons.regions import without_markers
from autograder.lessons.release import stable_bytes
from autograder.records.journal import write_bytes

LIMIT_S = 300.0
Facts = dict[str, str]
_BLOCK = 624  # a Mersenne twister makes so many words at once
_UNUSUAL = 0x5EED_0F_A_CE11 << 16  # plus a cell's number: a seed that no lesson chooses


@dataclass(frozen=True)
class Effects:
    """What a cell leaves behind, nothing where it only shows.

    `draws` are the numbers of 32 bits that it draws from torch's default generator, where that is
    all that happens to random states.
    """

    lasting: tuple[str, ...]
    draws: int = 0


def effects_of(lesson: Lesson, *, limit_s: float = LIMIT_S) -> dict[str, Effects]:
    """By the ids of the lesson's own cells: what each leaves behind.

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
            found: dict[str, tuple[list[str], int]] = json.loads(report.read_text("utf-8"))
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            why = error if isinstance(error, subprocess.TimeoutExpired) else done.stderr[-1000:]
            raise LessonError(
                f"its cells could not be run one after another: {why!r}",
                place=str(lesson.source),
                remedy="Run the notebook in JupyterLab from its top, and mend what stops it.",
            ) from error
    return {id_: Effects(tuple(lasting), draws) for id_, (lasting, draws) in found.items()}


def mark(lesson: Lesson) -> int:
    """Write into the source notebook which cells only show; how many do.

    Raises:
        LessonError: The lesson does not run to its end.
    """
    effects, notebook, count = effects_of(lesson), read_notebook(lesson.source), 0
    for cell in notebook["cells"]:
        about = cell.get("metadata", {}).get("course", {})
        about.pop("shows", None)
        about.pop("draws", None)
        found = effects.get(cell.get("id"))
        if found is not None and not found.lasting:
            drawn = {"draws": found.draws} if found.draws else {}
            cell["metadata"]["course"] = {**about, "shows": True, **drawn}
            count += 1
    write_bytes(lesson.source, stable_bytes(notebook))
    return count


def false_marks(lesson: Lesson) -> tuple[int, tuple[Finding, ...]]:
    """How many cells say that they only show, and those of which it is no longer true.

    Raises:
        LessonError: The lesson does not run to its end.
    """
    marked = {cell["id"]: draws(cell) for cell in lesson.cells() if shows(cell)}
    effects = effects_of(lesson) if marked else {}
    remedy = f"Run `autograder tidy --shows {lesson.slug[:2]}`."
    return len(marked), tuple(
        Finding(str(lesson.source), f"cell {id_} says that it {slip}", remedy)
        for id_, said in marked.items()
        for slip in _slips(said, effects[id_])
    )


def _slips(said: int, found: Effects) -> Iterator[str]:
    for effect in found.lasting:
        yield f"only shows, but: {effect}"
    if not found.lasting and said != found.draws:
        yield f"draws {quantity(said, 'random number')}, but it draws {found.draws}"


def main(source: str, report: str) -> None:
    """Run the notebook `source` in this process and write its cells' effects to `report`."""
    from autograder.engine.kernel.shell import new_shell, record_with, warm_up
    from autograder.engine.loaded_ahead import load_modules, load_offered
    from autograder.lessons.imported_modules import modules_needed

    cells = [one for one in cells_of(read_notebook(Path(source))) if one["cell_type"] == "code"]
    shell = new_shell()
    warm_up(shell)
    load_offered()
    load_modules(modules_needed(cell["source"] for cell in cells))  # as fork servers do
    record_with(shell, lambda event: None, 10_000)
    lesson, found = ShownCells(cells), dict[str, tuple[list[str], int]]()
    shared_state()  # the first look loads some of the simulated GPU
    for number, cell in enumerate(cells):
        if grader(cell).get("grade") and not grader(cell).get("solution"):
            continue  # it runs beside the checker
        generators, helpers = _Generators(number), _helpers()
        before = shared_state()
        shell.run(without_markers(cell["source"]))
        _await_helpers(helpers)
        after, drawn = shared_state(), generators.drawn()
        if not grader(cell):
            changed = [name for name in after if before.get(name) != after[name]]
            if drawn is None:
                changed.append("random states")
            found[cell["id"]] = [*said_by_code(cell, lesson), *changed], drawn or 0
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


class _Generators:
    """The random generators while a cell runs: torch's have seeds that no lesson chooses.

    So a cell that seeds them leaves something else behind, also where it gives them a seed that
    they have had.
    """

    def __init__(self, number: int) -> None:
        import torch

        torch.manual_seed(_UNUSUAL + number)  # a simulated device's, too
        self._before = _states()

    def drawn(self) -> int | None:
        """How much was drawn from torch's default generator; None where it was not only that."""
        after = _states()
        if any(not _is_same(one, after.get(name)) for name, one in self._before.items() if name):
            return None
        return drawn_between(self._before[""], after[""])


def _states() -> dict[Any, Any]:
    """The states of all generators, torch's default one under an empty name."""
    import torch

    from course.inspection.global_state import GlobalState

    _, *others = GlobalState().generators
    found: dict[Any, Any] = {"": torch.get_rng_state(), "Python and NumPy": others}
    if (simulated := vars(torch).get("sim")) is not None:
        numbers = range(simulated.device_count())
        found |= {f"sim:{number}": simulated.get_rng_state(number) for number in numbers}
    return found


def _is_same(one: Any, other: Any) -> bool:
    import torch

    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return torch.equal(one, other)
    return bool(one == other)


def drawn_between(before: Any, after: Any) -> int | None:
    """How many numbers of 32 bits lead from one state of torch's CPU generator to another.

    Args:
        before: As `torch.get_rng_state` gives it.
        after: That of a later moment.

    Returns:
        None where it is more than `MOST_DRAWS`, or something else than drawing: a seed, or half of
        a pair of normal numbers, kept for the next call.
    """
    import torch

    generator, block = torch.Generator(), torch.empty(_BLOCK, dtype=torch.int32)
    generator.set_state(before)
    for drawn in range(0, MOST_DRAWS, _BLOCK):
        start = generator.get_state()
        block.random_(generator=generator)
        if _words(after) in (_words(start), _words(generator.get_state())):
            generator.set_state(start)
            for more in range(_BLOCK + 1):
                if torch.equal(generator.get_state(), after):
                    return drawn + more if drawn + more <= MOST_DRAWS else None
                block[:1].random_(generator=generator)
            generator.set_state(start)
            block.random_(generator=generator)
    return None


def _words(state: Any) -> bytes:
    """The words of a Mersenne twister's state, without its place among them."""
    return bytes(state[24 : 24 + 8 * _BLOCK].numpy())


def _files() -> Any:
    paths = sorted(path for path in Path().rglob("*") if "__pycache__" not in path.parts)
    return os.getcwd(), [(str(one), one.stat().st_size, one.stat().st_mtime_ns) for one in paths]


def _helpers() -> tuple[int, int]:
    """How many threads and child processes there are."""
    import multiprocessing
    import threading

    return threading.active_count(), len(multiprocessing.active_children())


def _await_helpers(before: tuple[int, int]) -> None:
    """Wait while there are more, 2 s at most: a loader's workers end after their cell."""
    until = time.monotonic() + 2
    while time.monotonic() < until and any(map(operator.gt, _helpers(), before)):
        time.sleep(0.02)


def _process() -> Any:
    import signal
    import warnings

    handlers = [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)]
    streams = [id(one) for one in (sys.stdout, sys.stderr, sys.excepthook, sys.displayhook)]
    return dict(os.environ), sys.path, warnings.filters, handlers, _helpers(), streams


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

    states = [_state_of(number) for number in range(gpu.device_count())]
    return len(loaded), gpu.current_device(), states


def _state_of(number: int) -> Any:
    """What is true of a simulated device, were no tensor on it.

    What lives there is held by names. What its allocator has counted, and keeps for later, is
    nobody's: whoever measures looks before and after, or resets the peaks and empties the cache.
    """
    from course.gpu.simulator.memory_functions import device_of

    device = device_of(number)
    copies = len(device.copies_in), len(device.copies_out)
    return device.allocator.limit_nbytes, copies, device.fault


_LOOKS: dict[str, Callable[[], Any]] = {
    "modes": _modes,
    "files": _files,
    "the process": _process,
    "libraries": _libraries,
    "the simulated GPU": _gpu,
}

if __name__ == "__main__":
    main(*sys.argv[1:])
    os._exit(0)  # whatever a cell has left running
