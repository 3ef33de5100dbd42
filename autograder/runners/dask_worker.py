"""What a Dask worker does for `grade --scheduler`: it grades one submission with the engine.

A Dask worker process keeps its engine workers, one for each of its threads, and the lessons that
it was sent.  Bytes of notebooks come in and JSON text goes out; nothing that a learner made is
pickled.  Engine workers are started as programs of their own, not as multiprocessing children,
which Dask's nanny forbids to the processes that it watches.
"""

from __future__ import annotations

import hashlib
import io
import json
import sys
import tempfile
import threading
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import msgspec

from autograder.errors import AutograderError
from autograder.lessons.model import (
    INSTALLED,
    Lesson,
    PreparedNotebook,
    data_files,
    prepared_lesson,
    read_lesson,
    shared_templates,
)
from autograder.records.runner import Job, Outcome

if TYPE_CHECKING:
    from autograder.engine import EngineRunner, Limits

_ANSWERS = "answers"
_PREPARED = ".prepared.json"  # beside the files of a lesson that nbgrader prepared


@dataclass(frozen=True)
class GradingSettings:
    """How submissions are to be graded, the same for all of a run.

    `edition` is what the machine that collects the records has; a worker that has something else
    refuses, as its grades could differ.
    """

    sandbox: bool
    limits: Mapping[str, Any]
    hide: tuple[str, ...]
    edition: Mapping[str, str]

    @classmethod
    def of(cls, limits: Limits, *, sandbox: bool, hide: tuple[Path, ...]) -> Self:
        """The settings of a run that is begun here."""
        return cls(sandbox, asdict(limits), tuple(map(str, hide)), edition())

    def to_text(self) -> str:
        """The settings as JSON; `from_text` reads it."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_text(cls, text: str) -> Self:
        """The settings that `to_text` wrote."""
        data = json.loads(text)
        return cls(data["sandbox"], data["limits"], tuple(data["hide"]), data["edition"])


@cache
def edition() -> dict[str, str]:
    """What must be the same on every machine: Python, torch, Dask and the code that grades."""
    return {
        "Python": f"{sys.version_info.major}.{sys.version_info.minor}",
        "torch": _version_of("torch"),
        "distributed": _version_of("distributed"),
        "the course's code": code_digest((INSTALLED / "course", INSTALLED / "autograder"))[:12],
    }


def code_digest(folders: Iterable[Path]) -> str:
    """A digest of the Python files below `folders`: their places, their lengths, their bytes.

    Banks of answers are left out: they grade nobody, and a worker need not have them.
    """
    code = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            name = path.relative_to(folder)
            if name.parts[0] != _ANSWERS:
                content = path.read_bytes()
                code.update(f"{folder.name}/{name.as_posix()}\0{len(content)}\0".encode())
                code.update(content)
    return code.hexdigest()


def _version_of(package: str) -> str:
    try:
        return version(package).partition("+")[0]  # 2.13.0+cpu and 2.13.0 grade alike
    except PackageNotFoundError:
        return "none"


def pack_lesson(lesson: Lesson) -> bytes:
    """The source notebook and its data files as one zip, the same bytes for the same files."""
    root, packed = lesson.source.parent, io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        shared = (
            shared_templates(lesson.source, lesson.source.parents[2])
            if lesson.has_autotests
            else ()
        )
        for path in (lesson.source, *lesson.data_files, *shared):
            name = path.name if path in shared else path.relative_to(root).as_posix()
            about = zipfile.ZipInfo(name)  # dated 1980, always
            archive.writestr(about, path.read_bytes(), zipfile.ZIP_DEFLATED)
        if lesson.prepared is not None:
            names = lesson.slug, lesson.title, lesson.is_one_of_several
            known = msgspec.json.encode((names, lesson.digest, lesson.prepared))
            archive.writestr(zipfile.ZipInfo(_PREPARED), known)
    return packed.getvalue()


def unpack_lesson(packed: bytes, slug: str, folder: Path) -> Lesson:
    """The lesson that `pack_lesson` packed, as files in `folder`."""
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        archive.extractall(folder)
    source, about = folder / f"{slug}.ipynb", folder / _PREPARED
    if not about.is_file():
        return read_lesson(source, data_files(folder))
    kind = tuple[tuple[str, str, bool], str, PreparedNotebook]
    names, digest, prepared = msgspec.json.decode(about.read_bytes(), type=kind)
    about.unlink()
    lesson = prepared_lesson(names[0], source, prepared, digest, data_files(folder))
    return replace(lesson, title=names[1], is_one_of_several=names[2])


def hold(content: bytes) -> bytes:
    """`content`: as a task of its own it travels once, and Dask can make it again when lost."""
    return content


def grade_bytes(lesson: bytes, slug: str, notebook: bytes, settings: str) -> str:
    """The outcome of a submission as JSON text: record and executed notebook, or an error.

    Args:
        lesson: What `pack_lesson` packed.
        slug: The lesson's name.
        notebook: The bytes that were handed in.
        settings: A `GradingSettings` as text.
    """
    wanted = GradingSettings.from_text(settings)
    problem = _other_edition(wanted.edition)
    if problem is not None:
        return _error_text(problem)
    try:
        with (
            _ENGINES.borrow(wanted) as engine,
            tempfile.TemporaryDirectory(dir=_scratch()) as folder,
        ):
            path = Path(folder, f"{slug}.ipynb")
            path.write_bytes(notebook)
            job = Job("", _ENGINES.lesson(lesson, slug), path, Path(folder))
            return _outcome_text(next(engine.run_many([job])))
    except AutograderError as error:
        return _error_text(error)


def release() -> None:
    """End the engine workers of this process that are not at work; a next job starts new ones."""
    _ENGINES.release()


class _Engines:
    """The engine workers and lessons of one process, lent to the threads that grade."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: dict[str, list[EngineRunner]] = {}
        self._lessons: dict[bytes, Lesson] = {}

    @contextmanager
    def borrow(self, settings: GradingSettings) -> Iterator[EngineRunner]:
        """An engine that nobody else uses; it stays alive for the next who borrows."""
        key = settings.to_text()
        with self._lock:
            idle = self._idle.setdefault(key, [])
            engine = idle.pop() if idle else _new_engine(settings)
        try:
            yield engine
        except BaseException:
            engine.close()
            raise
        with self._lock:
            self._idle.setdefault(key, []).append(engine)

    def lesson(self, packed: bytes, slug: str) -> Lesson:
        """The lesson in `packed`, written to a directory that only this user can read."""
        key = hashlib.sha256(packed).digest()
        with self._lock:
            if key not in self._lessons:
                folder = Path(tempfile.mkdtemp(prefix="lesson-", dir=_scratch()))
                self._lessons[key] = unpack_lesson(packed, slug, folder)
            return self._lessons[key]

    def release(self) -> None:
        """End the engines that are not lent."""
        with self._lock:
            engines = [one for idle in self._idle.values() for one in idle]
            self._idle.clear()
        for engine in engines:
            engine.close()


