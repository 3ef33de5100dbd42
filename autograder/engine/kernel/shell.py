"""An IPython shell whose outputs are events: what a notebook kernel does, without the kernel.

Cells run with IPython's semantics: magics, `!commands`, top-level await, display, figures of
matplotlib's inline backend, rich representations, the traceback of an error.
"""

from __future__ import annotations

import ast
import base64
import bdb
import builtins
import getpass
import linecache
import pdb
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from enum import StrEnum
from types import CodeType
from typing import Any, TypeVar, cast

import IPython.core.debugger
from IPython.core.compilerop import CachingCompiler
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.error import StdinNotImplementedError
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.text import LSString, SList
from traitlets import Type
from traitlets.config import Config

from autograder.engine.kernel import cell_file_name
from autograder.engine.kernel.output_recorder import Emit, Recorder, Stream
from course.hidden_lines import first_hidden_line, lines_of

Data = dict[str, Any]
F = TypeVar("F", bound=Callable[..., object])
_DEBUGGERS = (
    (sys, "breakpointhook"),
    (pdb, "set_trace"),
    (bdb.Bdb, "set_trace"),
    (IPython.core.debugger, "set_trace"),
)


class Part(StrEnum):
    """What of a cell is run: all, what stands before its first hidden test, or the rest of it."""

    ALL = "all"
    VISIBLE = "visible"
    REST = "rest"


@dataclass(frozen=True)
class CellResult:
    """How a cell ended: `error` is the name of the exception that left it, None without one.

    `has_rest` says that only the visible part has run.
    """

    error: str | None
    value: str
    count: int
    has_rest: bool = False


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

    @staticmethod
    def semicolon_at_end_of_expression(expression: str) -> bool:
        # IPython reads all tokens of the cell to find the last one; the last line mostly tells.
        for line in reversed(expression.splitlines()):
            if ";" in line:
                return bool(DisplayHook.semicolon_at_end_of_expression(expression))
            if line.strip() and not line.lstrip().startswith("#"):
                break
        return False


class _Compiler(CachingCompiler):
    """Names a cell by its text alone, so that it can be compiled before its number is known.

    Attributes:
        parsed: The cells for which that has been done, by their text as Python reads it, and the
            compiler's flags.
    """

    def __init__(self) -> None:
        super().__init__()
        self.parsed: dict[tuple[str, int], ast.AST] = {}

    def get_code_name(self, raw_code: str, transformed_code: str, number: int) -> str:
        return cell_file_name(raw_code)

    def cache(self, transformed_code: str, number: int = 0, raw_code: str | None = None) -> str:
        name = super().cache(transformed_code, number, raw_code)
        # IPython breaks lines where Python does not, and hidden ones are found by their numbers.
        lines = [f"{line}\n" for line in lines_of(transformed_code)]
        linecache.cache[name] = (len(transformed_code), None, lines, name)
        return name

    def ast_parse(self, source: str, filename: str = "<unknown>", symbol: str = "exec") -> ast.AST:
        found = self.parsed.get((source, self.flags)) if symbol == "exec" else None
        return super().ast_parse(source, filename, symbol) if found is None else found


@dataclass(frozen=True)
class _CompiledCell:
    """A cell as the shell would compile it: its statements, and its last expression apart.

    `visible` of the codes come before its first hidden test; None where it has none.
    """

    translated: str
    codes: tuple[CodeType, ...]
    visible: int | None = None

    def codes_of(self, part: Part) -> tuple[CodeType, ...]:
        """The codes of one part."""
        if part is Part.ALL:
            return self.codes
        return self.codes[: self.visible] if part is Part.VISIBLE else self.codes[self.visible :]


