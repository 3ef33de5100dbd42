"""The width and the height of a picture, from its head.

A library also reads what else stands there, texts and camera data, and takes time by the square of
their number, or unpacks them.  Here each part is only stepped over, and so many of them at most.
Where browsers and this could read two different sizes, there is none.
"""

from __future__ import annotations

import re
import struct

MOST_PARTS = 10_000  # before the size; a photo with its thumbnail, colours and texts has a hundred
_PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
_JPEG = b"\xff\xd8\xff"
_GIF = (b"GIF87a", b"GIF89a")
_JPEG_MARKER = re.compile(rb"\xff[^\xff\x00]")
_JPEG_ALONE = {0x01, *range(0xD0, 0xD8)}  # markers that have no length
_JPEG_SIZES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}
_JPEG_BEGIN_OR_END = {0xD8, 0xD9, 0xDA}
_GIF_EXTENSION, _GIF_IMAGE, _GIF_CONTROL = 0x21, 0x2C, 0xF9


def size_of(picture: bytes) -> tuple[int, int] | None:
    """Width and height of a PNG, JPEG, GIF or WebP; None for what is none, or an odd one.

    Args:
        picture: All of it, or its head.

    >>> size_of(b"GIF89a" + bytes([9, 0, 7, 0, 0, 0, 0, 0x2C, 0, 0, 0, 0, 9, 0, 7, 0]))
    (9, 7)
    """
    try:
        if picture.startswith(_PNG):
            width, height = struct.unpack_from(">II", picture, 16)
            return width, height
        if picture.startswith(_JPEG):
            return _of_jpeg(picture)
        if picture.startswith(_GIF):
            return _of_gif(picture)
        if picture.startswith(b"RIFF") and picture[8:12] == b"WEBP":
            return _of_webp(picture)
    except (struct.error, IndexError):  # it ends too soon
        pass
    return None


def _of_jpeg(picture: bytes) -> tuple[int, int] | None:
    at = 2
    for _ in range(MOST_PARTS):
        found = _JPEG_MARKER.search(picture, at)
        if found is None:
            return None
        kind, at = found.group()[1], found.end()
        if kind in _JPEG_BEGIN_OR_END:
            return None
        if kind in _JPEG_SIZES:
            height, width = struct.unpack_from(">HH", picture, at + 3)
            return width, height
        if kind not in _JPEG_ALONE:
            (nbytes,) = struct.unpack_from(">H", picture, at)
            at += max(nbytes, 2)  # which counts itself
    return None


def _of_gif(picture: bytes) -> tuple[int, int] | None:
    """Of the screen, or of the first image where that is larger: browsers take both together."""
    width, height, colours = struct.unpack_from("<HHB", picture, 6)
    at = 13 + (3 << (colours % 8 + 1) if colours & 0x80 else 0)
    is_inside = False  # of an extension: blocks, each after its length, the last of length 0
    for _ in range(MOST_PARTS):
        if is_inside:
            is_inside = picture[at] > 0
            at += 1 + picture[at]
        elif picture[at] == _GIF_EXTENSION:
            if picture[at + 1] == _GIF_CONTROL and picture[at + 2] != 4:
                return None  # of any other length browsers go on at different places
            is_inside = True
            at += 2
        elif picture[at] == _GIF_IMAGE:
            x, y, its_width, its_height = struct.unpack_from("<HHHH", picture, at + 1)
            return max(width, x + its_width), max(height, y + its_height)
        else:
            return None
    return None


def _of_webp(picture: bytes) -> tuple[int, int] | None:
    kind = picture[12:16]
    if kind == b"VP8X":  # others follow, none of them larger
        low_width, high_width, low_height, high_height = struct.unpack_from("<HBHB", picture, 24)
        return (high_width << 16) + low_width + 1, (high_height << 16) + low_height + 1
    if kind == b"VP8L" and picture[20] == 0x2F:
        (both,) = struct.unpack_from("<I", picture, 21)
        return both % 2**14 + 1, (both >> 14) % 2**14 + 1
    if kind == b"VP8 " and picture[23:26] == b"\x9d\x01\x2a":
        width, height = struct.unpack_from("<HH", picture, 26)
        return width % 2**14, height % 2**14
    return None
