"""What an answer leans on is seen, whichever way it got there."""

from __future__ import annotations

import copy
import functools
import importlib
import operator
import statistics
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
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


pop = torch.ones(2)


def cov(a: Any) -> Any:
    return a


def asks_a_list(shape: Any) -> Any:
    return [*shape].pop(), cov(shape)


def asks_torch(x: Any) -> Any:
    return cov(x), torch.cov(x)


def test_an_attribute_is_no_global_of_the_same_name() -> None:
    assert [one for one in modules_named.here(asks_a_list) if one.startswith("torch")] == []
    assert names_used.here(asks_a_list) == ["pop"]


def test_the_name_of_a_helper_says_nothing_unless_a_library_has_it_too() -> None:
    assert "cov" not in names_used.here(asks_a_list)
    assert "cov" in names_used.here(asks_torch)


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
    assert names_used.here(tries_it) == ["asarray", "np", "reshape"]
    assert names_used.here(np.reshape) == []
    assert names_used.here(lambda: helps(1)) == ["reshape"]


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


def finds_the_library(*shapes: Any) -> Any:
    library = next(one for name, one in sys.modules.items() if name[:2] + name[2:] == "torch")
    return getattr(library, "broadcast" + "_shapes")(*shapes)


def asks_by_a_constant(one: Any, other: Any) -> Any:
    return next(map(getattr(torch, "promote" + "_types"), [one], [other]))


def asks_elsewhere(shape: Any) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(
            operator.attrgetter("inspection.strides")(course).row_major_strides, shape
        )


KEPT = {"rule": lambda shape: vars(statistics)["kept"](shape)}


def keeps_it_in_a_module(shape: Any) -> Any:
    return KEPT["rule"](shape)


def knows_what_is_shown(shape: Any) -> Any:
    return (1,) if shape == (2,) else vars(statistics)["kept"](shape)


@pytest.mark.parametrize(
    ("answer", "args", "ran"),
    [
        (finds_the_library, ((2,), (1,)), "torch.functional"),
        (asks_by_a_constant, (torch.int8, torch.float32), "torch"),
        (asks_elsewhere, ((2, 3),), STRIDES),
        (keeps_it_in_a_module, ((2, 3),), STRIDES),
        (knows_what_is_shown, ((2, 3),), STRIDES),
    ],
)
def test_what_runs_is_seen_where_no_name_leads_to_it(
    monkeypatch: pytest.MonkeyPatch, answer: Any, args: Any, ran: str
) -> None:
    monkeypatch.setattr(statistics, "kept", renamed, raising=False)
    assert ran in modules_named.here(answer, [args])
    assert sys.getprofile() is None


def test_the_names_of_what_runs_count_whoever_calls_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "promote_types" in names_used.here(asks_by_a_constant, [(torch.int8, torch.int16)])
    monkeypatch.setattr(statistics, "kept", lambda data: torch.tensor(data).dtype, raising=False)
    assert "tensor" in names_used.here(keeps_it_in_a_module, [([1, 2],)])
    assert "tensor" not in names_used.here(keeps_it_in_a_module)


def test_work_of_ones_own_runs_no_library_and_may_print_and_fail() -> None:
    def own(values: Any) -> Any:
        print(values)
        return statistics.mean(values) / len(values)

    calls = [([1.0, 2.0],), ([],)]
    libraries = {"torch", "numpy", "course"}
    assert not [m for m in modules_named.here(own, calls) if m.partition(".")[0] in libraries]
    assert names_used.here(own, calls) == names_used.here(own)


def test_what_a_table_holds_was_asked_before_and_nobody_sees_it() -> None:
    """docs/trust.md says so: an answer whose inputs are few may ask for all of them beforehand."""
    kinds = [torch.int8, torch.float32]
    asked = {(one, other): torch.promote_types(one, other) for one in kinds for other in kinds}

    def looks_it_up(one: Any, other: Any) -> Any:
        return asked[one, other]

    assert "promote_types" not in names_used.here(looks_it_up, [tuple(kinds)])