class Shell(InteractiveShell):
    """Runs cells one by one and reports what they show to a recorder."""

    display_pub_class = Type(_Publisher)
    displayhook_class = Type(_Hook)
    compiler_class = Type(_Compiler)
    cell_number = 0

    def __init__(self, **options: Any) -> None:
        """A shell as IPython makes one."""
        self._compiled_cells: dict[str, _CompiledCell] = {}
        self._hooks: tuple[object, ...] = ()
        self._part = Part.ALL
        # Of cells whose visible part has run: the names that it has bound, and their number.
        self._key: object = None
        self._bound: dict[object, Data] = {}
        self._numbers: dict[object, int] = {}
        super().__init__(**options)

    def ready(self, recorder: Recorder) -> None:
        """Report to `recorder` from now on, also what is printed."""
        self._recorder = recorder
        cast(Any, self.display_pub).recorder = recorder
        cast(Any, self.displayhook).recorder = recorder
        self._streams = Stream("stdout", recorder, 1), Stream("stderr", recorder, 2)
        sys.stdout, sys.stderr = self._streams

    def run_part(self, source: str, part: Part, key: object = None) -> CellResult:
        """Run one part of a cell: the visible one, later the rest, with the names of the first.

        Others may run in between and find none of those names; `key` tells the cell from one with
        the same text. Where a cell raises in its visible part, or has no hidden test, that is all
        of it. Only cells that were compiled ahead have two parts: of others that hold a hidden test
        the visible part is nothing, and all is the rest.
        """
        found = self._compiled_cell(source)
        if found is None and part is Part.VISIBLE and first_hidden_line(source):
            return CellResult(None, "", self.execution_count, has_rest=True)
        if found is None or found.visible is None:
            return self.run(source)
        next_number = self.execution_count
        if part is Part.REST:
            self.execution_count = self._numbers.pop(key, next_number)
        self._part, self._key = part, key
        try:
            end = self.run(source)
        finally:
            self._part = Part.ALL
        if part is Part.REST:
            self.execution_count = next_number
        if part is Part.REST or end.error is not None:
            self._bound.pop(key, None)
            return end
        self._numbers[key] = next_number  # the rest is of the same cell
        return replace(end, has_rest=True)

    def run(self, source: str) -> CellResult:
        """Execute one cell as a notebook would."""
        self._recorder.start_cell()
        sys.stdout = self._streams[0] if sys.stdout is None else sys.stdout
        sys.stderr = self._streams[1] if sys.stderr is None else sys.stderr
        self.cell_number = self.execution_count
        result = self.run_cell(source, store_history=True, silent=False)
        error = result.error_before_exec or result.error_in_exec
        self._recorder.end_cell()
        count = self.cell_number
        if error is None:
            return CellResult(None, "", count)
        return CellResult(type(error).__name__[:200], _short(error), count)

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

    def compile_ahead(self, sources: Iterable[str]) -> None:
        """Compile cells now, for the forks of this process that run the same text."""
        self._hooks = self._hooks_now()
        for source in sources:
            with suppress(SyntaxError, ValueError, RecursionError):  # which its run will show
                translated = super().transform_cell(source)
                if not super().should_run_async(source, transformed_cell=translated):
                    self._compiled_cells[source] = self._compiled(source, translated)

    def statements_of(self, source: str) -> list[CodeType]:
        """The statements of a cell, one by one, without its last expression."""
        translated = self.transform_cell(source)
        name = self.compile.cache(translated, 0, source)
        steps = cast(ast.Module, self.compile.ast_parse(translated, name)).body
        if steps and isinstance(steps[-1], ast.Expr):
            del steps[-1]
        compiler = cast(Callable[[ast.AST, str, str], CodeType], self.compile)
        return [compiler(ast.Module([step], []), name, "exec") for step in steps]

    def _compiled(self, source: str, translated: str) -> _CompiledCell:
        name = self.compile.cache(translated, 0, source)
        steps = cast(ast.Module, self.compile.ast_parse(translated, name)).body
        own = cast(_Compiler, self.compile)
        own.parsed[translated, own.flags] = ast.Module([*steps], [])
        hidden_from = first_hidden_line(translated)
        visible = [one for one in steps if (one.end_lineno or 0) < hidden_from]
        last = steps[-1:] if steps and isinstance(steps[-1], ast.Expr) else []
        compiler = cast(Callable[[ast.AST, str, str], CodeType], self.compile)
        parts = []
        for group in (visible, steps[len(visible) :]):
            shown = [one for one in last if one in group]
            others = group[: len(group) - len(shown)]
            codes = [compiler(ast.Module(others, []), name, "exec")] if others else []
            codes += [compiler(ast.Interactive(shown), name, "single")] if shown else []
            parts.append(codes)
        return _CompiledCell(
            translated, (*parts[0], *parts[1]), len(parts[0]) if hidden_from else None
        )

    def _compiled_cell(self, source: str) -> _CompiledCell | None:
        """The cell compiled ahead, if nothing has changed how this shell compiles."""
        found = self._compiled_cells.get(source)
        return found if found is not None and self._hooks_now() == self._hooks else None

    def _hooks_now(self) -> tuple[object, ...]:
        manager = self.input_transformer_manager
        steps = manager.cleanup_transforms, manager.line_transforms, manager.token_transformers
        hooks = *steps, self.input_transformers_post, self.ast_transformers
        others = self.ast_node_interactivity, self.autoawait, self.compile.flags
        return *(tuple(hook) for hook in hooks), *others

    def transform_cell(self, raw_cell: str) -> str:
        """The cell as Python."""
        found = self._compiled_cell(raw_cell)
        return super().transform_cell(raw_cell) if found is None else found.translated

    def should_run_async(self, raw_cell: str, **about: Any) -> bool:
        """Whether the cell awaits something; none that was compiled ahead does."""
        return self._compiled_cell(raw_cell) is None and super().should_run_async(raw_cell, **about)

    def transform_ast(self, node: ast.AST) -> ast.AST:
        """The statements as this shell's transformers leave them; others may run them, too."""
        own = deepcopy(node) if self.ast_transformers else node
        return cast(ast.AST, super().transform_ast(own))

    async def run_ast_nodes(
        self, nodelist: list[ast.stmt], cell_name: str, *args: Any, **options: Any
    ) -> bool | None:
        """Run the statements of a cell; true where one raised."""
        result = options.get("result")
        found = None if result is None else self._compiled_cell(result.info.raw_cell)
        if found is None:
            return await super().run_ast_nodes(nodelist, cell_name, *args, **options)
        names = self.user_ns
        names.update(self._bound.get(self._key, {}) if self._part is Part.REST else {})
        before = dict(names) if self._part is Part.VISIBLE else names
        try:
            for code in found.codes_of(self._part):
                if await self.run_code(code, result):
                    return True
        finally:
            if self._part is Part.VISIBLE:
                nothing = object()
                self._bound[self._key] = {
                    name: value
                    for name, value in names.items()
                    if before.get(name, nothing) is not value
                }
        return False

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
    # A debugger asks for a command as soon as it has looked at every frame; without it, nobody
    # has looked at any.
    for place, name in _DEBUGGERS:
        setattr(place, name, _no_debugger)
    return shell


def warm_up(shell: Shell) -> None:
    """Run a few cells that touch no tensor: the first cells of a shell are slow."""
    record_with(shell, lambda event: None, 100)
    for source in ("import math\nx = 1", "def f(x):\n    return x\nf(2)", "print(x)", "1 / 0"):
        shell.run(source)
    shell.reset(new_session=True, aggressive=False)
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__


def record_with(shell: Shell, emit: Emit, text_chars: int) -> Recorder:
    """Let a shell report what its cells show.

    Args:
        shell: A prepared shell.
        emit: Hears each event.
        text_chars: How many characters of text a cell may show.
    """
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


def _without_source(function: F) -> F:
    """The function, of which no line is shown as the learner's own that failed."""
    cast(Any, function).__code__ = cast(Any, function).__code__.replace(co_filename="<nobody>")
    return function


@_without_source
def _no_input(*prompt: object) -> str:
    raise StdinNotImplementedError(
        "input() was called, but nobody is there to answer while the notebook is graded."
    )


@_without_source
def _no_debugger(*where: object, **options: object) -> None:
    raise StdinNotImplementedError(
        "A debugger was started, but nobody is there to answer while the notebook is graded."
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
