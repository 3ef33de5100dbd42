"""`python -m autograder`: the same as the `autograder` command."""

import sys

from autograder.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
