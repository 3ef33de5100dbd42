"""How many threads and processes a call starts: what they do, no torch mode sees."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

__all__ = ["Started", "counting_started"]

# What `threading` starts a thread with. `threading.setprofile` would tell too, but on 3.11 a thread
# that begins while an audit hook hears of another one's profile ends at once, with RuntimeError.
_threading = vars(threading)
_START = next(n for n in ("_start_joinable_thread", "_start_new_thread") if n in _threading)
# Audit events (PEP 578) of CPython; 3.11 has none for threads.
_PROCESSES = frozenset({"os.fork", "os.forkpty", "os.posix_spawn", "subprocess.Popen"})


@dataclass
class Started:
    """The number of threads and processes that were started while it was counted."""

    count: int = 0


_counted: list[Started] = []
_hooked: list[bool] = []
# Threads in which `subprocess` has announced a process: from Python 3.13 on it starts most of them
# by os.posix_spawn, which announces the same one again.
_announced: set[int] = set()


@contextmanager
def counting_started() -> Iterator[Started]:
    """Counts starts while it is entered.

    The first use adds an audit hook to the interpreter, which cannot be taken out again; it costs
    a tenth of a microsecond for each event.
    """
    if not _hooked:
        _hooked.append(True)
        sys.addaudithook(_see_process)
    started, start = Started(), _threading[_START]

    def counted(*args: Any, **kwargs: Any) -> Any:
        started.count += 1
        return start(*args, **kwargs)

    _announced.discard(threading.get_ident())
    _counted.append(started)
    _threading[_START] = counted
    try:
        yield started
    finally:
        _threading[_START] = start
        _counted.remove(started)


def _see_process(event: str, arguments: object) -> None:
    if event not in _PROCESSES:
        return
    thread = threading.get_ident()
    if event == "os.posix_spawn" and thread in _announced:
        _announced.discard(thread)
        return
    if event == "subprocess.Popen":
        _announced.add(thread)
    for started in _counted:
        started.count += 1
