"""The learning rate and the accumulation of gradients, to turn and to watch."""

from course.widgets.training.explorer import explore_training

__all__ = ["explore_training"]
