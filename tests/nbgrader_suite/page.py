"""docs/nbgrader-tests.md, made of what is expected of each test.

python -m tests.nbgrader_suite.page
"""

from __future__ import annotations

from collections import Counter
from importlib.metadata import version
from pathlib import Path

from tests.nbgrader_suite.suite import BETTER, NOT_OURS, NOT_RUN, SAME, cases, read_expectations

PAGE = Path(__file__).parents[2] / "docs" / "nbgrader-tests.md"
HEAD = """\
# nbgrader's own tests judge the grader

nbgrader {version} comes with its tests. Those of `nbgrader autograde` run in our CI with
`autograder grade` in its place; its options are translated (`--force` is `--regrade`, and
`--Execute.timeout=2` a line of `nbgrader_config.py`). Of {all} tests:

{summary}

Where a test does not pass, CI holds it to the very line at which it ends, so that nothing else can
go wrong there unseen. <!-- `python -m tests.nbgrader_suite.page` writes this page -->

| test | what it asks | verdict | why |
|---|---|---|---|
"""


MEANING = {
    SAME: "the test passes as it is",
    BETTER: "it ends at a line that asks for what we do otherwise on purpose; *why* says what an "
    "instructor gets instead",
    NOT_OURS: "it asks for an option or a side effect that `autograder grade` does not have",
    NOT_RUN: "nbgrader leaves it out itself",
}


def text() -> str:
    """The page, as expectations.toml has it."""
    expected, found = read_expectations(), list(cases())
    verdicts = Counter(expected[one.name].verdict for one in found)
    said = (f"- {verdicts[one]} **{one}**: {meaning}." for one, meaning in MEANING.items())
    rows = [
        f"| `{one.name.removeprefix('test_')}` | {one.question} | {expected[one.name].verdict} "
        f"| {expected[one.name].why} |"
        for one in found
    ]
    summary = "\n".join(said)
    head = HEAD.format(version=version("nbgrader"), all=len(found), summary=summary)
    return head + "\n".join(rows) + "\n"


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
