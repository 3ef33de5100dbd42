"""What an expression selects: read from text, true of PyTorch, and drawn where it lies."""

from __future__ import annotations

import pytest
import torch

from course.figures import not_drawn
from course.figures.palette import CARD, fill
from course.figures.scene import Box, Scene
from course.inspection.facts import positions
from course.lessons.indexing import show_index
from course.lessons.indexing.index_expressions import ExpressionError, parse_expression
from course.lessons.indexing.selection_figure import select
from tests.course.figures.drawn import collisions, scene_of, texts_of

X = torch.arange(12).view(3, 4)
# Each is read by us, and run by Python here: the two must agree.
_CODES = """
x[1] x[-1] x[0,2] x[:,1] x[1:,::2] x[...,None] x[None] x[:0] x[[0,2]] x[:,[0,0]] x[[0,2],[1,3]]
x[x>5] x[x%2==0] x[(x>2)&(x<9)] x[~(x>3)|(x==0)] x[x[:,0]>0] x[:,x[0]!=2] x[[True,False,True]]
x.t() x.T[1] x.mT.reshape(-1) x.reshape(2,-1) x.view(4,3)[1] x.permute(1,0)[2] x.transpose(0,1)
x.flatten()[3:] x.unsqueeze(1).squeeze(1) x[0].expand(2,4) x.repeat(1,2) x.tile(2) x.flip(0)
x.repeat_interleave(2,1) x.index_select(1,[0,3]) x.masked_select(x>4) x.narrow(1,1,2)
x.select(0,1) x.movedim(0,1) x.unfold(1,2,1) x.diagonal() x.roll(1,0) x[0].clone() x.contiguous()
x[[0]][0] x[0][[0]]
"""
EXPRESSIONS = _CODES.split()


def code_run(code: str, x: torch.Tensor) -> torch.Tensor:
    """What Python makes of the expression."""
    if code == "x.index_select(1,[0,3])":  # we read a list where torch wants a tensor
        return x.index_select(1, torch.tensor([0, 3]))
    found: torch.Tensor = eval(code, {}, {"x": x})
    return found


@pytest.mark.parametrize("code", EXPRESSIONS)
def test_an_expression_selects_what_python_selects(code: str) -> None:
    found, expected = select(X, parse_expression(code)), code_run(code, X)
    assert found.result is not None
    assert torch.equal(found.result, expected)
    shares = expected.untyped_storage().data_ptr() == X.untyped_storage().data_ptr()
    assert found.kind == ("view" if shares else "copy")


@pytest.mark.parametrize("code", EXPRESSIONS)
@pytest.mark.parametrize("source", [X, X.t(), torch.arange(48).view(6, 8)[1::2, ::2]])
def test_the_slots_are_where_the_elements_come_from(code: str, source: torch.Tensor) -> None:
    shuffled = torch.randperm(48, generator=torch.Generator().manual_seed(1))
    values = shuffled.as_strided(source.shape, source.stride(), source.storage_offset())
    found = select(values, parse_expression(code))
    if found.result is None or found.slots is None:
        assert isinstance(error_of(code, values), Exception)
        return
    assert [shuffled[slot] for slot in found.slots.values()] == found.result.flatten().tolist()
    if found.shares:
        assert list(found.slots.values()) == positions(found.result)


def error_of(code: str, x: torch.Tensor) -> Exception | None:
    """How Python's own run of the expression ends."""
    try:
        code_run(code, x)
    except Exception as error:
        return error
    return None


@pytest.mark.parametrize("code", [one for one in EXPRESSIONS if one.endswith("]")])
def test_what_an_assignment_writes_is_what_it_writes_in_python(code: str) -> None:
    expected = X.clone()
    exec(f"{code} = -1", {}, {"x": expected})
    assert torch.equal(parse_expression(code).written(X), expected == -1)


