"""What the notebooks of "PyTorch, measured" import: facts, observations, checks, figures.

A notebook imports from here and from `course.gpu`, `course.figures`, `course.widgets` and
`course.probes`, never from deeper. Nothing is loaded before it is asked for, not even torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.lazy import loading
from course.released_names import redirect

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
    from course.widgets import explore_strides

__all__ = [
    "Check",
    "answer",
    "carry_progress",
    "explore_strides",
    "facts",
    "inputs",
    "lesson_map",
    "lesson_progress",
    "lessons",
    "observe",
    "overlap",
    "placement",
    "positions",
    "predict",
    "probe",
    "quiz",
    "same_storage",
    "show_storage",
    "warm_up",
]

__getattr__ = loading(
    globals(),
    {
        "Check": "course.testing.checks",
        "answer": "course.testing.answers",
        "carry_progress": "course.progress.carry",
        "explore_strides": "course.widgets",
        "facts": "course.inspection.facts",
        "inputs": "course.testing.inputs",
        "lesson_map": "course.progress.start_page",
        "lesson_progress": "course.progress.summary",
        "lessons": "course.progress.start_page",
        "observe": "course.testing.observe",
        "overlap": "course.inspection.facts",
        "placement": "course.guide.placement_quiz",
        "positions": "course.inspection.facts",
        "predict": "course.claims.quiz",
        "probe": "course.probes",
        "quiz": "course.claims.quiz",
        "same_storage": "course.inspection.facts",
        "show_storage": "course.figures",
        "warm_up": "course.practice",
    },
)

redirect()
