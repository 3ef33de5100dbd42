"""The CPU time of a process and of everything it starts, counted by the kernel.

A clock that children inherit also counts those whose time Linux charges to nobody, as processes
that end with their namespace; and it counts nobody else's, whatever else the machine is doing.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct

_NUMBERS = {"x86_64": 298, "aarch64": 241}  # of perf_event_open
_SOFTWARE, _TASK_CLOCK, _NBYTES = 1, 1, 128
_CONFIG_AT, _FLAGS_AT, _INHERIT = 8, 40, 1 << 1


class TaskClock:
    """Counts the CPU seconds of this process and of what it starts from now on."""

    def __init__(self) -> None:
        """Start the clock; raises OSError where the kernel or its settings have none."""
        number = _NUMBERS.get(platform.machine())
        if number is None:
            raise OSError("no clock for this kind of processor")
        attributes = ctypes.create_string_buffer(_NBYTES)
        struct.pack_into("II", attributes, 0, _SOFTWARE, _NBYTES)
        struct.pack_into("Q", attributes, _CONFIG_AT, _TASK_CLOCK)
        struct.pack_into("Q", attributes, _FLAGS_AT, _INHERIT)
        libc = ctypes.CDLL(None, use_errno=True)
        self._fd = int(libc.syscall(number, attributes, 0, -1, -1, 0))
        if self._fd < 0:
            code = ctypes.get_errno()
            raise OSError(code, f"perf_event_open: {os.strerror(code)}")
        os.set_inheritable(self._fd, False)

    def seconds(self) -> float:
        """The CPU seconds until now."""
        (nanoseconds,) = struct.unpack("Q", os.read(self._fd, 8))
        return float(nanoseconds) / 1e9

    def close(self) -> None:
        """Stop counting."""
        os.close(self._fd)
