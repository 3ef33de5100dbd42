"""Frames carry JSON and bytes both ways; anything else is refused before memory is taken for it."""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Iterator

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from autograder.engine.protocol.frames import (
    LIMITS,
    Frame,
    FrameError,
    FrameLimits,
    FrameReader,
    TooLarge,
    endpoint,
    pack,
)
from course.testing.observe import from_wire, observe_to_wire
from course.testing.recording import Options

SCALARS = st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False)
FINITE = SCALARS.filter(lambda x: not (isinstance(x, float) and math.isinf(x)))
BODIES = st.recursive(
    FINITE | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def read_all(data: bytes, *, piece: int) -> Iterator[Frame]:
    reader = FrameReader()
    for start in range(0, len(data), piece):
        reader.feed(data[start : start + piece])
        while (frame := reader.next()) is not None:
            yield frame


@given(st.lists(st.tuples(BODIES, st.lists(st.binary(max_size=50), max_size=3)), max_size=4))
def test_frames_arrive_as_they_were_sent_however_the_bytes_are_cut(sent: list) -> None:
    data = b"".join(pack(1, n, body, bufs) for n, (body, bufs) in enumerate(sent))
    for piece in (1, 7, 4096):
        assert [(f.body(), f.buffers()) for f in read_all(data, piece=piece)] == sent


@given(BODIES, st.lists(st.binary(max_size=50), max_size=3))
def test_the_two_ends_of_a_pipe_agree(body: object, buffers: list[bytes]) -> None:
    read_fd, write_fd = os.pipe()
    try:
        endpoint(write_fd)[0](3, 7, body, buffers)
        assert endpoint(read_fd)[1]() == (3, 7, body, buffers)
    finally:
        os.close(read_fd)
        os.close(write_fd)


@st.composite
def tensors(draw: st.DrawFn) -> torch.Tensor:
    """Tensors of all layouts: transposed, offset, stepped, expanded."""
    shape = draw(st.lists(st.integers(0, 4), min_size=1, max_size=3))
    tensor = torch.arange(float(math.prod(shape) + 3))[3:].view(shape)
    if draw(st.booleans()):
        tensor = tensor.transpose(0, -1)
    if draw(st.booleans()):
        tensor = tensor[:: draw(st.integers(1, 3))]
    return tensor.unsqueeze(0).expand(2, *tensor.shape) if draw(st.booleans()) else tensor


@given(st.lists(tensors(), min_size=1, max_size=3))
def test_an_observation_survives_the_way_through_frames(arguments: list[torch.Tensor]) -> None:
    def run(*args: torch.Tensor) -> list[torch.Tensor]:
        return [args[0].reshape(-1), *args]

    header, (before, after) = observe_to_wire(run, tuple(arguments), {}, Options(), None)
    (frame,) = read_all(pack(36, 1, header, [*before, *after]), piece=1000)
    found = frame.buffers()
    seen = from_wire(frame.body(), [found[: len(before)], found[len(before) :]], "run")
    for index, argument in enumerate(arguments):
        assert seen.args[index].facts.stride == argument.stride()
        assert torch.equal(seen.result[index + 1].plain, argument)


HEAD = struct.Struct("<4sBxHQI")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"x" * 40, "do not begin as a frame does"),
        (HEAD.pack(b"PMf1", 1, 0, 0, 2**31), "announces more than one may hold"),
        (HEAD.pack(b"PMf1", 1, 60_002, 0, 2), "announces more than one may hold"),
        (HEAD.pack(b"PMf1", 1, 1, 0, 2) + struct.pack("<Q", 2**60), "has more bytes than one may"),
    ],
)
def test_what_is_no_frame_is_refused_at_its_head(data: bytes, reason: str) -> None:
    reader = FrameReader()
    reader.feed(data)
    with pytest.raises(FrameError, match=reason):
        reader.next()


@pytest.mark.parametrize(
    "text",
    ["NaN", "Infinity", "-1e400", '{"a":1,"a":2}', "[" * 100_000, "{", "1" * 5_000, "\ud800", ""],
    ids=[
        "nan",
        "infinity",
        "beyond all floats",
        "double key",
        "nested",
        "open",
        "digits",
        "surrogate",
        "empty",
    ],
)
def test_json_that_is_not_strict_is_refused(text: str) -> None:
    raw = text.encode("utf-8", "surrogatepass")
    frame = Frame(1, 1, raw, (0, len(raw)))
    with pytest.raises(FrameError, match="not strict JSON"):
        frame.body()


@given(st.binary(max_size=200))
def test_random_bytes_are_a_frame_or_an_error_and_never_anything_else(data: bytes) -> None:
    reader = FrameReader(FrameLimits(total_nbytes=10_000))
    reader.feed(b"PMf1" + data)
    try:
        frame = reader.next()
        if frame is not None:
            frame.body()
    except FrameError:
        pass


def test_a_frame_that_would_be_refused_is_not_written() -> None:
    read_fd, write_fd = os.pipe()
    (send, _), (_, receive) = endpoint(write_fd), endpoint(read_fd)
    for body, buffers in (("x" * LIMITS.body_nbytes, ()), ("", (bytes(LIMITS.total_nbytes),))):
        with pytest.raises(TooLarge):
            send(1, 1, body, buffers)
    send(1, 2, "short")
    assert receive()[1:3] == (2, "short")
    os.close(read_fd)
    os.close(write_fd)


def test_an_endpoint_does_not_notice_that_its_modules_were_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read_fd, write_fd = os.pipe()
    (send, _), (_, receive) = endpoint(write_fd), endpoint(read_fd)
    with monkeypatch.context() as patch:
        for target in ("json.dumps", "json.loads", "os.read", "os.write", "struct.Struct.pack"):
            if target != "struct.Struct.pack":
                patch.setattr(target, None)
        send(5, 1, {"still": "here"}, ())
        found = receive()
    os.close(read_fd)
    os.close(write_fd)
    assert found == (5, 1, {"still": "here"}, [])
