"""How the C library takes the memory behind simulated tensors from the system."""

from __future__ import annotations

import ctypes
import platform

_M_MMAP_THRESHOLD = -3  # malloc.h of glibc
_THRESHOLD_NBYTES = 4 << 20


def return_large_blocks() -> bool:
    """Let freed memory of 4 MiB and more go back to the system; return whether that was possible.

    Left alone, glibc serves requests of up to 32 MiB from its heap as soon as one of that size was
    freed. Tensors of different sizes that come and go then make the process grow, and a limit on
    its address space ends it although the simulated device is empty.
    """
    if platform.system() != "Linux":
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # glibc's; musl has none and needs none
    return mallopt is not None and bool(mallopt(_M_MMAP_THRESHOLD, _THRESHOLD_NBYTES))
