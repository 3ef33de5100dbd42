"""An outcome is taken over where every reply is known, and signed; a checker goes on elsewhere."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, ClassVar, cast

import pytest

from autograder.engine.kernel.shell import Part
from autograder.engine.limits import Limits
from autograder.engine.outcomes import CellOutcome, Failure, FailureCause
from autograder.engine.protocol.channel import ChannelClosed, DeadlinePassed
from autograder.engine.protocol.frames import Frame, FrameReader, Kind, endpoint, pack
from autograder.engine.protocol.transcript import Told, Transcript
from autograder.engine.worker.checker_client import CellPart, Checked
from autograder.engine.worker.deadline import Deadline
from autograder.engine.worker.execution import Execution, Material
from autograder.engine.worker.known_tests import KnownTests, Replay
from autograder.engine.worker.siblings import Siblings

KEY = b"k" * 32
TEST = CellPart("check.score(2)", Part.VISIBLE, 3, 2)
OUTCOME = CellOutcome(({"output_type": "stream", "name": "stdout", "text": "2 of 2"},), 2)


def signed(number: int, body: Any, key: bytes = KEY, kind: Kind = Kind.REPLY) -> Frame:
    """A reply as the measuring code sends it."""
    read, write = os.pipe()
    try:
        endpoint(write)[0](
            kind,
            number,
            body,
            (),
            lambda parts: blake2b(b"".join(parts), key=key, digest_size=16).digest(),
        )
        reader = FrameReader()
        reader.feed(os.read(read, 10_000))
    finally:
        os.close(read)
        os.close(write)
    frame = reader.next()
    assert frame is not None
    return frame


@dataclass
class FakeSnapshot:
    """A connection to a snapshot that gives these replies, or raises them."""

    replies: list[Any]
    key: bytes = KEY
    silent: bool = True
    number: int | None = None  # of its replies, instead of the request's
    asked: list[bytes] = field(default_factory=list)

    @property
    def student(self) -> FakeSnapshot:
        return self

    def is_silent(self) -> bool:
        return self.silent

    def take_pending(self) -> bytes:
        return b"half a reply"

    def ask(self, raw: bytes, number: int, until: Deadline) -> Frame:
        self.asked.append(raw)
        reply = self.replies[len(self.asked) - 1]
        if isinstance(reply, Exception):
            raise reply
        body, key = reply if isinstance(reply, tuple) else (reply, KEY)
        return signed(number if self.number is None else self.number, body, key)


def request(name: str) -> bytes:
    return pack(Kind.ASK, 1, {"target": ["answer", name]})


def checked(*replies: Any, outcome: CellOutcome = OUTCOME, **about: Any) -> Checked:
    """What a checker reports of a cell that asked once for each of these replies."""
    transcript, asked = Transcript(TEST.source, TEST.count), []
    for at, reply in enumerate(replies):
        asked.append((transcript.state, request(f"f{at}")))
        transcript.add(signed(9, reply), ())
    return Checked(outcome, transcript.state, tuple(asked), about.get("changes_others", False))


def follow(known: KnownTests, snapshot: FakeSnapshot) -> Any:
    replay = known.begin(TEST)
    assert replay is not None
    until = Deadline(1.0, 1.0, time.process_time)
    return replay.follow(snapshot, until), replay  # type: ignore[arg-type]


@pytest.fixture
def known() -> KnownTests:
    found = KnownTests()
    found.learn(checked({"header": 1}, {"header": 2}))
    return found


def test_an_outcome_is_taken_over_where_all_replies_are_known(known: KnownTests) -> None:
    snapshot = FakeSnapshot([{"header": 1}, {"header": 2}])
    outcome, replay = follow(known, snapshot)
    assert outcome == OUTCOME
    assert snapshot.asked == [request("f0"), request("f1")]
    assert [bool(one.reply) for one in replay.told] == [True, True]


@pytest.mark.parametrize(
    ("replies", "told"),
    [
        ([{"header": 3}], [True]),
        ([{"header": 1}, {"header": 3}], [True, True]),
        ([{"header": 1}, ({"header": 2}, b"another key")], [True, True]),
        ([{"header": 1}, ChannelClosed()], [True, False]),
        ([DeadlinePassed()], [False]),
    ],
    ids=["another", "another later", "not signed", "it ended", "too late"],
)
def test_a_checker_goes_on_where_something_else_comes(
    known: KnownTests, replies: list[Any], told: list[bool]
) -> None:
    outcome, replay = follow(known, FakeSnapshot(replies))
    assert outcome is None
    assert [bool(one.reply) for one in replay.told] == told


def test_a_snapshot_that_speaks_unasked_is_not_asked(known: KnownTests) -> None:
    snapshot = FakeSnapshot([], silent=False)
    outcome, replay = follow(known, snapshot)
    assert (outcome, snapshot.asked, replay.told) == (None, [], [])


def test_a_reply_to_another_request_is_a_checkers_affair(known: KnownTests) -> None:
    outcome, replay = follow(known, FakeSnapshot([{"header": 1}], number=5))
    assert (outcome, len(replay.told)) == (None, 1)


def test_the_rest_begins_where_the_visible_part_has_ended(known: KnownTests) -> None:
    _, replay = follow(known, FakeSnapshot([{"header": 1}, {"header": 2}]))
    asked = list(replay.told)
    replay.begin_rest()
    assert (replay.visible, replay.told, replay.test.part) == (asked, [], Part.REST)
    until = Deadline(1.0, 1.0, time.process_time)
    assert replay.follow(FakeSnapshot([]), until) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "outcome",
    [
        CellOutcome(failure=Failure(FailureCause.CRASHED, "ended")),
        CellOutcome(memory_error=True),
    ],
    ids=["failed", "lacked memory"],
)
def test_what_failed_once_is_tried_anew(outcome: CellOutcome) -> None:
    known = KnownTests()
    known.learn(checked({"header": 1}, outcome=outcome))
    assert follow(known, FakeSnapshot([{"header": 1}]))[0] is None


def test_nothing_is_known_of_cells_that_depend_on_each_other(known: KnownTests) -> None:
    known.learn(checked({"header": 4}, changes_others=True))
    assert known.begin(TEST) is None


def test_nothing_is_learnt_where_others_have_filled_the_memory() -> None:
    known = KnownTests()
    known.learn(replace(checked({"header": 1}), is_crowded=True))
    assert follow(known, FakeSnapshot([{"header": 1}]))[0] is None


def test_nothing_is_known_of_cells_that_ask_differently_each_time(known: KnownTests) -> None:
    other = checked({"header": 1})
    state, _ = other.asked[0]
    known.learn(Checked(OUTCOME, other.state, ((state, request("g")),), False))
    assert known.begin(TEST) is None


@pytest.fixture
def two(tmp_path: Path) -> tuple[Siblings, Siblings]:
    one, other = Siblings.family(2, tmp_path)
    return one, other


def test_what_one_worker_has_found_the_other_takes_over(two: tuple[Siblings, Siblings]) -> None:
    finder, known = (KnownTests("04", one) for one in two)
    finder.learn(checked({"header": 1}, {"header": 2}))
    snapshot = FakeSnapshot([{"header": 1}, {"header": 2}])
    assert follow(known, snapshot)[0] == OUTCOME
    assert snapshot.asked == [request("f0"), request("f1")]


def test_another_lesson_is_not_meant(two: tuple[Siblings, Siblings]) -> None:
    finder, known = KnownTests("04", two[0]), KnownTests("05", two[1])
    finder.learn(checked({"header": 1}))
    assert follow(known, FakeSnapshot([{"header": 1}]))[0] is None


def test_where_one_worker_gives_up_the_other_does(two: tuple[Siblings, Siblings]) -> None:
    finder, known = (KnownTests("04", one) for one in two)
    known.learn(checked({"header": 1}))
    finder.learn(checked({"header": 4}, changes_others=True))
    assert known.begin(TEST) is None


def test_two_workers_whose_cells_ask_differently_give_up(two: tuple[Siblings, Siblings]) -> None:
    one, other = (KnownTests("04", one) for one in two)
    asked = checked({"header": 1})
    state, _ = asked.asked[0]
    one.learn(asked)
    other.learn(Checked(OUTCOME, asked.state, ((state, request("g")),), False))
    assert other.begin(TEST) is None  # it hears of what the first one has found
    assert one.begin(TEST) is None


def test_a_checker_that_goes_on_in_the_rest_gets_there_what_has_come_of_a_reply() -> None:
    class FakeChecker:
        runs: ClassVar[list[Any]] = []

        def set_up(self, source: str, until: Deadline) -> None:
            pass

        def cpu_s(self) -> float:
            return 0.0

        def run(self, test: CellPart, *args: Any) -> Checked:
            self.runs.append((test.part, *args[2:]))
            return Checked(OUTCOME, b"", (), False)

    known, snapshot = KnownTests(), FakeSnapshot([])
    replay = Replay(known, TEST, told=[Told(b"f", 1, b"whole")])
    replay.begin_rest()
    replay.told.append(Told(b"g", 2))
    execution = Execution(
        *((), Material(""), Limits()),
        fork_student=lambda: pytest.fail("no student is needed"),
        fork_checker=lambda: cast(Any, FakeChecker()),
        known=known,
    )
    until = Deadline(1.0, 1.0, time.process_time)
    outcome = execution._check(replay.test, replay, cast(Any, snapshot), until)
    assert outcome == OUTCOME
    assert FakeChecker.runs == [
        (Part.VISIBLE, [Told(b"f", 1, b"whole")]),
        (Part.REST, [Told(b"g", 2)], b"half a reply"),
    ]
