"""The notebook that runs this code, and the names that it has defined."""

from __future__ import annotations

import sys
from collections.abc import MutableMapping
from typing import Any

__all__ = ["notebook_names"]


def notebook_names() -> MutableMapping[str, Any]:
    """The names of the running notebook, or of `__main__` outside of one."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return vars(sys.modules["__main__"]) if shell is None else shell.user_ns
