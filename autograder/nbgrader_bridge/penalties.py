"""Late penalties, as nbgrader gives them.

The course's own plugin is asked with all points of the notebook, those by hand among them, and
what it takes off lies between nothing and all of them: nbgrader's `AssignLatePenalties`.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from nbgrader.api import SubmittedAssignment
from nbgrader.preprocessors import AssignLatePenalties
from traitlets import TraitError
from traitlets.config import Config

from autograder.errors import AutograderError

_DAY = 86_400  # seconds


class PolicyError(AutograderError):
    """The course's plugin for late penalties cannot be used."""


@dataclass(frozen=True)
class PenaltyChange:
    """A late penalty that is another one now, though the submission is the same."""

    student: str
    before: float
    after: float


class LatePolicy:
    """The penalty that a course configures."""

    def __init__(self, config: Config) -> None:
        """Load the course's plugin.

        Raises:
            PolicyError: `AssignLatePenalties.plugin_class` names nothing that can be imported.
        """
        try:
            late = AssignLatePenalties(config=config)
            late.log.setLevel(logging.ERROR)  # lateness stands in the gradebook and the report
            late.init_plugin()
        except (TraitError, ImportError) as error:
            raise _failed(error) from error
        self._plugin = late.plugin_inst

    def penalty(self, student: str, score: float, seconds: float) -> float | None:
        """What is taken off `score` for `seconds` of lateness; None where nothing is.

        Args:
            student: The id, for the plugin.
            score: All points of the notebook, those by hand among them.
            seconds: Of lateness; 0 and less is in time.

        Returns:
            Points between 0 and `score`.

        Raises:
            PolicyError: The plugin fails, or returns no number.
        """
        if seconds <= 0:
            return None
        try:
            asked = self._plugin.late_submission_penalty(student, score, seconds)
            return None if asked is None else min(max(0.0, float(asked)), score)
        except Exception as error:  # it is the course's own code
            raise _failed(error, f" for {student}, late by {seconds / _DAY:,.1f} days") from error


def seconds_late(submission: SubmittedAssignment) -> float:
    """By how much the due date was missed, an extension counted.

    nbgrader's own property fails where somebody has an extension and the lesson no due date.
    """
    if submission.assignment.duedate is None:
        return 0.0
    return float(submission.total_seconds_late)


def _failed(error: Exception, whom: str = "") -> PolicyError:
    return PolicyError(
        f"the plugin for late penalties failed{whom}: {type(error).__name__}: {error}",
        place="nbgrader_config.py",
        remedy="Mend AssignLatePenalties.plugin_class or its settings, then run `autograder grade` "
        "again: what was graded is in the journal.",
    )
