"""What the notebooks of "PyTorch, measured" import: facts, observations, checks, figures.

A notebook imports from here, from `course.gpu`, `course.figures`, `course.widgets` and
`course.probes`, and from its own lesson's `course.lessons.NAME`, never from deeper. Nothing is
loaded before it is asked for, not even torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.lazy import lazy_names

if TYPE_CHECKING:
    from course.claims.quiz import predict, quiz
    from course.figures.storage import show_storage
    from course.guide.placement_quiz import placement
    from course.inspection.facts import facts, overlap, positions, same_storage
    from course.practice import warm_up
    from course.probes import probe
    from course.progress.carry import carry_progress
    from course.progress.start_page import lesson_map, lessons
    from course.progress.summary import lesson_progress
    from course.testing import inputs
    from course.testing.answers import answer
    from course.testing.checks import Check
    from course.testing.observe import observe

__all__, __getattr__ = lazy_names(globals())
