"""Which pictures a page shows: those that a browser soon has drawn."""

from __future__ import annotations

import io
import struct

import pytest
from PIL import Image

from autograder.nbgrader_bridge.drawings import is_small


def picture(width: int, height: int, form: str = "PNG") -> bytes:
    """A picture of one colour."""
    held = io.BytesIO()
    Image.new("L", (width, height)).save(held, form)
    return held.getvalue()


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP"])
def test_a_picture_as_large_as_a_photo_is_shown(form: str) -> None:
    assert is_small(picture(4000, 3000, form))


def test_a_few_kilobytes_that_unpack_to_gigabytes_are_not() -> None:
    bomb = picture(20_000, 20_000)
    assert len(bomb) < 100_000 * 8
    assert not is_small(bomb)


@pytest.mark.parametrize("odd", [b"", b"hi", b"\x89PNG\r\n\x1a\n", picture(9, 9, "BMP")])
def test_what_is_no_picture_is_not_shown(odd: bytes) -> None:
    assert not is_small(odd)


def test_the_size_is_that_of_the_head_and_nothing_is_unpacked() -> None:
    png = bytearray(picture(10, 10))
    png[16:24] = struct.pack(">II", 2**31 - 1, 2**31 - 1)
    assert not is_small(bytes(png))
