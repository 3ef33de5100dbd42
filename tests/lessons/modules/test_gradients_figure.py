"""Module trees: what is registered, frozen and reached by a gradient is told as torch has it."""

from __future__ import annotations

import re
import warnings

import pytest
import torch
from torch import nn

from course.figures import not_drawn
from course.figures.palette import fill
from course.figures.scene import WIDTH, Box
from course.lessons.modules import show_modules
from course.lessons.modules.module_parts import copied, held_by, title_of
from course.lessons.modules.module_tree import rows_of, subjects_of
from tests.course.figures.drawn import collisions, scene_of, texts_of


class Net(nn.Module):
    """Has one of everything that may go wrong."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = [nn.Linear(3, 3), {"deep": (nn.Linear(3, 3),)}]
        self.norm = nn.BatchNorm1d(3)
        self.last = nn.Linear(3, 1)
        self.unused = nn.Linear(3, 3)
        self.tied = nn.Linear(3, 3)
        self.tied.weight = self.unused.weight
        self.scale = torch.ones(3, requires_grad=True)
        self.norm.bias.requires_grad_(False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The layers of the list, then the others."""
        x = self.layers[0](x)  # type: ignore[operator]
        x = self.layers[1]["deep"][0](x)  # type: ignore[index]
        self.kept = self.norm(x) * self.scale
        return self.last(self.kept).sum()  # type: ignore[no-any-return]


@pytest.fixture
def net() -> Net:
    """A network after backward."""
    torch.manual_seed(0)
    model = Net()
    model(torch.rand(4, 3)).backward()
    return model


def test_registered_is_what_torch_finds(net: Net) -> None:
    found = {row.path for row in rows_of(net) if row.is_tensor and row.registered}
    names = [n for n, _ in net.named_parameters(remove_duplicate=False)]
    assert found == {*names, *(n for n, _ in net.named_buffers())}


def test_what_sits_in_plain_containers_is_found_however_deep(net: Net) -> None:
    hidden = [row.path for row in rows_of(net) if not row.registered]
    layers = ["layers[0]", "layers[1]['deep'][0]"]
    leaves = [f"{one}{end}" for one in layers for end in ("", ".weight", ".bias")]
    assert hidden == [*leaves, "scale", "kept"]
    assert "✗ in a plain tuple: not registered" in texts_of(show_modules(net))


def test_the_norms_are_those_of_the_gradients(net: Net) -> None:
    held = {path: part.value for path, part in held_by(net)}
    for row in rows_of(net):
        tensor = held.get(row.path)
        if isinstance(tensor, torch.Tensor) and tensor.is_leaf and tensor.grad is not None:
            assert row.norm == pytest.approx(float(tensor.grad.norm()), rel=1e-5)
        else:
            assert row.norm is None


def test_frozen_tied_and_unreached_parameters_each_say_so(net: Net) -> None:
    alt = show_modules(net).alt
    assert "norm.bias of shape (3,): frozen." in alt
    assert "tied.weight of shape (3, 3): the same tensor as unused.weight." in alt
    assert "unused.weight of shape (3, 3): no gradient." in alt
    assert "norm.running_mean of shape (3,): a buffer." in alt


def test_a_bar_is_blue_where_parameters_yields_the_tensor_else_orange_and_dashed(net: Net) -> None:
    boxes = [item for item in scene_of(show_modules(net)).items if isinstance(item, Box)]
    rows = [row for row in rows_of(net) if row.norm is not None]
    assert [box.fills[0] for box in boxes] == [fill(0 if r.registered else 1) for r in rows]
    assert [box.dashed for box in boxes] == [not row.registered for row in rows]


def test_the_bars_are_to_scale(net: Net) -> None:
    boxes = [item for item in scene_of(show_modules(net)).items if isinstance(item, Box)]
    norms = [row.norm for row in rows_of(net) if row.norm is not None]
    longest = max(box.width for box in boxes)
    assert [b.width for b in boxes] == pytest.approx(
        [max(1, longest * n / max(norms)) for n in norms]
    )


def test_the_caption_counts_gradients_and_who_is_hidden(net: Net) -> None:
    asking = [s for s in subjects_of(net) if s.tensor.requires_grad]
    reached = sum(s.tensor.grad is not None for s in asking)
    caption = show_modules(net).caption
    assert caption.startswith(f"{reached} of {len(asking)} tensors that require grad have a grad")
    assert "5 of them are not in parameters() (orange, dashed)" in caption


