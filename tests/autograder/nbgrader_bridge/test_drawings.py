"""Which pictures a page shows: those that a browser soon has drawn."""

from __future__ import annotations

import io
import struct
import time
from collections.abc import Callable

import pytest
from PIL import ExifTags, Image, ImageCms, PngImagePlugin

from autograder.nbgrader_bridge.drawings import is_tame_svg, pixels
from autograder.nbgrader_bridge.picture_heads import MOST_PARTS, size_of


def picture(
    width: int, height: int, form: str = "PNG", mode: str = "L", **how_saved: object
) -> bytes:
    """A picture of one colour."""
    held = io.BytesIO()
    Image.new(mode, (width, height)).save(held, form, **how_saved)
    return held.getvalue()


def of_a_camera() -> bytes:
    """What stands in a photo: where, when and by what it was taken, and a thumbnail of 60 kB."""
    about = Image.Exif()
    about[ExifTags.Base.Make] = "a camera"
    about.get_ifd(ExifTags.IFD.GPSInfo)[ExifTags.GPS.GPSLatitudeRef] = "N"
    about.get_ifd(ExifTags.IFD.Exif)[ExifTags.Base.MakerNote] = picture(90, 60, "JPEG") * 150
    found = about.tobytes()
    assert 50_000 < len(found) < 65_000
    return found


def texts() -> PngImagePlugin.PngInfo:
    """What a drawing program writes of itself."""
    found = PngImagePlugin.PngInfo()
    found.add_text("Software", "matplotlib")
    found.add_text("Packed", "long " * 10_000, zip=True)
    found.add_itxt("XML:com.adobe.xmp", "é" * 100_000, zip=True)
    return found


SRGB = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
OTHERS = [Image.new("P", (30, 20), n) for n in range(3)]
HONEST: list[tuple[str, str, dict[str, object]]] = [
    ("PNG", "1", {}),
    ("PNG", "P", {"transparency": 0}),
    ("PNG", "RGBA", {"pnginfo": texts(), "icc_profile": SRGB, "exif": of_a_camera()}),
    ("PNG", "I;16", {}),
    ("PNG", "L", {"save_all": True, "append_images": OTHERS}),
    ("JPEG", "L", {}),
    ("JPEG", "CMYK", {}),
    ("JPEG", "RGB", {"exif": of_a_camera(), "icc_profile": SRGB, "comment": "by a phone"}),
    ("JPEG", "RGB", {"exif": of_a_camera(), "icc_profile": SRGB * 600}),  # in many segments
    ("JPEG", "RGB", {"progressive": True, "optimize": True, "exif": of_a_camera()}),
    ("JPEG", "RGB", {"restart_marker_rows": 1, "quality": 100, "subsampling": 0, "dpi": (72, 72)}),
    ("MPO", "RGB", {"save_all": True, "append_images": [Image.new("RGB", (10, 10))]}),
    ("GIF", "P", {}),
    ("GIF", "L", {"comment": b"drawn by hand " * 5_000, "transparency": 0}),
    ("GIF", "P", {"save_all": True, "append_images": OTHERS, "loop": 0, "duration": 100}),
    ("WEBP", "RGB", {}),
    ("WEBP", "RGBA", {"lossless": True}),
    ("WEBP", "RGBA", {"exif": of_a_camera(), "icc_profile": SRGB, "xmp": b"<x/>" * 9_000}),
    ("WEBP", "RGB", {"save_all": True, "append_images": OTHERS, "duration": 100}),
]
FRAME = b"\xff\xc0\x00\x0b\x08\x00\x10\x00\x20\x01\x01\x11\x00"  # 32 x 16, of a JPEG


@pytest.mark.parametrize(("form", "mode", "how_saved"), HONEST)
def test_honest_pictures_of_all_kinds_are_shown(
    form: str, mode: str, how_saved: dict[str, object]
) -> None:
    data = picture(30, 20, form, mode, **how_saved)
    assert size_of(data) == (30, 20)
    assert pixels(data) == 600


def of_segments(count: int) -> bytes:
    """A JPEG of many small parts with camera data: Pillow copies all before at each."""
    return b"\xff\xd8" + b"\xff\xe1\x00\x08Exif\0\0" * count + FRAME


def of_comments(count: int) -> bytes:
    """A GIF of many short comments."""
    screen = b"GIF89a" + struct.pack("<HHBBB", 32, 16, 0, 0, 0)
    image = b"\x2c" + struct.pack("<HHHHB", 0, 0, 32, 16, 0)
    return screen + (b"\x21\xfe" + b"\x01x" * count + b"\0") + image


@pytest.mark.parametrize("made", [of_segments, of_comments])
def test_so_many_parts_are_stepped_over_before_a_size_and_no_more(
    made: Callable[[int], bytes],
) -> None:
    """Minutes went into 900,000 of them, before anything was shown of the class."""
    assert size_of(made(MOST_PARTS - 5)) == (32, 16)
    assert size_of(made(MOST_PARTS)) is None


def test_of_a_png_nothing_is_read_but_the_size() -> None:
    """Pillow unpacks its texts, of 1 MB each."""
    assert size_of(picture(30, 20, pnginfo=texts())[:24]) == (30, 20)


@pytest.mark.parametrize(
    ("between", "size"),
    [
        (b"\xff\xff\xff", (32, 16)),  # may stand before each marker
        (b"\0\0 \xff\0 \xff\xd0", (32, 16)),  # skipped, as browsers do
        (b"\xff\xe1\x00\x0f" + FRAME, (32, 16)),  # a thumbnail's
        (b"\xff\xe1\x00\x00", (32, 16)),  # its length counts its own two bytes
        (b"\xff\xd9", None),
        (b"\xff\xda\x00\x02", None),
    ],
)
def test_a_jpeg_is_read_as_browsers_do(between: bytes, size: tuple[int, int] | None) -> None:
    assert size_of(b"\xff\xd8\xff\xfe\x00\x02" + between + FRAME) == size


def test_a_gif_is_as_large_as_its_first_image_wherever_browsers_see_it() -> None:
    gif = bytearray(picture(30, 20, "GIF", transparency=0))
    at = gif.index(b"\x21\xf9\x04")
    image = gif.index(b"\x2c", at)
    gif[image + 1 : image + 9] = struct.pack("<HHHH", 1, 2, 5_000, 6_000)
    assert size_of(bytes(gif)) == (5_001, 6_002)
    assert pixels(bytes(gif)) is None
    gif[at + 2] = 0
    assert size_of(bytes(gif)) is None


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
