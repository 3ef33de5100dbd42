"""What a piece of a test cell takes from elsewhere is found as Python itself would look for it."""

from __future__ import annotations

import pytest

from autograder.lessons.lint.travel import defined_names, outside_names, probes


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("x = 1\nx + y", {"y"}),
        ("def f(a, *b, c=d, **e):\n    return a, b, c, e, g", {"d", "g"}),
        ("def f():\n    x = 1\n    def inner():\n        return x + z\n    return inner", {"z"}),
        ("class K(Base):\n    w = q\n    def m(self):\n        return w", {"Base", "q", "w"}),
        ("[i for i in many if i in few]", {"many", "few"}),
        ("def f():\n    return later\nlater = 1", set()),
        ("def f():\n    local = 1\nlocal", {"local"}),
        ("def f():\n    global made\n    made = 1\nmade", set()),
        ("try:\n    pass\nexcept Odd as error:\n    print(error)", {"Odd"}),
        ("import a.b as c, d.e\nfrom f import g\nc, d, g, b", {"b"}),
        ("match v:\n    case [p, *rest]:\n        p, rest", {"v"}),
        ("from m import *\nanything", set()),
        ("len(range(3)), display(1)", set()),
    ],
)
def test_a_name_is_from_outside_where_no_scope_around_it_defines_it(
    source: str, names: set[str]
) -> None:
    assert outside_names(source) == names


def test_a_cell_that_is_no_python_defines_nothing() -> None:
    assert defined_names("%%bash\nls") == set()


def test_a_probe_is_looked_at_without_what_stands_around_it() -> None:
    source = "outside = 1\n@probe\ndef twice(f, x):\n    return f(f(x)) + outside + torch.e"
    assert dict(probes(source)) == {"twice": {"outside", "torch"}}


def test_a_function_that_is_no_probe_stays_where_it_is() -> None:
    assert dict(probes("@staticmethod\ndef f():\n    return outside")) == {}
