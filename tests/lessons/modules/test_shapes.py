"""Shape figures: they tell the calls as torch makes them, and leave the model as it was."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from course.figures import not_drawn
from course.figures.scene import WIDTH, Box
from course.lessons.modules import show_shapes
from course.lessons.modules.layer_calls import run_of
from tests.course.figures.drawn import collisions, scene_of, texts_of


class Unused(nn.Module):
    """Makes a last layer, and never calls it; one layer sits in a plain list."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
        self.hidden = [nn.Linear(8, 8)]
        self.last = nn.Linear(8, 3)
        self.trace: list[torch.Tensor] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Everything but the last layer."""
        x = self.hidden[0](self.body(x))
        self.trace.append(x)
        return x


def cnn(channels: int = 4, features: int = 4 * 36) -> nn.Sequential:
    """Two convolutions and a linear layer for images of 6 by 6."""
    return nn.Sequential(
        *(nn.Conv2d(1, 2, 3, padding=1), nn.BatchNorm2d(2), nn.Conv2d(2, 4, 3, padding=1)),
        *(nn.BatchNorm2d(channels), nn.Flatten(), nn.Linear(features, 3)),
    )


IMAGES = torch.rand(5, 1, 6, 6)
MODELS: dict[str, tuple[Callable[[], nn.Module], tuple[torch.Tensor, ...]]] = {
    "a network that runs": (cnn, (IMAGES,)),
    "one that fails": (lambda: cnn(2), (IMAGES,)),
    "an unused layer": (Unused, (torch.rand(2, 4),)),
    "a layer alone": (lambda: nn.LSTM(3, 4), (torch.rand(2, 5, 3),)),
    "attention": (lambda: nn.MultiheadAttention(4, 2), (torch.rand(2, 1, 4),) * 3),
    "many layers": (lambda: nn.Sequential(*[nn.Identity()] * 60), (torch.rand(2),)),
    "long names": (
        lambda: nn.ModuleDict({"a_name_that_is_much_too_long_to_be_read": nn.Linear(2, 2)}),
        (torch.rand(2),),
    ),
}


def test_each_call_has_the_shapes_that_torch_gives_it() -> None:
    net, x, seen = cnn(), IMAGES, []
    for layer in net:
        taken, x = tuple(x.shape), layer(x)
        seen.append(((taken,), (tuple(x.shape),)))
    assert [(call.taken, call.given) for call in run_of(net, (IMAGES,)).calls] == seen


def test_the_layer_that_raises_is_the_last_call_and_says_torchs_words() -> None:
    run = run_of(cnn(channels=2), (IMAGES,))
    assert run.failed
    assert [call.name for call in run.calls] == ["0", "1", "2", "3"]
    assert run.calls[-1].error == "RuntimeError: running_mean should contain 4 elements not 2"
    assert [name for name, _ in run.unused] == ["4", "5"]


def test_an_error_in_forward_itself_is_the_models_own() -> None:
    class Broken(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(2, 2)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.layer(x).view(3)

    last = run_of(Broken(), (torch.ones(1, 2),)).calls[-1]
    assert (last.name, last.error[:19]) == ("", "RuntimeError: shape")
    assert "the model" in texts_of(show_shapes(Broken(), torch.ones(1, 2)))


def test_a_layer_that_forward_passes_by_is_named_and_one_in_a_plain_list_is_seen() -> None:
    run = run_of(Unused(), (torch.ones(2, 4),))
    assert [call.name for call in run.calls] == ["body.0", "body.1", "hidden[0]"]
    assert run.unused == (("last", "Linear(8, 3)"),)
    assert not run.failed


def test_a_layer_called_twice_stands_there_twice() -> None:
    layer = nn.Linear(2, 2)
    run = run_of(nn.Sequential(layer, layer), (torch.ones(1, 2),))
    assert [call.name for call in run.calls] == ["0", "0"]
    assert run.parameters == 6


def test_attention_is_one_layer_whose_parts_are_not_called_unused() -> None:
    run = run_of(nn.MultiheadAttention(4, 2), (torch.rand(2, 1, 4),) * 3)
    assert [call.title for call in run.calls] == ["MultiheadAttention()"]
    assert run.unused == ()


def test_a_failure_that_the_model_catches_is_no_failure() -> None:
    class Careful(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.small, self.large = nn.Linear(2, 2), nn.Linear(3, 3)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            try:
                return self.small(x)
            except RuntimeError:
                return self.large(x)

    run = run_of(Careful(), (torch.ones(1, 3),))
    assert ([call.name for call in run.calls], run.failed) == (["large"], False)


def test_the_model_its_hooks_and_the_random_state_stay_as_they_were() -> None:
    net, noted = nn.Sequential(*cnn(), nn.Dropout()), []
    net[0].register_forward_hook(lambda *_: noted.append("called"))
    before = {name: value.clone() for name, value in net.state_dict().items()}
    state, hooks = torch.get_rng_state(), len(net[0]._forward_hooks)
    show_shapes(net, IMAGES)
    assert all(torch.equal(before[name], value) for name, value in net.state_dict().items())
    assert torch.equal(torch.get_rng_state(), state)
    assert (noted, len(net[0]._forward_hooks), net.training) == ([], hooks, True)


def test_a_model_that_keeps_results_with_their_graph_is_drawn_all_the_same() -> None:
    net = Unused()
    net(torch.ones(2, 4))
    assert net.trace[0].grad_fn is not None
    assert not run_of(net, (torch.ones(2, 4),)).failed
    assert len(net.trace) == 1


def test_the_bars_are_to_scale() -> None:
    run = run_of(cnn(), (IMAGES,))
    boxes = [item for item in scene_of(show_shapes(cnn(), IMAGES)).items if isinstance(item, Box)]
    sizes = [180, *(torch.Size(call.given[0]).numel() for call in run.calls)]
    longest = max(box.width for box in boxes)
    expected = [max(1.0, longest * size / max(sizes)) for size in sizes]
    assert [box.width for box in boxes] == pytest.approx(expected)


@pytest.mark.parametrize("name", MODELS)
def test_no_text_lies_over_another_or_leaves_the_figure(name: str) -> None:
    make, inputs = MODELS[name]
    scene = scene_of(show_shapes(make(), *inputs))
    assert collisions(scene) == []
    assert scene.width == WIDTH


def test_of_many_calls_the_first_are_drawn_and_the_rest_counted() -> None:
    make, inputs = MODELS["many layers"]
    picture = show_shapes(make(), *inputs)
    assert "20 further calls after these are not drawn." in texts_of(picture)
    assert "40 further calls are not told." in picture.alt


def test_the_alt_text_tells_the_error_and_what_was_not_reached() -> None:
    alt = show_shapes(cnn(channels=2), IMAGES).alt
    assert "3, BatchNorm2d(2), takes (5, 4, 6, 6) and raises RuntimeError: running_mean" in alt
    assert alt.endswith("Not reached: 4 and 5.")


def test_what_is_no_module_is_refused_and_while_grading_nothing_runs() -> None:
    with pytest.raises(TypeError, match="runs a module, not Tensor"):
        show_shapes(torch.ones(2))  # type: ignore[arg-type]
    with not_drawn():
        assert show_shapes(cnn(), "no image").alt == "Figures are not drawn in this process."
