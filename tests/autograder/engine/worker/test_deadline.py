"""A cell's time is processor time; the clock only ends what waits."""

from __future__ import annotations

from dataclasses import dataclass

from autograder.engine.worker.deadline import Deadline


@dataclass
class Machine:
    """A clock, and a program that gets this part of a processor."""

    share: float
    now: float = 1000.0
    looks: int = 0

    def clock(self) -> float:
        return self.now

    def used(self) -> float:
        self.looks += 1
        return 50.0 + (self.now - 1000.0) * self.share  # what cells before it have used: 50 s


def ended_after(machine: Machine, cores: int = 1) -> tuple[float, str]:
    """Seconds on the clock until a cell of 10 s that never ends is stopped, and why."""
    deadline = Deadline(10.0, 30.0, machine.used, clock=machine.clock, cores=cores)
    while True:
        machine.now = deadline.at
        if not deadline.extend():
            return machine.now - 1000.0, deadline.reason


def test_what_computes_all_the_time_ends_when_its_seconds_are_used() -> None:
    assert ended_after(Machine(1.0)) == (
        10.0,
        "used more than a cell's 10 s of processor time and was stopped",
    )


def test_on_a_busy_machine_the_same_seconds_take_longer() -> None:
    seconds, reason = ended_after(Machine(0.5))
    assert 19.0 <= seconds <= 20.0
    assert "10 s of processor time" in reason


def test_several_processes_use_their_seconds_together() -> None:
    seconds, reason = ended_after(Machine(4.0), cores=4)
    assert seconds <= 3.5
    assert "10 s of processor time" in reason


def test_a_reader_that_always_finds_something_asks_whether_it_is_over() -> None:
    machine = Machine(1.0)
    deadline = Deadline(10.0, 30.0, machine.used, clock=machine.clock, cores=1)
    assert not deadline.is_over()
    assert machine.looks == 0  # which takes time
    while not deadline.is_over():
        machine.now += 0.01
    assert 9.9 < machine.now - 1000.0 < 10.1


def test_what_waits_is_ended_by_the_clock() -> None:
    assert ended_after(Machine(0.0)) == (
        30.0,
        "ran longer than a cell's 30 s on the clock and was stopped",
    )


def test_nobody_is_asked_about_a_cell_that_ends_within_a_second() -> None:
    machine = Machine(1.0)
    assert Deadline(10.0, 30.0, machine.used, clock=machine.clock).at == 1001.0
    assert machine.looks == 0


def test_a_sleeper_is_looked_at_a_few_times_only() -> None:
    machine = Machine(0.0)
    ended_after(machine)
    assert machine.looks <= 5


def test_without_any_time_the_first_look_ends_it() -> None:
    machine = Machine(1.0)
    deadline = Deadline(10.0, 0.0, machine.used, clock=machine.clock)
    assert deadline.at == machine.now
    assert not deadline.extend()
