"""The `autograder` command: what may be asked, and how an error is shown.

Each command lives in `autograder.cli`; nothing is imported before it is needed, so that
`--help` answers at once.
"""

from __future__ import annotations

import argparse
import gc
import os
import re
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from autograder.console import say
from autograder.environment import own_programs_first
from autograder.errors import AutograderError, UsageError, did_you_mean
from autograder.import_speed import skip_unused_grammar

INTERRUPTED = 130


class Parser(argparse.ArgumentParser):
    """An argument parser that raises `UsageError` instead of leaving the program.

    Options are taken in full: a script that says `--job` would change its meaning with the next
    option that begins so.
    """

    def __init__(self, **settings: Any) -> None:
        """Pass everything on, without abbreviations."""
        super().__init__(**{"allow_abbrev": False} | settings)

    def error(self, message: str) -> NoReturn:
        """Turn argparse's complaint into one of ours."""
        raise UsageError(message, remedy=f"See `{self.prog} --help`.")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; 0 for success, 1 for findings or faults, 2 for wrong usage."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    own_programs_first()
    skip_unused_grammar()
    try:
        code = _run(arguments)
        sys.stdout.flush()
        return code
    except AutograderError as error:
        say(f"autograder: {error}", file=sys.stderr)
        return error.exit_code
    except ModuleNotFoundError as error:
        say(f"autograder: {_not_installed(error)}", file=sys.stderr)
        return AutograderError.exit_code
    except KeyboardInterrupt:
        say("autograder: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader, `head` for example, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    finally:
        if argv is None:  # the program ends now, and Python would look for garbage: 0.4 s
            gc.freeze()


def _not_installed(error: ModuleNotFoundError) -> AutograderError:
    """What to install; a module of our own that is missing is a fault, and is raised as it is."""
    if str(error.name).partition(".")[0] in ("autograder", "course"):
        raise error
    return AutograderError(
        f"{error.name} is not installed",
        remedy="What grading needs comes with pip install 'pytorch-measured[teach]'; what your "
        "nbgrader_config.py names has to be installed beside it.",
    )


def build_parser() -> Parser:
    """The parser with every command."""
    from autograder.cli import (
        authoring,
        backup,
        collecting,
        diagnostics,
        grading,
        lesson_editing,
        mutants,
    )

    parser = Parser(
        prog="autograder",
        description="Release, grade and explain the lessons of PyTorch, measured.",
        epilog="`autograder COMMAND --help` tells more about each. Exit codes: 0 done, "
        "1 something was found or failed, 2 wrong usage.",
    )
    commands = parser.add_subparsers(
        dest="command", metavar="COMMAND", required=True, parser_class=Parser
    )
    groups = (authoring, mutants, lesson_editing, collecting, grading, backup, diagnostics)
    for group in groups:
        group.add_commands(commands)
    return parser


def _run(arguments: list[str]) -> int:
    parser = build_parser()
    known = _commands(parser)
    word = next((one for one in arguments[:1] if not one.startswith("-")), None)
    if word is None and "-h" not in arguments and "--help" not in arguments:
        parser.print_help(sys.stderr)
        return UsageError.exit_code
    if word is not None and word not in known:
        raise UsageError(
            f"there is no command '{word}'.{did_you_mean(word, known)}",
            remedy=f"There are: {', '.join(known)}.",
        )
    try:
        options, unknown = parser.parse_known_args(arguments)
    except SystemExit as leaving:  # --help
        return int(leaving.code or 0)
    if unknown:
        _refuse(unknown[0], known[str(word)])
    result: int = options.run(options)
    return result


def _commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    for action in parser._actions:  # argparse has no public way to its subparsers
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def _refuse(word: str, command: argparse.ArgumentParser) -> NoReturn:
    offered = re.findall(r"--[a-z-]+", command.format_help())
    name = word.partition("=")[0]
    what = "option" if word.startswith("-") else "argument"
    raise UsageError(
        f"`{command.prog}` takes no {what} '{name}'.{did_you_mean(name, offered)}",
        remedy=f"See `{command.prog} --help`.",
    )
