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


def test_records_are_read_from_a_file_that_is_told_by_text_or_by_a_path() -> None:
    kinds: list[type] = []

    def read(path: Any, crc: Any) -> list[bytes]:
        kinds.append(type(path))
        return whole(path, crc)

    for as_path in (False, True):
        seen = records_read.procedure(read, framed(b"a") + framed(b""), as_path=as_path)
        assert seen["records"] == [b"a", b""]
    assert kinds[0] is str
    assert issubclass(kinds[1], Path)


def test_what_is_left_of_the_file_is_told() -> None:
    def spoil(path: str, crc: Any) -> None:
        Path(path).write_bytes(b"")

    assert records_read.procedure(spoil, b"abc")["left"] == b""
    assert records_read.procedure(lambda path, crc: None, b"abc")["left"] == b"abc"


def test_a_file_may_be_read_before_it_grows() -> None:
    known: dict[Any, list[bytes]] = {}

    def once(path: str, crc: Any) -> list[bytes]:
        if path not in known:
            known[path] = whole(path, crc)
        return known[path]

    one = framed(b"a")
    for read, found in ((whole, [b"a", b"a"]), (once, [])):
        assert records_read.procedure(read, one + one, earlier=one)["records"] == found


def test_the_checksum_is_one_of_bytes() -> None:
    with pytest.raises(TypeError, match="bytearray"):
        records_read.procedure(lambda path, crc: crc(bytearray(8)), b"")


def test_a_missing_file_raises_what_the_reader_raises() -> None:
    with pytest.raises(FileNotFoundError):
        records_read.procedure(whole, None)
    seen = records_read.procedure(lambda path, crc: [], None)
    assert seen == {"records": [], "left": None}
