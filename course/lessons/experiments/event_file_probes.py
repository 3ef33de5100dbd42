"""What the tests of event files need: records in their frames, and a file that holds them."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from tempfile import mkstemp
from typing import Any

from course.probes.decorator import probe

__all__ = ["framed", "masked_crc", "records_read"]


def _remainder(byte: int) -> int:
    for _ in range(8):
        byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    return byte


_TABLE = [_remainder(byte) for byte in range(256)]


def masked_crc(data: bytes) -> int:
    """The checksum that an event file keeps of some bytes: CRC-32C, turned and shifted.

    Args:
        data: The bytes to check, of any number.

    >>> hex(masked_crc(b"123456789"))
    '0xc78ab0e5'
    """
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def framed(data: bytes) -> bytes:
    """The bytes of one record in an event file: length, its checksum, the data, its checksum.

    Args:
        data: The record, of any length.

    >>> len(framed(b"abc"))
    19
    """
    length = struct.pack("<Q", len(data))
    checks = [struct.pack("<I", masked_crc(one)) for one in (length, data)]
    return length + checks[0] + data + checks[1]


def _crc_of_bytes(data: bytes) -> int:
    """The checksum, of bytes alone: what reads a file may hold other things that look like them."""
    if type(data) is not bytes:
        raise TypeError(f"crc takes bytes, not {type(data).__name__}")
    return masked_crc(data)


@probe
def records_read(read: Callable[..., Any], content: bytes) -> dict[str, Any]:
    """What `read(path, crc)` returns for a file with this content.

    Args:
        read: The answer; `crc` takes bytes alone.
        content: The bytes of the file.
    """
    descriptor, name = mkstemp(prefix="events.out.tfevents.")
    path = Path(name)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
        return {"records": read(name, _crc_of_bytes)}
    finally:
        path.unlink(missing_ok=True)
