"""Why a claim, a prediction or a warm-up cannot be given.

ClaimError
├── UnknownId        nothing of that kind has that name, or no lesson
└── MalformedClaims  a TOML file of a lesson breaks its form
"""

__all__ = ["ClaimError", "MalformedClaims", "UnknownId"]


class ClaimError(Exception):
    """A claim cannot be given."""


class UnknownId(ClaimError, LookupError):
    """Nothing has that name; the message names the nearest ones."""


class MalformedClaims(ClaimError, ValueError):
    """A TOML file breaks its form; the message names file, entry and remedy."""
