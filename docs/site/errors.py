"""Why a site cannot be built: each is told without a traceback.

SiteError
├── LessonFailed   a solved lesson raised an error
├── ProofFailed    a claim's proof does not hold on this machine
├── GalleryFailed  the grader could not grade the simulated class
└── SiteBroken     Sphinx warned, or the finished pages have faults
"""

from __future__ import annotations

__all__ = ["GalleryFailed", "LessonFailed", "ProofFailed", "SiteBroken", "SiteError"]


class SiteError(Exception):
    """The site cannot be built; the message says why."""


class LessonFailed(SiteError):
    """A solved lesson raised an error; the message names lesson, cell and error."""


class ProofFailed(SiteError):
    """A proof does not hold here, so the atlas would tell something false."""


class GalleryFailed(SiteError):
    """A command of the grader failed on the simulated class; the message has its last lines."""


class SiteBroken(SiteError):
    """Sphinx warned of something, or a page has a fault; the message lists all of them."""
