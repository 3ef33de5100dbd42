"""A broken rule of the course's form: where, what, and how to mend it."""

from __future__ import annotations

from dataclasses import dataclass

Slip = tuple[str, str, str]  # place within the lesson, cause, remedy


@dataclass(frozen=True)
class Finding:
    """One broken rule: where, what, and how to mend it."""

    place: str
    cause: str
    remedy: str

    def __str__(self) -> str:
        """Return the finding as it is printed."""
        return f"{self.place}: {self.cause}\n  {self.remedy}"