def test_a_result_that_the_model_keeps_is_told_as_one(net: Net) -> None:
    assert "kept of shape (4, 3): a result, kept with its graph." in show_modules(net).alt


def test_subjects_are_all_parameters_and_leaves_each_once(net: Net) -> None:
    found = subjects_of(net)
    assert len({id(one.tensor) for one in found}) == len(found)
    assert {id(p) for p in net.parameters()} <= {id(one.tensor) for one in found}
    assert {"scale", "norm.bias"} <= {one.path for one in found}


def test_nothing_is_said_twice_and_nothing_warns(net: Net) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # asking a result for its gradient would warn
        paths = [row.path for row in rows_of(net)]
    assert len(set(paths)) == len(paths)


@pytest.mark.parametrize("value", [0.0, float("nan"), float("inf")])
def test_gradients_of_zero_nan_and_infinity_are_drawn(value: float) -> None:
    layer = nn.Linear(2, 1)
    layer.weight.grad = torch.full((1, 2), value)
    picture = show_modules(layer)
    assert f"gradient of norm {value:.0f}." in picture.alt
    assert [round(b.width) for b in scene_of(picture).items if isinstance(b, Box)] == [1]


def test_lazy_and_meta_modules_are_drawn_too() -> None:
    assert "weight of shape no shape yet" in show_modules(nn.LazyLinear(3)).alt
    assert "weight of shape (3, 2)" in show_modules(nn.Linear(2, 3, device="meta")).alt


@pytest.mark.parametrize(
    "model",
    [Net(), nn.Linear(1, 1), nn.Sequential(*[nn.Linear(1, 1) for _ in range(40)]), nn.LSTM(2, 3)],
    ids=["one of everything", "a layer", "a long one", "an LSTM"],
)
def test_no_text_lies_over_another_or_leaves_the_figure(model: nn.Module) -> None:
    scene = scene_of(show_modules(model))
    assert collisions(scene) == []
    assert scene.width == WIDTH


def test_of_a_long_tree_the_rest_is_counted() -> None:
    model = nn.Sequential(*[nn.Linear(1, 1) for _ in range(40)])
    assert "73 further rows are not drawn." in texts_of(show_modules(model))


def test_a_module_that_holds_itself_in_a_list_ends() -> None:
    model = nn.Linear(1, 1)
    model.friends = [model]  # type: ignore[assignment]
    assert "friends[0], Linear(1, 1): the same module as the model." in show_modules(model).alt


def test_a_copy_shares_nothing_has_no_hooks_and_the_same_ties(net: Net) -> None:
    net.last.register_forward_hook(lambda *_: None)
    twin = copied(net)
    assert isinstance(twin, Net)
    assert (len(twin.last._forward_hooks), len(net.last._forward_hooks)) == (0, 1)
    assert twin.tied.weight is twin.unused.weight
    assert {id(s.tensor) for s in subjects_of(twin)}.isdisjoint(
        id(s.tensor) for s in subjects_of(net)
    )
    assert torch.equal(twin.kept, net.kept)


@pytest.mark.parametrize(
    ("module", "title"),
    [
        (nn.Linear(2, 3, bias=False), "Linear(2, 3, bias=False)"),
        (nn.Conv2d(1, 2, (3, 5), stride=2), "Conv2d(1, 2, (3, 5), stride=2)"),
        (nn.BatchNorm2d(4, eps=0.1), "BatchNorm2d(4, eps=0.1)"),
        (nn.LeakyReLU(inplace=True), "LeakyReLU(negative_slope=0.01, inplace=True)"),
        (nn.Flatten(), "Flatten()"),
        (nn.LayerNorm(3), "LayerNorm((3,))"),
    ],
)
def test_a_title_says_what_differs_from_the_defaults(module: nn.Module, title: str) -> None:
    assert title_of(module) == title


def test_what_is_no_module_is_refused_and_while_grading_nothing_is_drawn() -> None:
    with pytest.raises(TypeError, match=re.escape("draws a module, not list")):
        show_modules([])  # type: ignore[arg-type]
    with not_drawn():
        assert show_modules(Net()).alt == "Figures are not drawn in this process."
