"""Which pictures a page shows: those that a browser soon has drawn."""

from __future__ import annotations

import io
import struct
import time

import pytest
from PIL import Image

from autograder.nbgrader_bridge.drawings import is_tame_svg, pixels


def picture(width: int, height: int, form: str = "PNG") -> bytes:
    """A picture of one colour."""
    held = io.BytesIO()
    Image.new("L", (width, height)).save(held, form)
    return held.getvalue()


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP"])
def test_a_picture_as_large_as_a_photo_is_shown(form: str) -> None:
    assert pixels(picture(4000, 3000, form)) == 12_000_000


def test_a_few_kilobytes_that_unpack_to_gigabytes_are_not() -> None:
    bomb = picture(20_000, 20_000)
    assert len(bomb) < 100_000 * 8
    assert pixels(bomb) is None


@pytest.mark.parametrize("odd", [b"", b"hi", b"\x89PNG\r\n\x1a\n", picture(9, 9, "BMP")])
def test_what_is_no_picture_is_not_shown(odd: bytes) -> None:
    assert pixels(odd) is None


def test_the_size_is_that_of_the_head_and_nothing_is_unpacked() -> None:
    png = bytearray(picture(10, 10))
    png[16:24] = struct.pack(">II", 2**31 - 1, 2**31 - 1)
    assert pixels(bytes(png)) is None


def test_blanks_in_the_style_of_a_drawing_take_no_time() -> None:
    """They took the square of their number: a few hours for four million."""
    begun = time.process_time()
    style = f"<style>{' ' * 100_000}x</style>"
    assert not is_tame_svg(f'<svg xmlns="http://www.w3.org/2000/svg">{style}</svg>')
    assert time.process_time() - begun < 5
