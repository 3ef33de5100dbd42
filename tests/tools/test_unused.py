"""What nobody uses is named; notebooks are users, `__all__` and tests are none."""

from __future__ import annotations

import json
from pathlib import Path

from tools.unused import Finding, not_imported, unused, without_excused


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def write_notebook(root: Path, *cells: str) -> None:
    found = [{"cell_type": "code", "source": cell.splitlines(True)} for cell in cells]
    write(root / "source/10-samplers/10-samplers.ipynb", json.dumps({"cells": found}))


def write_probes(root: Path) -> None:
    write(root / "course/probes/orders.py", "def order_of(loader):\n    return list(loader)\n")
    write(root / "course/probes/__init__.py", '__all__ = ["order_of"]\n')


def test_a_function_that_a_notebook_calls_is_used(tmp_path: Path) -> None:
    write_probes(tmp_path)
    write_notebook(
        tmp_path, "%matplotlib inline\nfrom course.probes import order_of", "order_of(x)"
    )
    assert unused(tmp_path) == not_imported(tmp_path) == []


def test_without_the_notebook_it_is_named_where_it_stands_and_where_it_is_offered(
    tmp_path: Path,
) -> None:
    write_probes(tmp_path)
    assert unused(tmp_path) == [
        Finding("order_of", "course/probes/orders.py:1: unused function 'order_of'")
    ]
    assert not_imported(tmp_path) == [
        Finding("order_of", "course/probes/__init__.py: nobody imports 'order_of'")
    ]


def test_a_package_that_loads_its_names_when_asked_offers_them(tmp_path: Path) -> None:
    write_probes(tmp_path)
    lazily = (
        "if TYPE_CHECKING:\n    from course.probes.orders import order_of\n"
        "__all__, __getattr__ = lazy_names(globals())\n"
    )
    write(tmp_path / "course/probes/__init__.py", lazily)
    assert [name for name, _ in not_imported(tmp_path)] == ["order_of"]


def test_a_variable_of_the_same_name_is_no_import(tmp_path: Path) -> None:
    write_probes(tmp_path)
    write_notebook(tmp_path, "order_of = 3\nprint(order_of)")
    assert unused(tmp_path) == []
    assert [name for name, _ in not_imported(tmp_path)] == ["order_of"]


def test_what_only_a_test_calls_is_unused(tmp_path: Path) -> None:
    write_probes(tmp_path)
    write(tmp_path / "tests/test_orders.py", "from course.probes import order_of\norder_of([1])\n")
    assert [name for name, _ in unused(tmp_path)] == ["order_of"]


def test_names_of_a_skipped_file_are_not_looked_at_and_count_as_users(tmp_path: Path) -> None:
    write_probes(tmp_path)
    write(tmp_path / "docs/conf.py", "author = order_of\n")
    assert unused(tmp_path, ["docs/conf.py"]) == []


def test_an_excuse_covers_a_finding_and_one_for_nothing_is_named() -> None:
    found = [Finding("is_built", "a.py:1: unused method 'is_built'")]
    assert without_excused(found, ["is_*"]) == []
    assert without_excused(found, ["*_built", "gone"]) == [
        "pyproject.toml: [tool.vulture] excuses 'gone', which is used or gone"
    ]
    assert without_excused(found, []) == ["a.py:1: unused method 'is_built'"]
