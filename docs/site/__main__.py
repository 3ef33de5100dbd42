"""Builds the site: `python -m docs.site`; `--help` says what can be left out."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from autograder.environment import own_programs_first
from docs.site.build import build
from docs.site.errors import SiteError
from docs.site.settings import Settings


def main() -> int:
    """Build what the command line asks for; 0 for success, 1 where the site cannot be built."""
    own_programs_first()
    asked = _arguments()
    settings = Settings(
        asked.out.resolve(), asked.work.resolve(), tuple(asked.lessons), asked.gallery
    )
    try:
        build(settings)
    except SiteError as error:
        print(f"site: {error}", file=sys.stderr)
        return 1
    print(settings.out / "index.html")
    return 0


def _arguments() -> argparse.Namespace:
    usual = Settings()
    parser = argparse.ArgumentParser(prog="python -m docs.site", description=__doc__)
    parser.add_argument("--out", type=Path, default=usual.out, help="where the site goes")
    parser.add_argument("--work", type=Path, default=usual.work, help="what is kept for next time")
    parser.add_argument("--lessons", nargs="*", default=[], metavar="SLUG", help="only these")
    parser.add_argument("--gallery", type=int, default=usual.gallery, help="learners to show")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
