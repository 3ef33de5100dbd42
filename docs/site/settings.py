"""What a build of the site is told: which lessons, where to, and the addresses it may name."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from autograder.kept_results import KeptResults

__all__ = ["ROOT", "Settings", "address"]

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Settings:
    """One build.

    `out` is the site itself, `work` holds the pages that Sphinx reads. `lessons` names slugs, and
    their claims come with them; empty means all. `gallery` is the number of simulated learners
    whose pages are shown, 0 for none.
    """

    out: Path = ROOT / "site"
    work: Path = ROOT / ".site"
    lessons: tuple[str, ...] = ()
    gallery: int = 3

    @property
    def pages(self) -> Path:
        """The folder that Sphinx reads."""
        return self.work / "pages"

    @property
    def results(self) -> KeptResults:
        """What was measured, by the digest of what it was measured from."""
        return KeptResults.of_course(ROOT)

    @property
    def html(self) -> Path:
        """The pages as Sphinx writes them, before they are found to be in order."""
        return self.work / "html"

    @property
    def extra(self) -> Path:
        """Files that go into the site as they are: figures, notebooks, the gallery's pages."""
        return self.work / "extra"


def address() -> str:
    """Where the site will lie, from SITE_ADDRESS, for links in search engines; "" for nowhere."""
    given = os.environ.get("SITE_ADDRESS", "")
    return f"{given.rstrip('/')}/" if given else ""
