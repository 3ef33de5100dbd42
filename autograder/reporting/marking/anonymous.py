"""Names for answers that tell nobody whose they are.

An id is a keyed hash of lesson, question and learner: the same in every sheet of the question,
another one in the next question, so that nobody's answers can be put together.  The key stays in
.autograder/anonymous.key; who has it and the roster can undo the ids.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import AutograderError
from autograder.records.journal import write_bytes

KEY_FILE = "anonymous.key"
_KEY_NBYTES = 32
# No digit, or a spreadsheet takes an id for a number or a date; no vowel, or it is a word.
_LETTERS = "bcdfghjkmnpqrstvwxz"


class AnonymousKeyError(AutograderError):
    """The key of the anonymous ids cannot be used."""


@dataclass(frozen=True)
class Pseudonyms:
    """The ids of one course."""

    key: bytes

    def of(self, *parts: str) -> str:
        """The id of what `parts` name, such as `kdmt-xrwq-bzcv`: one of 10¹⁵."""
        number = int.from_bytes(self._digest(parts), "big")
        letters = ""
        for _ in range(12):
            number, letter = divmod(number, len(_LETTERS))
            letters += _LETTERS[letter]
        return "-".join(letters[at : at + 4] for at in (0, 4, 8))

    def _digest(self, parts: tuple[str, ...]) -> bytes:
        # Each part with its length: ("ab", "c") must not be ("a", "bc").
        raw = [part.encode("utf-8", "surrogatepass") for part in parts]
        message = b"".join(len(one).to_bytes(8, "big") + one for one in raw)
        return hmac.new(self.key, message, hashlib.sha256).digest()


def pseudonyms(state: Path, *, make: bool) -> Pseudonyms | None:
    """The ids of the course whose state this is; None where there is no key and none is made."""
    path = state / KEY_FILE
    try:
        key = bytes.fromhex(path.read_text(encoding="ascii"))
    except FileNotFoundError:
        if not make:
            return None
        key = secrets.token_bytes(_KEY_NBYTES)
        write_bytes(path, key.hex().encode() + b"\n", mode=0o600)
    except (OSError, ValueError) as error:
        raise _unusable(path, str(getattr(error, "strerror", None) or error)) from error
    if len(key) != _KEY_NBYTES:
        raise _unusable(path, f"it has {len(key)} bytes instead of {_KEY_NBYTES}")
    return Pseudonyms(key)


def _unusable(path: Path, why: str) -> AnonymousKeyError:
    return AnonymousKeyError(
        f"the key of the anonymous ids cannot be read: {why}",
        place=str(path),
        remedy="Bring it back from a backup, or take the file away: a new key is made, and sheets "
        "that are out now have to be exported again.",
    )
