"""Everything that can go wrong outside a learner's code, in one tree.

    AutograderError            exit 1: something was found or failed; cause, place, remedy
    ├── UsageError             exit 2: the command line asks for what is not there
    │   ├── UnknownLesson
    │   └── UnknownStudent
    ├── LessonError            a lesson's source cannot be read or breaks a rule of its form
    ├── BankError              a file of answers breaks its form
    ├── ReleaseError           an edition cannot be built
    └── SimulationError        a simulated course cannot be written where it was asked for

The steps after intake (gradebook, feedback, report, the engine) define their own branches beside
what raises them.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class AutograderError(Exception):
    """A fault with its cause, and where known its place and remedy."""

    exit_code = 1

    def __init__(self, cause: str, *, place: str | None = None, remedy: str | None = None) -> None:
        """Keep the three parts apart, so that `--json` can print them one by one.

        Args:
            cause: What is wrong, with the values seen; begins in lower case.
            place: The file, address or command that it is about.
            remedy: What to do, as a sentence of its own.
        """
        self.cause, self.place, self.remedy = cause, place, remedy
        super().__init__(cause)

    def __str__(self) -> str:
        """The message as it is printed: place and cause on one line, the remedy on the next."""
        first = f"{self.place}: {self.cause}" if self.place else self.cause
        return f"{first}\n  {self.remedy}" if self.remedy else first

    def __reduce__(self) -> tuple[object, ...]:
        """Survive the way between processes with all three parts."""
        return _rebuild, (type(self), self.cause, self.place, self.remedy)


class UsageError(AutograderError):
    """The command line asks for something that is not there."""

    exit_code = 2


class UnknownLesson(UsageError):
    """No lesson has this number or name."""


class UnknownStudent(UsageError):
    """Nobody of this name handed anything in."""


class LessonError(AutograderError):
    """A lesson's source cannot be read, or breaks a rule of its form."""


class BankError(AutograderError):
    """A file of answers breaks its form."""


class ReleaseError(AutograderError):
    """An edition cannot be built from the source."""


class SimulationError(AutograderError):
    """A simulated course cannot be written there."""


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """` Did you mean X?` where one of `choices` is close to `word`, else nothing.

    Args:
        word: What was typed.
        choices: What there is.
    """
    close = difflib.get_close_matches(word, list(choices), n=1, cutoff=0.6)
    return f" Did you mean {close[0]}?" if close else ""


def _rebuild(
    kind: type[AutograderError], cause: str, place: str | None, remedy: str | None
) -> AutograderError:
    return kind(cause, place=place, remedy=remedy)