# A task is a function and Dask gives it no object of its own to keep things in.
_ENGINES = _Engines()


def _new_engine(settings: GradingSettings) -> EngineRunner:
    from autograder.engine import EngineRunner, Limits

    hide = [Path(_scratch()), *map(Path, settings.hide)]
    return EngineRunner(1, sandbox=settings.sandbox, limits=Limits(**settings.limits), hide=hide)


def _scratch() -> str:
    """The directory that Dask removes when this worker is gone, even after a kill."""
    from distributed import get_worker

    return str(get_worker().local_directory)


def _other_edition(wanted: Mapping[str, str]) -> AutograderError | None:
    mine = edition()
    differing = [name for name in mine if mine[name] != wanted.get(name)]
    if not differing:
        return None
    versions = ", ".join(f"{name} is {mine[name]}, not {wanted.get(name)}" for name in differing)
    return AutograderError(
        f"this worker has other versions than the machine that runs `grade`: {versions}",
        remedy="Install the same release of the course with `.[teach,cluster]` on both, and "
        "start the worker again.",
    )


def _outcome_text(outcome: Outcome) -> str:
    return json.dumps({"record": outcome.record.to_json(), "notebook": outcome.notebook})


def _error_text(error: AutograderError) -> str:
    from distributed import get_worker

    place = error.place or f"Dask worker {get_worker().address}"
    return json.dumps({"error": [error.cause, place, error.remedy]})
