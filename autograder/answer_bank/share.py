"""A share of the answers, always the same ones: drawn by what they are, not by where they stand.

With the environment variable DRAW, each of its values draws others: CI tries a share with every
commit, and all of them over several.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["EVERY", "LeftOut", "is_in_share", "left_out_line"]

EVERY = 1.0


@dataclass(frozen=True)
class LeftOut:
    """How many there are of a kind, and how many of them were tried."""

    what: str
    every: int
    tried: int

    @property
    def count(self) -> int:
        """How many were not tried."""
        return self.every - self.tried

    @staticmethod
    def summed(parts: Iterable[LeftOut]) -> tuple[LeftOut, ...]:
        """One for each kind."""
        sums: dict[str, LeftOut] = {}
        for one in parts:
            so_far = sums.get(one.what, LeftOut(one.what, 0, 0))
            sums[one.what] = LeftOut(one.what, so_far.every + one.every, so_far.tried + one.tried)
        return tuple(sums.values())


def is_in_share(share: float, *parts: str) -> bool:
    """Whether what these texts make up belongs to the share, from 0 to 1.

    It depends on the texts and DRAW alone: an answer more or less beside it changes nothing.
    """
    texts = os.environ.get("DRAW", ""), *parts
    digest = hashlib.sha256("\0".join(texts).encode()).digest()
    return int.from_bytes(digest[:8], "big") < share * 2**64


def left_out_line(parts: Iterable[LeftOut]) -> str:
    """What was not tried, in a line; empty where all was."""
    counts = [f"{one.count:,} of {one.every:,} {one.what}" for one in parts if one.count]
    return f"left out: {', '.join(counts)}" if counts else ""
