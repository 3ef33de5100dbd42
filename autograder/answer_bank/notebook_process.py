"""The fork server behind `notebook_runner`: it imports once and forks for each answer run.

    python -m autograder.answer_bank.notebook_process PID_OF_WHO_ASKS FILE_DESCRIPTOR SETUPS

    {"setup": …, "answer": …, …}  →  what the cells showed, and the seconds that it took

SETUPS are the set-up cells, as JSON: what they import is loaded before the first fork.

It works without Linux, too, and runs cells in IPython's own shell, as a notebook does.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from autograder.engine.outcomes import TABLE_KEY
from autograder.fork_server import Died, Forks, Message, answer_in_forks
from autograder.lessons.imported_modules import modules_needed

_NOTHING: Message = {"errors": [None] * 3, "table": None, "value": None, "stderr": False}


def main() -> None:
    """Answer questions until there are no more."""
    scratch = Path(tempfile.mkdtemp(prefix="autograder-answers-"))
    setups = json.loads(sys.argv[3])

    def prepare() -> Callable[[Message, Forks], Message]:
        from autograder.engine.loaded_ahead import load_modules

        shell = _prepared_shell()
        load_modules(modules_needed(setups))  # so that no fork pays for it
        return partial(_in_a_fork, shell, scratch)

    answer_in_forks(prepare, scratch=scratch)


def _prepared_shell() -> Any:
    import torch
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    from course.figures import draw_nothing

    draw_nothing()  # nobody looks at the pictures of a run
    torch.set_num_threads(1)
    config = Config()
    config.HistoryManager.enabled = False  # no file, and no thread before the fork
    config.InteractiveShell.colors = "nocolor"
    return InteractiveShell.instance(config=config)


def _in_a_fork(shell: Any, scratch: Path, request: Message, forks: Forks) -> Message:
    started = time.monotonic()
    home = tempfile.mkdtemp(dir=scratch)
    try:
        if request["data"]:
            ignore = shutil.ignore_patterns("*.ipynb", "__pycache__", ".*")
            shutil.copytree(request["data"], home, ignore=ignore, dirs_exist_ok=True)
        left = started + request["limit_s"] - time.monotonic()
        reply = forks.run(partial(_run_in, home, shell, request), left)
    except TimeoutError:
        reply = {**_NOTHING, "ended": "timeout"}
    except Died:
        reply = {**_NOTHING, "ended": "died"}
    finally:
        shutil.rmtree(home, ignore_errors=True)
    return {**reply, "seconds": round(time.monotonic() - started, 4)}


def _run_in(home: str, shell: Any, request: Message) -> Message:
    os.chdir(home)
    return _run(shell, [request["setup"], request["answer"], request["test"]])


def _run(shell: Any, cells: list[str]) -> Message:
    errors: list[str | None] = []
    table, value, stderr = None, None, False
    for source in cells:
        execution, captured = _run_cell(shell, source)
        error = execution.error_before_exec or execution.error_in_exec
        errors.append(f"{type(error).__name__}: {error!s:.300}" if error is not None else None)
        tables = [output.metadata.get(TABLE_KEY) for output in captured.outputs]
        table = next((one for one in reversed(tables) if one), None)
        value = None if execution.result is None else repr(execution.result)
        stderr = bool(captured.stderr)
    return {"ended": "finished", "errors": errors, "table": table, "value": value, "stderr": stderr}


def _run_cell(shell: Any, source: str) -> tuple[Any, Any]:
    from IPython.utils.capture import capture_output

    with capture_output() as captured:
        execution = shell.run_cell(source, store_history=True)
    return execution, captured


if __name__ == "__main__":
    main()
