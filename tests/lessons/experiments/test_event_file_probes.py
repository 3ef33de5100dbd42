"""What the probe of event files writes, and how it reads."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

from course.lessons.experiments import framed, records_read
from course.lessons.experiments.event_file_probes import masked_crc


def whole(path: str, crc: Any) -> list[bytes]:
    """A reader of whole files."""
    content, found = Path(path).read_bytes(), []
    while content:
        (length,) = struct.unpack("<Q", content[:8])
        assert crc(content[:8]) == struct.unpack("<I", content[8:12])[0]
        found.append(content[12 : 12 + length])
        content = content[16 + length :]
    return found


def test_the_checksum_is_that_of_tensorboard() -> None:
    stub = pytest.importorskip("tensorboard.compat.tensorflow_stub.pywrap_tensorflow")
    for data in (b"", b"abc", bytes(range(256)) * 2):
        assert masked_crc(data) == stub.masked_crc32c(data)


def test_a_frame_holds_length_data_and_two_checksums() -> None:
    made = framed(b"abc")
    assert made[:8] == struct.pack("<Q", 3)
    assert made[12:15] == b"abc"
    assert made[15:] == struct.pack("<I", masked_crc(b"abc"))


def test_records_are_read_from_a_file_that_is_gone_afterwards() -> None:
    paths: list[str] = []

    def read(path: str, crc: Any) -> list[bytes]:
        paths.append(path)
        return whole(path, crc)

    seen = records_read.procedure(read, framed(b"a") + framed(b""))
    assert seen["records"] == [b"a", b""]
    assert not Path(paths[0]).exists()


def test_the_checksum_is_one_of_bytes() -> None:
    with pytest.raises(TypeError, match="bytearray"):
        records_read.procedure(lambda path, crc: crc(bytearray(8)), b"")
