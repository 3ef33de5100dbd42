"""What the tests of samplers need: whole epochs of indices, and folders listed in a chosen order.

A test cell calls these from a probe of its own, beside the answer; they return what they saw. A
file system lists a folder in an order of its own, so a test chooses one: sorted, or the reverse.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import WeightedRandomSampler

from course.inspection.global_state import GlobalState

__all__ = ["folder_listing", "picture_folder", "sampler_epochs"]

_MOST_INDICES = 50_000  # a sampler that never ends is cut off here; three epochs fit a frame


def sampler_epochs(
    make: Callable[..., Any],
    *args: Any,
    epochs: int = 2,
    seed: int | None = None,
    global_seed: int = 0,
    **options: Any,
) -> dict[str, Any]:
    """Some epochs of the sampler that `make(*args, **options)` returns, and what went with them.

    With `seed`, the sampler gets a generator with this seed; `global_seed` is what
    `torch.manual_seed` was given before, and torch's global random state before and after stands
    in `state_before` and `state_after`, a digest of Python's and NumPy's in `others_before` and
    `others_after`. `torchs_own` counts the WeightedRandomSamplers made.
    """
    with torch.random.fork_rng(devices=[]), _counted(WeightedRandomSampler) as made:
        torch.manual_seed(global_seed)
        if seed is not None:
            options["generator"] = torch.Generator().manual_seed(seed)
        before, others = torch.get_rng_state(), _other_generators()
        sampler = make(*args, **options)
        runs = [list(islice(iter(sampler), _MOST_INDICES)) for _ in range(epochs)]
        return {
            "epochs": [[_plain(index) for index in run] for run in runs],
            "types": sorted({type(index).__name__ for run in runs for index in run}),
            "len": _length(sampler),
            "state_before": before,
            "state_after": torch.get_rng_state(),
            "others_before": others,
            "others_after": _other_generators(),
            "torchs_own": len(made),
        }


def _other_generators() -> str:
    """A digest of the global random states of Python and NumPy."""
    return sha256(repr(GlobalState().generators[1:]).encode()).hexdigest()


def _length(sampler: Any) -> int | str:
    """The len of the sampler; where it has none, why. The indices are worth a look all the same."""
    try:
        return len(sampler)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _plain(index: Any) -> Any:
    """An index, or a batch of them, without tensors."""
    if isinstance(index, torch.Tensor):
        return index.tolist()
    return [_plain(one) for one in index] if isinstance(index, list | tuple) else index


@contextmanager
def _counted(cls: Any) -> Iterator[list[Any]]:
    """The objects of this class that are made inside the block."""
    made: list[Any] = []
    original = cls.__init__

    def counting(self: Any, *args: Any, **kwargs: Any) -> None:
        made.append(self)
        original(self, *args, **kwargs)

    cls.__init__ = counting
    try:
        yield made
    finally:
        cls.__init__ = original


def picture_folder(
    dataset: Callable[..., Any], weights: Callable[..., Any], files: list[str], reverse: bool
) -> dict[str, Any]:
    """What `dataset(root, load)` says of a folder with these files, and `weights` of the dataset.

    Every listing of a folder is sorted, or in `reverse` order. Files are named relative to the
    root, with `/` between the names, and a name that ends in `/` is an empty folder. `load`
    returns that name; `loads` lists what was loaded before any item was asked for.
    """
    with tempfile.TemporaryDirectory() as name, folder_listing(reverse=reverse):
        root, loads = Path(name), list[str]()
        for file in files:
            folder = root / file if file.endswith("/") else (root / file).parent
            folder.mkdir(parents=True, exist_ok=True)
            if not file.endswith("/"):
                (root / file).write_bytes(file.encode())

        def load(path: Any) -> str:
            loads.append(os.path.relpath(path, root).replace(os.sep, "/"))
            return Path(path).read_text()

        pictures = dataset(name, load)
        weight = [float(one) for one in islice(weights(pictures), _MOST_INDICES)]
        seen = {"classes": list(pictures.classes), "len": len(pictures), "weights": weight}
        seen |= {"loads": list(loads), "targets": [int(label) for label in pictures.targets]}
        return seen | {"items": [list(pictures[i]) for i in range(min(len(pictures), 200))]}


@contextmanager
def folder_listing(*, reverse: bool) -> Iterator[None]:
    """A block in which every folder lists its entries by name, or by name in reverse.

    This is what `os.walk`, `os.scandir`, `os.listdir`, `glob` and `pathlib` rest on.
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
