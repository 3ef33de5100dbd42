"""What the tests of files need: a folder that is gone afterwards, and what happened in it.

Each probe writes its files beside the answer, hands over a path, and returns what it saw.

What `saved_over` returns:

    error    the class of what ended it, None for nothing
    events   the calls of fsync and replace in their order, each with the bytes that the file had by
             then
    before   what `path` held at these calls until it's replaced, each content once
    from     the folders of what is moved, seen from the file's own; "moved", its names
    loaded   what the file holds; "content", its bytes
    left     what the `others` hold
    litter   how many more files are there; "beside", how many in the folder above
    here     the working directory afterwards, seen from that before
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePath, PurePosixPath
from typing import Any, NoReturn

import torch

from course.inspection.class_names import class_name
from course.probes.decorator import probe

__all__ = ["opened", "saved_over"]

_MARK = "OPENED"  # an environment variable that code in a file may set


@probe
def opened(read: Callable[..., Any], content: bytes, name: str = "model.pt") -> dict[str, Any]:
    """What `read(path)` returns for a file with this content, and what it left behind.

    Args:
        read: Called with the path as text.
        content: The bytes of the file.
        name: The name of the file, in a folder of its own.

    Returns:
        "result"; "ran", the environment variable OPENED afterwards, which code in a file may set
        and which isn't set before; "files", the names in the file's folder; "content", what the
        file then holds; "device", torch's default device.
    """
    os.environ.pop(_MARK, None)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(content)
        try:
            result = read(str(path))
        finally:
            ran = os.environ.pop(_MARK, None)
        return {
            "result": result,
            "ran": ran,
            "files": sorted(os.listdir(folder)),
            "content": path.read_bytes(),
            "device": str(torch.get_default_device()),
        }


class _Broken:
    """What raises this as soon as it's pickled."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __reduce__(self) -> NoReturn:
        raise self.error


_ERRORS: dict[str, BaseException] = {
    "an error": RuntimeError("this entry can't be saved"),
    "an interrupt": KeyboardInterrupt("Ctrl-C"),
}


@probe
def saved_over(
    save: Callable[..., Any],
    values: Any,
    *,
    old: bytes | None = None,
    others: Sequence[str] = (),
    fails: str | None = None,
    path: str = "absolute",
    calls: int = 1,
    taken: bool = False,
    odd: bool = False,
    facts: Sequence[str] = (),
) -> dict[str, Any]:
    """What `save(values, path)` makes of a folder in which a file of that name may be.

    The keys of what it returns stand at the head of this module.

    Args:
        save: The answer.
        values: The dict that it is to save.
        old: The bytes that the file holds before; None for no file.
        others: The names of more files in the folder, each of which holds its own name.
        fails: What goes wrong: "an error" or "an interrupt" while an entry is pickled, an error of
            "fsync", or of "replace"; None for nothing.
        path: How it is given: "absolute", "relative" to the current folder, or as a "Path".
        calls: How often it is called.
        taken: Whether it is called once before, and files of somebody else then have the names of
            all that it moved; they count among the `others`.
        odd: Whether there is an entry that isn't mere weights: a path.
        facts: The keys asked for; none for all.
    """
    given = _given(values, fails, odd)
    with tempfile.TemporaryDirectory() as home:
        file = Path(tempfile.mkdtemp(dir=home), "model.pt")
        _laid_out(file, old, others)
        place: Any = {"relative": "model.pt", "Path": file}.get(path, str(file))
        start = file.parent if path == "relative" else Path(home)
        with _noted(file, fails) as seen, _inside(start):
            if taken:
                save(given, place)
                others = [*others, *_taken(file, seen["moved"])]
            seen["error"] = _error_of(lambda: [save(given, place) for _ in range(calls)])
            seen["here"] = os.path.relpath(Path.cwd(), start.resolve())
        seen["loaded"] = _loaded(file) if not facts or "loaded" in facts else None
        seen |= {**_left_behind(file, others), "beside": len(os.listdir(home)) - 1}
    return {what: seen[what] for what in facts or seen}


def _given(values: Any, fails: str | None, odd: bool) -> Any:
    """The value to be saved, with an entry that fails or one that isn't mere weights."""
    broken = {"broken": _Broken(_ERRORS[fails])} if fails in _ERRORS else {}
    return {**values, **broken, **({"odd": PurePosixPath("odd")} if odd else {})}


def _left_behind(file: Path, others: Sequence[str]) -> dict[str, Any]:
    """What the folder of this file holds."""
    found = {name: file.with_name(name).read_bytes() for name in os.listdir(file.parent)}
    content, left = found.pop(file.name, None), [found.pop(name, None) for name in others]
    return {"content": content, "left": left, "litter": len(found)}


def _taken(file: Path, names: Sequence[str]) -> Sequence[str]:
    """These names, each of which a file beside this one has now."""
    for name in names:
        file.with_name(name).write_text("somebody's")
    return names


def _laid_out(file: Path, old: bytes | None, others: Sequence[str]) -> None:
    """Write what the folder holds before."""
    for name in others:
        file.with_name(name).write_text(name)
    if old is not None:
        file.write_bytes(old)


def _error_of(work: Callable[[], Any]) -> str | None:
    """The name of what ends it, but for an exercise that isn't written yet."""
    try:
        work()
    except NotImplementedError:
        raise
    except (Exception, KeyboardInterrupt) as raised:
        return class_name(raised)
    return None


@contextlib.contextmanager
def _inside(folder: str | Path) -> Iterator[None]:
    """A block in which this is the current folder."""
    here = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(here)


def _loaded(file: Path) -> Any:
    """What the file holds, paths as texts; the name of the error where it can't be loaded."""
    try:
        held = torch.load(file, weights_only=False)
        return {key: str(one) if isinstance(one, PurePath) else one for key, one in held.items()}
    except Exception as error:
        return class_name(error)


@contextlib.contextmanager
def _noted(file: Path, fails: str | None) -> Iterator[dict[str, Any]]:
    """A block in which calls of fsync and replace are noted down, or fail."""
    fsync, replace, rename = os.fsync, os.replace, os.rename
    seen: dict[str, Any] = {"events": [], "before": [], "from": [], "moved": []}
    placed: list[bool] = []

    def look() -> None:
        content = file.read_bytes() if file.exists() else None
        if not placed and content not in seen["before"]:
            seen["before"].append(content)

    def failing(what: str) -> None:
        if fails == what:
            raise OSError(f"{what} fails")

    def noted_fsync(target: Any) -> None:
        look()
        handle = getattr(target, "fileno", lambda: target)()
        seen["events"].append(["fsync", os.stat(handle).st_size])
        failing("fsync")

    def moved(source: Any, target: Any, **more: Any) -> None:
        look()
        seen["events"].append(["replace", os.stat(source).st_size])
        seen["from"].append(os.path.relpath(Path(source).resolve().parent, file.parent.resolve()))
        seen["moved"].append(Path(source).name)
        failing("replace")
        replace(source, target, **more)
        placed.extend([True] * (file.exists() and file.samefile(target)))

    os.fsync, os.replace, os.rename = noted_fsync, moved, moved  # type: ignore[assignment]
    try:
        yield seen
    finally:
        os.fsync, os.replace, os.rename = fsync, replace, rename
