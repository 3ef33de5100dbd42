"""`python -m autograder`: the same as the `autograder` command."""

import sys
from pathlib import Path

# Python puts the directory that somebody works in first, and a learner's files may lie there.
if Path(sys.path[0]).resolve() != Path(__file__).resolve().parents[1]:
    sys.path.pop(0)

from autograder.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
