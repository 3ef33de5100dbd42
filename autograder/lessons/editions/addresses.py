"""Where the course lies in public: one line of pyproject.toml, and links that follow from it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from autograder.errors import UsageError

__all__ = ["BRANCH", "binder", "colab", "repository", "set_repository"]

BRANCH = "main"  # as GitHub calls the branch of a new repository
_SECTION = "[tool.pytorch-measured]"
_LINE = re.compile(r'^repository = ".*"', re.M)
# What GitHub allows in the two names.
_NAME = re.compile(r"[A-Za-z0-9-]+/[\w.-]+", re.ASCII)


def repository(course: Path) -> str:
    """The public repository, `owner/name`, that pyproject.toml names; empty where it names none.

    Args:
        course: The course directory; one without a pyproject.toml has no address.

    Raises:
        UsageError: What stands there is no `owner/name`.
    """
    path = course / "pyproject.toml"
    if not path.is_file():
        return ""
    settings = tomllib.loads(path.read_text(encoding="utf-8"))
    named = str(settings.get("tool", {}).get("pytorch-measured", {}).get("repository", ""))
    return _sound(named, str(path))


def set_repository(course: Path, owner_and_name: str) -> None:
    """Write the public repository into pyproject.toml, or take it out.

    Args:
        course: The course directory.
        owner_and_name: `owner/name`; empty takes the address out.

    Raises:
        UsageError: It is no `owner/name`, or there is no line to write it to.
    """
    path = course / "pyproject.toml"
    line = f'repository = "{_sound(owner_and_name, "--repository")}"'
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    before, section, rest = text.partition(f"{_SECTION}\n")
    own, other, after = rest.partition("\n[")
    if not _LINE.search(own):
        raise UsageError(
            f"there is no line for the address under {_SECTION}",
            place=str(path),
            remedy=f'Add it: {_SECTION}, and below it: repository = ""',
        )
    own = _LINE.sub(line, own, count=1)
    path.write_text(f"{before}{section}{own}{other}{after}", encoding="utf-8")


def colab(owner_and_name: str, path: str) -> str:
    """The address at which Colab opens a notebook of the repository.

    >>> colab("owner/name", "a.ipynb")
    'https://colab.research.google.com/github/owner/name/blob/main/a.ipynb'
    """
    return f"https://colab.research.google.com/github/{owner_and_name}/blob/{BRANCH}/{path}"


def binder(owner_and_name: str, path: str) -> str:
    """The address at which Binder opens a notebook of the repository in JupyterLab.

    >>> binder("owner/name", "a.ipynb")
    'https://mybinder.org/v2/gh/owner/name/main?urlpath=lab/tree/a.ipynb'
    """
    return f"https://mybinder.org/v2/gh/{owner_and_name}/{BRANCH}?urlpath=lab/tree/{path}"


def _sound(named: str, place: str) -> str:
    if named and not _NAME.fullmatch(named):
        raise UsageError(
            f"“{named}” is no address of a repository on GitHub",
            place=place,
            remedy="Give owner and name alone: owner/name.",
        )
    return named
