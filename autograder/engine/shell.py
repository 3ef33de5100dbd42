"""An IPython shell whose outputs are events: what a notebook kernel does, without the kernel.

Cells run with IPython's semantics: magics, `!commands`, top-level await, display, figures of
matplotlib's inline backend, rich representations, the traceback of an error.
"""

from __future__ import annotations

import base64
import builtins
import getpass
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, cast

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.error import StdinNotImplementedError
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.text import LSString, SList
from traitlets import Type
from traitlets.config import Config

from autograder.engine.recorder import Emit, Recorder, Stream

Data = dict[str, Any]


@dataclass(frozen=True)
class CellEnd:
    """How a cell ended: `error` is the name of the exception that left it, None without one."""

    error: str | None
    value: str
    count: int


class _Publisher(DisplayPublisher):
    """Reports `display()`."""

    recorder: Recorder

    def publish(
        self,
        data: Data,
        metadata: Data | None = None,
        source: object = None,
        *,
        transient: Data | None = None,
        update: bool = False,
        **options: object,
    ) -> None:
        event: Data = {"display": _plain(data), "metadata": _plain(metadata or {})}
        event["id"], event["update"] = (transient or {}).get("display_id"), bool(update)
        self.recorder.show(event)

    def clear_output(self, wait: bool = False) -> None:
        self.recorder.show({"clear": bool(wait)})


class _Hook(DisplayHook):
    """Reports the value of a cell's last expression."""

    recorder: Recorder

    def write_output_prompt(self) -> None:
        pass

    def write_format_data(self, format_dict: Data, md_dict: Data | None = None) -> None:
        count = cast(Any, self.shell).cell_number
        event = {"result": _plain(format_dict), "metadata": _plain(md_dict or {}), "count": count}
        self.recorder.show(event)

    def finish_displayhook(self) -> None:
        pass


class Shell(InteractiveShell):
    """Runs cells one by one and reports what they show to a recorder."""

    display_pub_class = Type(_Publisher)
    displayhook_class = Type(_Hook)
    cell_number = 0

    def __init__(self, **options: Any) -> None:
        """A shell as IPython makes one."""
        self._translated: dict[str, str] = {}
        super().__init__(**options)

    def ready(self, recorder: Recorder) -> None:
        """Report to `recorder` from now on, also what is printed."""
        self._recorder = recorder
        cast(Any, self.display_pub).recorder = recorder
        cast(Any, self.displayhook).recorder = recorder
        self._streams = Stream("stdout", recorder, 1), Stream("stderr", recorder, 2)
        sys.stdout, sys.stderr = self._streams

    def run(self, source: str) -> CellEnd:
        """Execute one cell as a notebook would."""
        self._recorder.begin()
        sys.stdout = self._streams[0] if sys.stdout is None else sys.stdout
        sys.stderr = self._streams[1] if sys.stderr is None else sys.stderr
        self.cell_number = self.execution_count
        result = self.run_cell(source, store_history=True, silent=False)
        error = result.error_before_exec or result.error_in_exec
        self._recorder.end()
        count = self.cell_number
        if error is None:
            return CellEnd(None, "", count)
        return CellEnd(type(error).__name__[:200], _short(error), count)

    def _showtraceback(self, etype: Any, evalue: Any, stb: Any) -> None:
        lines = stb if isinstance(stb, list) else self.InteractiveTB.stb2text(stb).split("\n")
        name = getattr(etype, "__name__", str(etype))
        event = {"error": str(name), "value": _short(evalue), "traceback": [str(x) for x in lines]}
        self._recorder.show(event)

    def enable_gui(self, gui: str | None = None) -> None:
        """There is no window system to talk to."""

    def ask_exit(self) -> None:
        """`exit` and `quit` end the cell, not the process."""
        raise SystemExit

    def transform_cell(self, raw_cell: str) -> str:
        """The cell as Python; the same text is translated once, also for later forks."""
        found = self._translated.get(raw_cell)
        return super().transform_cell(raw_cell) if found is None else found

    def translate(self, sources: Iterable[str]) -> None:
        """Translate cells ahead, before this process is forked."""
        for source in sources:
            self._translated[source] = super().transform_cell(source)

    def system(self, cmd: str) -> None:
        """Run a `!command`; there is no terminal here, so its output comes through a pipe."""
        process = _start(self.var_expand(cmd, depth=1))
        assert process.stdout is not None
        for line in process.stdout:
            sys.stdout.write(line)
        self.user_ns["_exit_code"] = process.wait()

    def getoutput(self, cmd: str, split: bool = True, depth: int = 0) -> Any:
        """The output of a command, as `x = !command` gives it."""
        text = _start(self.var_expand(cmd, depth=depth + 1)).communicate()[0]
        return SList(text.splitlines()) if split else LSString(text)

    def init_io(self) -> None:
        """Nothing to set up: `ready` replaces the streams."""


def new_shell() -> Shell:
    """A shell that keeps no history on disk and asks nobody for input."""
    config = Config()
    config.HistoryManager.enabled = False
    config.HistoryManager.hist_file = ":memory:"
    config.InteractiveShell.colors = "NoColor"
    shell = Shell.instance(config=config)
    for module, name in ((builtins, "input"), (getpass, "getpass")):
        setattr(module, name, _no_input)
    return shell


def warm_up(shell: Shell) -> None:
    """Run a few cells that touch no tensor: the first cells of a shell are slow."""
    record_with(shell, lambda event: None, 100)
    for source in ("import math\nx = 1", "def f(x):\n    return x\nf(2)", "print(x)", "1 / 0"):
        shell.run(source)
    shell.reset(new_session=True, aggressive=False)
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__


def record_with(shell: Shell, emit: Emit, text_chars: int) -> Recorder:
    """Let `shell` report through `emit`; at most `text_chars` characters of text a cell."""
    recorder = Recorder(emit, text_chars)
    shell.ready(recorder)
    return recorder


def _start(command: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command,
        shell=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="backslashreplace",
    )


def _no_input(*prompt: object) -> str:
    raise StdinNotImplementedError(
        "input() was called, but nobody is there to answer while the notebook is graded."
    )


def _short(value: object) -> str:
    try:
        return str(value)[:20_000]
    except BaseException:
        return "(its text could not be read)"


_IMAGES: tuple[str, ...] = ("image/png", "image/jpeg", "image/gif", "application/pdf")


def _plain(data: Data) -> Data:
    """`data` with images as base64, as a kernel sends it, and the rest as JSON allows it."""
    found = {}
    for key, value in data.items():
        if isinstance(value, bytes):
            value = base64.b64encode(value).decode() if key in _IMAGES else repr(value)
        found[str(key)] = _json_like(value)
    return found


def _json_like(value: Any, depth: int = 0) -> Any:
    convert: Callable[[Any], Any] | None = _CONVERT.get(type(value))
    if depth > 50:
        return "…"
    if convert is not None:
        return convert(value)
    if isinstance(value, dict):
        return {str(key): _json_like(one, depth + 1) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_json_like(one, depth + 1) for one in value]
    return _short(value)


def _finite(value: float) -> float | str:
    return value if value - value == 0 else str(value)


_CONVERT: dict[type, Callable[[Any], Any]] = {
    str: str, int: int, bool: bool, float: _finite, type(None): lambda _: None
}  # fmt: skip