def test_only_what_ends_in_brackets_can_be_assigned_to() -> None:
    assert not parse_expression("x.t()").assignable
    with pytest.raises(ExpressionError, match="takes no assignment"):
        parse_expression("x.t()").written(X)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("x[9]", "PyTorch says IndexError: index 9 is out of bounds"),
        ("x[::-1]", "step must be greater than zero"),
        ("x.t().view(12)", "view size is not compatible"),
        ("x[x]", "out of bounds"),
        ("x[True and False]", "is not read here"),
        ("x.numpy()", "is not read here"),
        ("x[10**9]", "is not read here"),
        ("x[99999]", "is not a whole number up to 10000"),
        ("x.repeat(1000, 1000)", "too many elements"),
        ("x[1.5]", "is not a whole number"),
    ],
)
def test_what_cannot_be_run_says_why(code: str, words: str) -> None:
    assert words in select(X, parse_expression(code)).error


@pytest.mark.parametrize("code", ["", "x", "3", "x +", "x[y]", "[1]", "__import__('os')", "x; x"])
def test_what_is_no_expression_of_one_tensor_is_refused(code: str) -> None:
    with pytest.raises(ExpressionError):
        parse_expression(code)


def boxes(scene: Scene) -> list[Box]:
    """The boxes with a value, in drawing order."""
    return [item for item in scene.items if isinstance(item, Box)]


def test_each_row_of_the_result_has_its_colour_in_grid_result_and_storage() -> None:
    drawn = boxes(scene_of(show_index(X, "x[1:, ::2]")))
    grid, result, storage = drawn[:12], drawn[12:16], drawn[16:]
    blue, orange = fill(0), fill(1)
    at = {4: blue, 6: blue, 8: orange, 10: orange}
    assert [box.fills[0] for box in grid] == [at.get(i, CARD) for i in range(12)]
    assert [box.fills[0] for box in result] == [blue, blue, orange, orange]
    assert [box.fills[0] for box in storage] == [at.get(i, CARD) for i in range(12)]


def test_a_copy_has_a_storage_of_its_own_and_a_view_has_none() -> None:
    assert "storage of the copy" in texts_of(show_index(X, "x[[0, 2]]"))
    view = texts_of(show_index(X, "x[::2]"))
    assert "storage of the copy" not in view
    assert "x[::2]   a view: stride (8, 1), offset 0" in view


def test_a_slot_that_is_used_twice_is_striped_and_counted() -> None:
    picture = show_index(X, "x[[0, 0], :1]")
    assert boxes(scene_of(picture))[0].fills == (fill(0), fill(1))
    assert "×2" in texts_of(picture)


def test_the_words_tell_kind_shape_and_slots_and_an_error() -> None:
    assert show_index(X, "x[1:]", "x[9]").alt == (
        "x[1:] is a view of shape (2, 4), on slots 4 to 11. "
        "x[9]: PyTorch says IndexError: index 9 is out of bounds for dimension 0 with size 3."
    )
    assert show_index(X, "x[x > 99]").alt == "x[x > 99] is a copy of shape (0,), made from no slot."


def test_masks_see_the_values_not_the_slots() -> None:
    values = torch.tensor([[0.5, 3.0], [2.0, 0.1]])
    assert "made from slots 1 and 2." in show_index(values, "w[w > 1]", name="w").alt


@pytest.mark.parametrize("code", ["x[0]", "x[:, [0, 0]]", "x[None, ..., None]", "x[:0]", "x[1, 2]"])
def test_texts_do_not_lie_over_each_other(code: str) -> None:
    assert collisions(scene_of(show_index(X, code, "x[9]"))) == []
    assert collisions(scene_of(show_index(torch.arange(48.0).view(2, 4, 6), code))) == []


def test_a_tensor_that_is_too_large_to_draw_is_refused_with_its_shape() -> None:
    with pytest.raises(ValueError, match=r"x has shape \(7, 7\)"):
        show_index(torch.zeros(7, 7), "x[0]")


def test_what_is_drawn_changes_nothing() -> None:
    kept = X.clone()
    show_index(X, "x[1:]").svg()
    parse_expression("x[1:]").written(X)
    assert torch.equal(X, kept)


def test_while_grading_nothing_is_drawn() -> None:
    with not_drawn():
        assert "<img" not in show_index(X, "x[0]")._repr_html_()
