"""Lets an exception leave the backward pass of a device that is written in Python.

While an exception leaves the autograd engine, torch restores the stream of the device, and for a
device guard written in Python it asks Python for the device type first. Calling Python with an
exception on its way is an error, and there it ends the process (seen with torch 2.11 to 2.13: any
exception from a hook, and CUDA's own out-of-memory error, in `backward`). Our device has one
stream, so there is nothing to restore: the guard's C++ object gets a table of virtual functions
in which `exchangeStream` is its own `uncheckedSetDevice`, which does nothing.

The order of the functions is read from the header that is installed with torch; where the header
is missing or a probe fails, the guard stays as it is.
"""

from __future__ import annotations

import ctypes
import re
import sys
from pathlib import Path

import torch

_HEADER = Path(torch.__file__).parent / "include/c10/core/impl/DeviceGuardImplInterface.h"
_VIRTUAL = re.compile(r"virtual\s[^;{=]*?(~?\w+)\s*\(")
_POINTER = ctypes.sizeof(ctypes.c_void_p)
# In front of the functions: the offset to the top and the type information (Itanium C++ ABI).
_IN_FRONT = 2
# The destructor, declared last, takes two places.
_AT_THE_END = 1

_kept: list[ctypes.Array[ctypes.c_void_p]] = []


def order_of_functions() -> list[str]:
    """Return the names of the guard's virtual functions, in the order of their table."""
    if not _HEADER.exists():
        return []
    text = re.sub(r"//.*|/\*.*?\*/", "", _HEADER.read_text(), flags=re.MULTILINE)
    body = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    start = body.index("struct C10_API DeviceGuardImplInterface {")
    return _VIRTUAL.findall(body[start : body.index("\n};", start)])


def stop_calling_python(guard: torch._C._acc.DeviceGuard) -> bool:
    """Replace `exchangeStream` of the guard by a function that does nothing; say whether it did."""
    order = order_of_functions()
    needed = {"exchangeStream", "uncheckedSetDevice", "deviceCount", "queryEvent"}
    if sys.platform == "win32" or not needed <= set(order):
        return False
    # pybind11 keeps the address of the C++ object right behind the head of the Python object.
    address = ctypes.c_void_p.from_address(id(guard) + object.__basicsize__).value
    if address is None or not _answers_as_expected(address, order):
        return False
    place = ctypes.c_void_p.from_address(address)
    table = _copy_of_table(place.value or 0, len(order))
    functions = _IN_FRONT + order.index("exchangeStream")
    table[functions] = table[_IN_FRONT + order.index("uncheckedSetDevice")]
    _kept.append(table)
    place.value = ctypes.addressof(table) + _IN_FRONT * _POINTER
    return True


def _copy_of_table(functions: int, count: int) -> ctypes.Array[ctypes.c_void_p]:
    kind = ctypes.c_void_p * (_IN_FRONT + count + _AT_THE_END)
    return kind.from_buffer_copy(kind.from_address(functions - _IN_FRONT * _POINTER))


def _answers_as_expected(address: int, order: list[str]) -> bool:
    """Return whether the places in the table hold what the header says: one device, no event."""
    functions = ctypes.c_void_p.from_address(address).value or 0

    def at(name: str) -> int:
        return ctypes.c_void_p.from_address(functions + order.index(name) * _POINTER).value or 0

    count = ctypes.CFUNCTYPE(ctypes.c_int8, ctypes.c_void_p)(at("deviceCount"))
    queried = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_void_p)(at("queryEvent"))
    return count(address) == 1 and queried(address, None) is True
