"""nbgrader's own tests of `nbgrader autograde`, with `autograder grade` in its place."""

from __future__ import annotations

import inspect
import traceback

import pytest
from nbgrader.tests.apps.conftest import course_dir, db, temp_cwd

from tests.nbgrader_suite import in_place, page
from tests.nbgrader_suite.suite import (
    NOT_RUN,
    SAME,
    SUITE,
    Case,
    cases,
    read_expectations,
    theirs,
)

__all__ = ["course_dir", "db", "temp_cwd"]  # nbgrader's own fixtures
EXPECTED = read_expectations()


@pytest.mark.exhaustive("a test of nbgrader's own")
@pytest.mark.needs("sandbox")
@pytest.mark.filterwarnings(  # nbgrader leaves its kernel and SQLAlchemy's names to Python
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
@pytest.mark.usefixtures("temp_cwd")
@pytest.mark.parametrize("case", list(cases()), ids=lambda one: one.name)
def test_nbgraders_own_test_says_what_is_expected(
    case: Case, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setattr(theirs, "run_nbgrader", in_place.run)
    expected = EXPECTED[case.name]
    ended = _ended_at(case, request)
    assert ended is None if expected.verdict == SAME else ended, ended or "it passes: say so"
    assert expected.at in (ended or "")


def _ended_at(case: Case, request: pytest.FixtureRequest) -> str | None:
    """The line at which it failed, "skipped" where nbgrader leaves it out, None where it passed."""
    method = getattr(SUITE(), case.method)
    names = set(inspect.signature(method).parameters) - case.arguments.keys()
    try:
        method(**case.arguments, **{one: request.getfixturevalue(one) for one in names})
    except pytest.skip.Exception:
        return NOT_RUN
    except Exception as error:
        traceback.print_exc()
        frames = traceback.extract_tb(error.__traceback__)
        return [one.line or "" for one in frames if one.filename == theirs.__file__][-1]
    return None


def test_every_test_of_nbgraders_has_an_expectation_and_a_reason_where_it_differs() -> None:
    assert EXPECTED.keys() == {one.name for one in cases()}
    differing = [one for one in EXPECTED.values() if one.verdict != SAME]
    assert all(one.why and one.at for one in differing)


def test_the_page_says_what_is_expected() -> None:
    assert page.PAGE.read_text(encoding="utf-8") == page.text(), (
        "python -m tests.nbgrader_suite.page writes it"
    )
