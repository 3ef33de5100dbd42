"""What an answer leans on is seen, whichever way it got there."""

from __future__ import annotations

import copy
import functools
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import course
import course.inspection.strides
from course.inspection.strides import row_major_strides as renamed
from course.probes import modules_named, names_used

STRIDES = "course.inspection.strides"


def calls_it(shape: Any) -> Any:
    return renamed(shape)


def imports_it(shape: Any) -> Any:
    from course.inspection.strides import row_major_strides

    return row_major_strides(shape)


def finds_it(shape: Any) -> Any:
    return importlib.import_module("course.inspection.strides").row_major_strides(shape)


def reaches_it(shape: Any) -> Any:
    return course.inspection.strides.row_major_strides(shape)


def calls_a_helper(shape: Any) -> Any:
    return next(calls_it(one) for one in [shape])


def closes_over_it() -> Callable[[Any], Any]:
    inner = renamed
    return lambda shape: inner(shape)


def by_hand(shape: Any) -> Any:
    """Like course: strides by hand."""
    return tuple(reversed(shape))


WAYS = [renamed, calls_it, imports_it, finds_it, reaches_it, calls_a_helper, closes_over_it()]


@pytest.mark.parametrize("way", WAYS, ids=range(len(WAYS)))
def test_a_function_of_the_course_is_seen_on_every_way_to_it(way: Any) -> None:
    assert STRIDES in modules_named.here(way)


def test_work_of_ones_own_names_no_module_of_the_course() -> None:
    named = modules_named.here(by_hand)
    assert [one for one in named if one.startswith("course")] == []


def imports_numpy(shape: Any) -> Any:
    import numpy

    return numpy.empty(shape).shape


def imports_numpy_as_another(shape: Any) -> Any:
    import numpy as n

    return n.empty(shape).shape


def imports_from_numpy(shape: Any) -> Any:
    from numpy import empty

    return empty(shape).shape


def imports_numpy_by_its_name(shape: Any) -> Any:
    return __import__("numpy").empty(shape).shape


@pytest.mark.parametrize(
    "way",
    [imports_numpy, imports_numpy_as_another, imports_from_numpy, imports_numpy_by_its_name],
)
def test_a_library_that_is_imported_inside_is_named(way: Any) -> None:
    assert "numpy" in modules_named.here(way)


def test_a_method_called_like_a_library_is_no_import() -> None:
    def bridged(x: Any) -> Any:
        return x.numpy()

    assert "numpy" not in modules_named.here(bridged)


def test_what_is_no_function_is_looked_at_as_well() -> None:
    assert modules_named.here(3) == []
    assert modules_named.here(len) == ["builtins"]


def test_a_function_that_calls_itself_comes_to_an_end() -> None:
    def again(n: int) -> int:
        return again(n - 1) if n else 0

    assert isinstance(modules_named.here(again), list)


def tries_it(values: Any) -> Any:
    return helps(np.asarray(values))


def helps(array: Any) -> Any:
    return [one.reshape(-1) for one in [array]]


def test_names_are_seen_in_helpers_and_inner_code_and_not_in_the_library() -> None:
    assert names_used.here(tries_it) == ["asarray", "helps", "np", "reshape"]
    assert names_used.here(np.reshape) == []
    assert names_used.here(lambda: helps(1)) == ["helps", "reshape"]


renamed_type = torch.ShortTensor


def by_another_name(size: Any) -> Any:
    return renamed_type(size), renamed((2, 3))


class Hides:
    @staticmethod
    def reshapes(x: Any) -> Any:
        return x.reshape(-1)

    @property
    def looks(self) -> Any:
        return np.flip

    def __call__(self, x: Any) -> Any:
        return self.reshapes(x)


hiding = Hides()


def test_a_name_is_seen_however_it_was_imported() -> None:
    assert {"ShortTensor", "row_major_strides"} <= set(names_used.here(by_another_name))


@pytest.mark.parametrize(
    "answer", [lambda x: hiding(x), lambda x: Hides()(x), Hides, hiding.__call__]
)
def test_names_are_seen_in_methods_of_the_learners_classes(answer: Any) -> None:
    assert {"reshape", "flip"} <= set(names_used.here(answer))


def as_handed_out(shape: Any) -> Any:
    """The words of the task."""
    raise NotImplementedError()


@pytest.mark.parametrize("look", [modules_named, names_used])
def test_an_exercise_as_it_was_handed_out_is_not_looked_at(look: Any) -> None:
    with pytest.raises(NotImplementedError):
        look.here(as_handed_out)


def half_written(shape: Any) -> Any:
    if not shape:
        return ()
    raise NotImplementedError()


def test_half_of_an_answer_is_looked_at() -> None:
    assert names_used.here(half_written) == ["NotImplementedError"]


class Slotted:
    __slots__ = ("empty", "way")

    def __init__(self, way: Any) -> None:
        self.way = way


class Keeps:
    def __init__(self, *ways: Any) -> None:
        self.ways = ways


class Inherits(Keeps):
    pass


class Defines:
    steps = staticmethod(renamed)


partly = functools.partial(renamed)
backwards = functools.partial(map, renamed)
table = {"strides": [(renamed,)]}
slotted = Slotted(functools.partial(renamed))
keeping = Inherits(1, {2: slotted})
defining = Defines()
remembered = functools.lru_cache(renamed)


def with_a_default(shape: Any, strides: Any = renamed) -> Any:
    return strides(shape)


HOLDERS: list[Callable[..., Any]] = [
    functools.partial(renamed),
    lambda shape: partly(shape),
    lambda shape: backwards([shape]),
    lambda shape: table["strides"][0][0](shape),
    lambda shape: slotted.way(shape),
    lambda shape: keeping.ways[1][2].way(shape),
    lambda shape: defining.steps(shape),
    lambda shape: remembered(shape),
    with_a_default,
    functools.partial(with_a_default),
    Keeps(renamed).__init__,
]


@pytest.mark.parametrize("way", HOLDERS, ids=range(len(HOLDERS)))
def test_a_function_is_seen_in_whatever_object_it_is_held(way: Any) -> None:
    assert STRIDES in modules_named.here(way)
    assert "row_major_strides" in names_used.here(way)


loop: list[Any] = [lambda x: loop, list(range(100_000))]
loop += [loop, Keeps(loop), renamed]


def test_what_holds_itself_and_many_numbers_is_looked_through_to_the_end() -> None:
    assert STRIDES in modules_named.here(lambda x: loop[x])
    assert "row_major_strides" in names_used.here(lambda x: loop[x])


layer, weights = torch.nn.Linear(2, 2), [torch.ones(2), np.ones(2)]


@torch.no_grad()
def honest(x: Any) -> Any:
    return copy.deepcopy(layer)(x) if weights else defaults["scale"]


defaults = {"scale": 2.0, "rows": [1, 2]}


def test_an_object_of_somebody_else_and_data_lead_to_no_function_of_theirs() -> None:
    assert "numpy" not in modules_named.here(honest)
    held = {"linear", "ones", "clone", "row_major_strides", "reset_parameters"}
    assert not held & set(names_used.here(honest))


def test_a_closure_without_a_value_yet_holds_nothing() -> None:
    def inner() -> Any:
        return later

    assert "later" not in names_used.here(inner)
    later = 1
