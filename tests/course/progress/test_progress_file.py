"""Progress is written as JSON that reads back the same, and a bad file is named with the reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course.progress.progress_file import (
    MOST_BYTES,
    Checks,
    Kept,
    ProgressError,
    merged,
    read,
    write,
)
from course.testing.attempts import Best

HALF = Best(1.0, 2.0, 3, "def half(x):\n    return x / 2  # ½")
results = st.builds(
    lambda most, share, attempts, answer: Best(most * share, most, attempts, answer),
    st.integers(1, 9).map(float),
    st.sampled_from([0.0, 0.25, 0.5, 1.0]),
    st.integers(0, 99),
    st.text(max_size=20).filter(lambda text: text.isprintable()),
)
lessons = st.dictionaries(
    st.sampled_from(["04-memory-layout", "05-autograd"]),
    st.dictionaries(st.sampled_from(["half", "third-part"]), results),
)

checks = st.builds(lambda of, missed: Checks(max(of - missed, 0), of), *[st.integers(0, 9)] * 2)
kept = st.builds(
    Kept,
    lessons,
    st.dictionaries(
        st.sampled_from(["04-memory-layout", "05-autograd"]),
        st.dictionaries(st.sampled_from(["half", "third-part"]), checks),
    ),
    st.dictionaries(st.sampled_from(["a-claim", "b"]), st.sampled_from(["true", "false"])),
)


def content(**changes: Any) -> bytes:
    """A sound file with one result, changed."""
    one = {"04-memory-layout": {"half": vars(HALF)}}
    sound = {"format": "pytorch-measured progress", "version": 1, "lessons": one}
    return json.dumps(sound | changes).encode()


def of(**changes: Any) -> bytes:
    """A file whose one result is changed."""
    return content(lessons={"04-memory-layout": {"half": vars(HALF) | changes}})


@given(kept)
def test_what_was_written_is_read(tmp_path_factory: pytest.TempPathFactory, found: Kept) -> None:
    path = tmp_path_factory.mktemp("progress") / "progress.json"
    write(path, found)
    assert read(path.read_bytes()) == found
    assert [one.name for one in path.parent.iterdir()] == ["progress.json"]


def test_the_file_can_be_read_by_eye(tmp_path: Path) -> None:
    results = {"half": Best(1.0, 2.0, 3, "half = ½")}
    write(tmp_path / "p.json", Kept({"04-memory-layout": results}))
    assert (tmp_path / "p.json").read_text("utf-8") == (
        '{\n "format": "pytorch-measured progress",\n "version": 1,\n "lessons": {\n'
        '  "04-memory-layout": {\n   "half": {\n    "score": 1.0,\n    "max": 2.0,\n'
        '    "attempts": 3,\n    "answer": "half = ½"\n   }\n  }\n }\n}\n'
    )


@given(kept, kept)
def test_merging_loses_nothing_and_repeats_nothing(one: Kept, other: Kept) -> None:
    both = merged(one, other)
    assert merged(both, other) == merged(both, one) == both
    assert both.lessons.keys() == one.lessons.keys() | other.lessons.keys()
    assert both.predictions == {**other.predictions, **one.predictions}
    for kind in ("lessons", "checks"):
        mine, theirs = getattr(one, kind), getattr(other, kind)
        for slug, found in getattr(both, kind).items():
            for name, best in found.items():
                known = [part[slug][name] for part in (mine, theirs) if name in part.get(slug, {})]
                assert best.share == max(each.share for each in known)


def test_a_file_of_the_first_edition_is_read_as_it_was() -> None:
    assert read(content()) == Kept({"04-memory-layout": {"half": HALF}})


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "p.json is not JSON"),
        (b"{", "p.json is not JSON"),
        (b"\xff\xfe", "p.json is not JSON"),
        (b"[" * 100_000, "p.json is not JSON"),
        (b" " * (MOST_BYTES + 1), "p.json is too large"),
        (b"[]", "p.json is JSON, but not your progress"),
        (b'{"cells": []}', "p.json is JSON, but not your progress"),
        (content(version=2), r"written by another edition of the course \(version 2"),
        (content(lessons=[]), "p.json is damaged at lessons"),
        (content(lessons={"../x": {}}), r"p.json is damaged at \.\./x"),
        (content(lessons={"04-a": {"half": 4}}), "damaged at 04-a, half"),
        (of(score="1"), "damaged at 04-memory-layout, half"),
        (of(score=3.0), "damaged at 04-memory-layout, half"),
        (of(score=-1), "damaged at"),
        (of(max=float("inf")), "damaged at"),
        (of(score=float("nan")), "damaged at"),
        (of(attempts=1.5), "damaged at"),
        (of(answer=None), "damaged at"),
        (content(checks=3), "damaged at checks"),
        (content(checks={"04-a": {"half": {"held": 3, "of": 2}}}), "damaged at 04-a, half"),
        (content(checks={"04-a": {"half": {"held": "1", "of": 2}}}), "damaged at 04-a, half"),
        (content(predictions={"a": "perhaps"}), "damaged at a"),
        (content(predictions=["a"]), "damaged at predictions"),
        (content(predictions={"a": []}), "damaged at a"),
    ],
)
def test_a_bad_file_is_named_with_the_reason(raw: bytes, reason: str) -> None:
    with pytest.raises(ProgressError, match=reason):
        read(raw, "p.json")


def test_a_notebook_shows_the_reason_and_no_calls() -> None:
    assert ProgressError("It is damaged.")._render_traceback_() == ["It is damaged."]
