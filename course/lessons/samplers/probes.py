"""What the tests of samplers need: whole epochs of indices, and folders listed in a chosen order.

A test cell calls these from a probe of its own, beside the answer; they return what they saw. A
file system lists a folder in an order of its own, so a test chooses one: sorted, or the reverse.

What `sampler_epochs` returns:

    epochs        the indices as they came
    orders        how often each of these came, by its text
    contents      the indices of each epoch sorted, batches joined
    sizes         those of each epoch's batches, sorted
    types         of what came
    len           of the sampler, or the error that asking for it raises
    state_before  a digest of the global random state of torch, Python and NumPy; "state_within"
                  the last epoch and "state_after" as well
    torchs_own    how often a method of WeightedRandomSampler ran
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from itertools import islice
from pathlib import Path
from random import getstate
from types import FrameType, FunctionType
from typing import Any

import numpy as np
import torch
from torch.utils.data import WeightedRandomSampler

from course.inspection.class_names import class_name
from course.probes.decorator import probe

__all__ = ["folder_listing", "loader_epochs", "picture_folder", "sampler_epochs"]

_MOST_INDICES = 50_000  # a sampler that never ends is cut off here; three epochs fit a frame


@probe
def sampler_epochs(
    make: Callable[..., Any],
    *args: Any,
    epochs: int = 2,
    seed: int | None = None,
    global_seed: int = 0,
    facts: Sequence[str] = (),
    beside: bool = False,
    nested: bool = False,
    asking: bool = False,
    **options: Any,
) -> dict[str, Any]:
    """Epochs of the sampler `make(*args, **options)`, and what went with them; for keys, see above.

    Args:
        make: The answer.
        args: Passed on.
        epochs: How many there are.
        seed: That of a generator, which is passed on as `generator`; None passes none.
        global_seed: What torch is seeded with before.
        facts: The keys asked for; none for all.
        beside: Whether another sampler is made and used before each epoch.
        nested: Whether a whole other epoch of the same sampler passes within each epoch.
        asking: Whether its len is asked before each epoch.
        options: Passed on by name.
    """
    note = not facts or bool({"torchs_own"}.intersection(facts))
    with torch.random.fork_rng(devices=[]), _noted(WeightedRandomSampler, note) as own:
        torch.default_generator.manual_seed(global_seed)
        if seed is not None:
            options["generator"] = torch.Generator().manual_seed(seed)
        before = _random_state()
        sampler = make(*args, **options)
        other = partial(make, *args, **options) if beside else list
        runs, within = _runs(sampler, epochs, other, nested=nested, asking=asking)
        seen = {
            **_delivered(runs),
            "len": _length(sampler),
            "state_before": before,
            "state_within": within,
            "state_after": _random_state(),
            "torchs_own": len(own),
        }
    return {name: seen[name] for name in facts or seen}


def _delivered(runs: list[list[Any]]) -> dict[str, Any]:
    """What is to be said of the indices of all epochs."""
    return {
        "epochs": _plain(runs),
        "orders": Counter(str(_plain(run)) for run in runs),
        "contents": [sorted(_joined(run)) for run in runs],
        "sizes": [sorted(len(one) for one in run if isinstance(one, list)) for run in runs],
        "types": sorted({class_name(one) for run in runs for one in _members(run)}),
    }


def _runs(
    sampler: Any, epochs: int, other: Callable[..., Any], *, nested: bool, asking: bool
) -> tuple[list[list[Any]], str]:
    """The epochs, each after one of `other()`; the random state within the last one."""
    runs, state = [], ""
    for number in range(epochs):
        list(islice(iter(other()), _MOST_INDICES))
        if asking:
            _length(sampler)
        going = iter(sampler)
        run = list(islice(going, 1))
        list(islice(iter(sampler if nested else []), _MOST_INDICES))
        state = _random_state() if number == epochs - 1 else state
        runs.append(run + list(islice(going, _MOST_INDICES - 1)))
    return runs, state


def _members(run: list[Any]) -> Iterator[Any]:
    """What came, and what is in it where batches came."""
    for one in run:
        yield one
        if isinstance(one, list | tuple):
            yield from one


def _joined(run: list[Any]) -> list[int]:
    """All indices of an epoch, be they alone or in batches."""
    return [int(one) for one in _members(run) if not isinstance(one, list | tuple)]


def _random_state() -> str:
    """A digest of the global random states of torch, Python and NumPy."""
    torchs = bytes(torch.get_rng_state().numpy())
    numpys: Any = np.random.get_state()
    state = torchs, getstate(), bytes(numpys[1]), numpys[2:]
    return sha256(repr(state).encode()).hexdigest()


def _length(sampler: Any) -> int | str:
    """The len of the sampler; where it has none, why. The indices are worth a look all the same."""
    try:
        return len(sampler)
    except Exception as error:
        return f"{class_name(error)}: {error}"


def _plain(index: Any) -> Any:
    """An index, or a batch of them, without tensors."""
    if isinstance(index, torch.Tensor):
        return index.tolist()
    return [_plain(one) for one in index] if isinstance(index, list | tuple) else index


@contextmanager
def _noted(cls: Any, note: bool) -> Iterator[list[str]]:
    """The calls of this class's own methods inside the block, whatever name they go by."""
    calls: list[str] = []
    own = {one.__code__ for one in vars(cls).values() if isinstance(one, FunctionType)}

    def noting(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code in own:
            calls.append(frame.f_code.co_name)

    before = sys.getprofile()
    sys.setprofile(noting if note else before)
    try:
        yield calls
    finally:
        sys.setprofile(before)


@probe
def loader_epochs(
    make: Callable[..., Any],
    x: torch.Tensor,
    y: torch.Tensor,
    batch_size: int,
    seed: int = 11,
    global_seed: int = 0,
    skip: int = 0,
) -> dict[str, Any]:
    """Two epochs of the loader `make(x, y, batch_size, generator)`.

    Args:
        make: The answer.
        x: The samples, one a row.
        y: Their labels.
        batch_size: Passed on.
        seed: That of the generator.
        global_seed: What torch is seeded with before.
        skip: How many numbers were drawn from the generator before.

    Returns:
        "sizes" of the first epoch's batches; "x" and "y" of each epoch in one tensor; "generator":
        digests of its state before and after.
    """
    generator = torch.Generator().manual_seed(seed)
    torch.rand(skip, generator=generator)
    states = [generator.get_state()]
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(global_seed)
        loader = make(x, y, batch_size, generator)
        epochs = [list(loader), list(loader)]
    states.append(generator.get_state())
    pairs = [[torch.cat(part) for part in zip(*epoch, strict=True)] for epoch in epochs]
    sizes = [len(labels) for _, labels in epochs[0]]
    digests = [sha256(bytes(state.numpy())).hexdigest() for state in states]
    seen = {"sizes": sizes, "x": [x for x, _ in pairs], "y": [y for _, y in pairs]}
    return seen | {"generator": digests}


@probe
def picture_folder(
    dataset: Callable[..., Any],
    files: Sequence[str],
    reverse: bool = False,
    weights: Callable[..., Any] | None = None,
    facts: Sequence[str] = (),
) -> dict[str, Any]:
    """What `dataset(root, load)` says of a folder of pictures.

    Args:
        dataset: The answer; `load(path)` returns the file's name relative to the root.
        files: Names relative to the root, with `/` between; one that ends in `/` is an empty
            folder.
        reverse: Every listing of a folder is sorted; whether in reverse order.
        weights: Called with the dataset; returns a number for each sample.
        facts: Those asked for; none for all.

    Returns:
        "classes", "len", "targets", "weights"; "loads", what was loaded before any item was asked
        for; "items", pairs in the dataset's order; "pairs", the same sorted.
    """
    with tempfile.TemporaryDirectory() as name, folder_listing(reverse=reverse):
        root, loads = Path(name), list[str]()
        _write(root, files)

        def load(path: Any) -> str:
            loads.append(os.path.relpath(path, root).replace(os.sep, "/"))
            return Path(path).read_text()

        pictures = dataset(name, load)
        weight = [] if weights is None else list(islice(weights(pictures), _MOST_INDICES))
        seen: dict[str, Any] = {"classes": list(pictures.classes), "len": len(pictures)}
        seen |= {"weights": [float(one) for one in weight], "loads": list(loads)}
        seen |= {"targets": [int(label) for label in pictures.targets]}
        items = [list(pictures[i]) for i in range(min(len(pictures), 200))]
        seen |= {"items": items, "pairs": sorted(items)}
        return {what: seen[what] for what in facts or seen}


def _write(root: Path, files: Sequence[str]) -> None:
    """Make these files below the root; each holds its own name."""
    for file in files:
        folder = root / file if file.endswith("/") else (root / file).parent
        folder.mkdir(parents=True, exist_ok=True)
        if not file.endswith("/"):
            (root / file).write_bytes(file.encode())


@contextmanager
def folder_listing(*, reverse: bool) -> Iterator[None]:
    """A block in which every folder lists its entries by name, or by name in reverse.

    This is what `os.walk`, `os.scandir`, `os.listdir`, `glob` and `pathlib` rest on.

    Args:
        reverse: Whether the names go backwards.
    """
    scandir, listdir = os.scandir, os.listdir

    def ordered_scandir(path: Any = ".") -> _Entries:
        with scandir(path) as entries:
            return _Entries(sorted(entries, key=lambda entry: str(entry.name), reverse=reverse))

    def ordered_listdir(path: Any = ".") -> list[str]:
        return sorted(listdir(path), reverse=reverse)

    os.scandir, os.listdir = ordered_scandir, ordered_listdir  # type: ignore[assignment]
    try:
        yield
    finally:
        os.scandir, os.listdir = scandir, listdir


class _Entries:
    """The entries of a folder in a chosen order, with what `os.scandir` promises."""

    def __init__(self, entries: list[Any]) -> None:
        self._entries = iter(entries)

    def __iter__(self) -> Iterator[Any]:
        return self._entries

    def __next__(self) -> Any:
        return next(self._entries)

    def __enter__(self) -> _Entries:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Nothing is open: all entries were read at once."""
