"""Opening what lies in a learner's folder: a link is not followed, and a pipe makes nobody wait."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)

Open = Callable[[Path, int], int]


def open_regular(path: Path, opened: Open = os.open) -> int:
    """A descriptor of the plain file `path`.

    Args:
        path: The file.
        opened: Opens it as `os.open` does, from a folder that is open, for example.

    Raises:
        OSError: It is a link, a pipe, a folder or gone, or the system refuses.
    """
    handle = opened(path, _FLAGS)
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    raise OSError("it is not a plain file")
