"""Workers hear what the others have said, each of it once and in its order."""

from __future__ import annotations

import os
from pathlib import Path

from autograder.engine.worker.siblings import Siblings


def test_each_hears_the_others_and_not_itself(tmp_path: Path) -> None:
    family = Siblings.family(3, tmp_path)
    for name, one in zip("abc", family, strict=True):
        one.say("04", name)
    assert [sorted(one.listener("04").hear()) for one in family] == [
        ["b", "c"],
        ["a", "c"],
        ["a", "b"],
    ]


def test_what_comes_later_is_heard_later(tmp_path: Path) -> None:
    one, other = Siblings.family(2, tmp_path)
    listener = other.listener("04")
    assert list(listener.hear()) == []
    one.say("04", 1)
    one.say("05", 2)
    assert list(listener.hear()) == [1]
    one.say("04", bytes(100_000))
    assert list(listener.hear()) == [bytes(100_000)]
    assert list(listener.hear()) == []


def test_a_record_that_has_come_in_part_is_waited_for(tmp_path: Path) -> None:
    with (tmp_path / "file").open("w+b", buffering=0) as file:
        Siblings(file.fileno()).say("04", "word")
        whole = file.seek(0, os.SEEK_END)
        listener = Siblings(None, [file.fileno()]).listener("04")
        for nbytes in (4, whole - 1):
            file.truncate(nbytes)
            assert list(listener.hear()) == []
        file.truncate(0)
        Siblings(file.fileno()).say("04", "word")
        assert list(listener.hear()) == ["word"]


def test_a_worker_alone_writes_nothing(tmp_path: Path) -> None:
    (only,) = Siblings.family(1, tmp_path)
    only.say("04", "word")
    assert list(only.listener("04").hear()) == []
    assert list(tmp_path.iterdir()) == []
