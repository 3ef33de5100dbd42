"""The picture of an einsum: its loops give torch's result, and its sums are those of the loops."""

from __future__ import annotations

import doctest

import pytest
import torch

from course.figures.palette import REST, fill
from course.figures.scene import Box
from course.lessons.math import einsum_equation as equations
from course.lessons.math import einsum_figure as figure
from course.lessons.math import show_einsum
from course.lessons.math.einsum_equation import (
    EquationError,
    Product,
    given_operands,
    parse,
    product_of,
)
from course.lessons.math.einsum_figure import loops_of, picture_of
from tests.course.figures.drawn import collisions, scene_of, texts_of

EQUATIONS = [
    *("ij,jk->ik", "i,i->", "i,j->ij", "ij->j", "ij->ji", "ii->i", "ii->", "ij,ij->i"),
    *("bij,bjk->bik", "bhqd,bhkd->bhqk", "i,j,k->", "ij,jk,kl->il", "Ai,iB->AB", "ji", ",i->i"),
]


def product(text: str) -> Product:
    """The equation with the small operands that it is given."""
    read = parse(text)
    return product_of(read, given_operands(read, {}))


@pytest.mark.parametrize("text", EQUATIONS)
def test_the_loops_compute_what_torch_computes(text: str) -> None:
    shown = product(text)
    names = dict(zip(shown.names, shown.operands, strict=True), torch=torch)
    exec("\n".join(loops_of(shown)), names)
    assert torch.equal(names["out"], shown.result.float())  # type: ignore[arg-type]


@pytest.mark.parametrize("text", EQUATIONS)
def test_the_terms_of_each_element_add_up_to_it(text: str) -> None:
    shown = product(text)
    for element in shown.elements():
        total = 0
        for term in shown.terms(element):
            factors = [t[at].item() for t, at in zip(shown.operands, term, strict=True)]
            total += torch.tensor(factors).prod().item()
        assert total == shown.result[element].item()


@pytest.mark.parametrize("text", ["ij,jk", "ba", "ij,ij", "zaz", "aB,Bc"])
def test_without_an_arrow_the_result_is_that_of_torch(text: str) -> None:
    read = parse(text)
    operands = given_operands(read, {})
    assert torch.equal(product_of(read, operands).result, torch.einsum(text, *operands))


def test_what_makes_the_chosen_element_is_coloured_and_nothing_else() -> None:
    scene = scene_of(show_einsum("ij,jk->ik", element=(0, 1)))
    boxes = [item for item in scene.items if isinstance(item, Box)]
    coloured = [[b.text for b in boxes if b.fills == (fill(n),)] for n in (0, 1, 2)]
    assert coloured == [["1", "2", "3"], ["2", "6", "10"], ["44"]]
    assert sum(b.fills == (REST,) for b in boxes) == 6 + 12 + 8 - 7


def test_the_sum_is_written_out_with_its_value() -> None:
    assert "out[0, 1] = 1 · 2 + 2 · 6 + 3 · 10 = 44" in texts_of(
        show_einsum("ij,jk->ik", element=(0, 1))
    )
    pair = torch.tensor([1.5, -2]), torch.tensor([-0.25, 1.0])
    assert "out = 1.5 · (-0.25) + (-2) · 1 = -2.375" in texts_of(show_einsum("i,i->", *pair))


def test_a_long_sum_says_how_many_terms_it_leaves_out() -> None:
    assert "out = 1 + 1 + 1 + 1 + 1 + 1 + … (6 more) = 12" in texts_of(
        show_einsum("i->", torch.ones(12))
    )


def test_the_alt_text_names_shapes_letters_and_result() -> None:
    assert show_einsum("ij->j").alt == (
        "einsum ij->j: A has shape (2, 3). On the right: j (3). Summed over: i (2). "
        "The result has shape (3,); out[0] = 1 + 4 = 5."
    )


def test_a_result_that_is_asked_for_is_not_shown() -> None:
    shown = product("ij,jk->ik")
    picture = picture_of(shown, None)
    assert "44" not in texts_of(picture)
    assert "44" not in picture.alt
    assert {"out[i, k]   which shape?", "out = torch.zeros(?)"} <= {*texts_of(picture)}
    assert not any("2, 4" in one for one in (*texts_of(picture), picture.alt))


def test_operands_are_never_called_like_a_letter() -> None:
    assert product("bij,bjk->bik").names == ("A", "B")
    assert product("Ai,iB->AB").names == ("first", "second")


@pytest.mark.parametrize("text", EQUATIONS)
def test_no_text_lies_over_another(text: str) -> None:
    assert collisions(scene_of(show_einsum(text))) == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("ij->k", "k stands on the right only"),
        ("ij->ii", "i stands twice on the right"),
        ("...ij->...ji", "Write their letters"),
        ("ij+jk", "not an equation"),
        ("", "not an equation"),
        ("i,i,i,i->", "one to three operands"),
        ("abcde->", "more than 4 dimensions"),
    ],
)
def test_an_equation_that_cannot_be_drawn_is_refused_with_the_reason(
    text: str, reason: str
) -> None:
    with pytest.raises(EquationError, match=reason):
        show_einsum(text)


@pytest.mark.parametrize(
    ("shapes", "reason"),
    [
        ([(2, 3)], "2 operands; 1 were given"),
        ([(2, 3), (4, 5)], "j has sizes 3 and 4"),
        ([(2, 1), (3, 2)], "torch repeats the 1"),
        ([(2, 3), (3,)], "'jk' names 2 dimensions, but B has shape"),
        ([(2, 0), (0, 2)], "size of 0"),
        ([(9, 9), (9, 2)], "too large to draw"),
    ],
)
def test_operands_that_do_not_fit_are_refused_with_the_reason(
    shapes: list[tuple[int, ...]], reason: str
) -> None:
    with pytest.raises(EquationError, match=reason):
        show_einsum("ij,jk->ik", *map(torch.ones, shapes))


def test_an_element_that_the_result_has_not_is_refused_with_its_shape() -> None:
    with pytest.raises(ValueError, match=r"element=\(2, 0\) is not .* \(2, 4\)"):
        show_einsum("ij,jk->ik", element=(2, 0))


def test_operands_that_require_grad_are_drawn_and_stay_as_they_are() -> None:
    x = torch.ones(2, 2, requires_grad=True)
    show_einsum("ij->i", x)
    assert (x.requires_grad, x.grad, x._version) == (True, None, 0)


@pytest.mark.parametrize("module", [equations, figure])
def test_the_examples_in_the_docstrings_show_what_they_return(module: object) -> None:
    seen = doctest.testmod(module)  # type: ignore[arg-type]
    assert (seen.failed, seen.attempted > 0) == (0, True)
