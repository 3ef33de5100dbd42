"""Training, drawn: what stands in `.grad` call by call, and what an epoch's mean is made of."""

from course.figures.training.gradients import show_gradients
from course.figures.training.means import show_means

__all__ = ["show_gradients", "show_means"]
