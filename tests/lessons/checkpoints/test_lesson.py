"""Lesson 12: the resumed loss jumps and is mended, and what the texts say of files holds."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from course.lessons.checkpoints import stopped_at
from tests.lessons.source import Source

SOURCE = Source("12-checkpoints")
text, run = SOURCE.text, SOURCE.run
Printed = pytest.CaptureFixture[str]


def lines(capsys: Printed) -> list[str]:
    """The lines printed since the last look."""
    return capsys.readouterr().out.splitlines()


@pytest.fixture
def opened(capsys: Printed) -> dict[str, Any]:
    """The names of the scene and of the set-up, and a folder as unit 1 makes it."""
    names = SOURCE.solved("scene", "two-files")
    capsys.readouterr()
    return names


# --- the scene and its repair ---------------------------------------------------------------------


def test_the_scene_prints_a_loss_that_is_more_than_fifty_times_as_large(capsys: Printed) -> None:
    assert "course" not in text("scene") + text("scene-days")
    run("scene", "scene-days")
    monday, tuesday = (float(one) for one in re.findall(r"at (\S+?),?\s", lines(capsys)[0] + " "))
    assert tuesday > 50 * monday


def test_the_weights_of_the_scene_come_back_bit_for_bit() -> None:
    names = run("scene", "scene-days")
    back = torch.load(names["file"])  # the scene has rewound it
    assert all(
        torch.equal(back[name], value) for name, value in names["model"].state_dict().items()
    )


@pytest.mark.parametrize("repaired", [False, True])
def test_the_class_makes_monday_and_tuesday_one_run(repaired: bool, capsys: Printed) -> None:
    names = SOURCE.solved("scene", "resume-run", "repaired")
    names["Kept"] = names["RunFile" if repaired else "WeightsOnly"]
    run("repaired-day", "repaired-run", **names)
    ends, equal = lines(capsys)
    assert equal.endswith(str(repaired))
    monday, tuesday = (float(one) for one in re.findall(r"at (\S+?),?\s", ends + " "))
    assert (tuesday > 5 * monday) != repaired


@pytest.mark.exhaustive("whole notebooks and trainings")
def test_no_cell_leaves_a_file_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: dict[str, Any]
) -> None:
    monkeypatch.chdir(tmp_path)
    for cell in SOURCE.with_role("measure", "figure", "scene"):
        if cell["cell_type"] == "code" and "time" not in cell["id"]:
            exec(cell["source"], opened)
    assert list(tmp_path.iterdir()) == []


# --- the form -------------------------------------------------------------------------------------


# What a learner types who knows it.
WARM_UPS = {
    "norm": 5,
    "no-parameters": 3,
    "column": 320,
    "refused": "loads",
    "array": "refused",
    "types": "loads",
    "states": 2,
    "groups": [1],
    "rate": 0.3,
    "ending": 5,
    "meta": "meta",
    "mapped": 15.0,
    "mode": True,
    "patience": 5,
    "nan": 3,
}


def test_every_warm_up_takes_its_answer_and_refuses_another(opened: dict[str, Any]) -> None:
    run("greeting", "refused", "metrics-measured", **opened)
    names = {**opened, **run("patience-measured", **opened, unseen_losses=[1.0])}
    import pickle

    import numpy as np

    names |= {"pickle": pickle, "np": np, "path": names["folder"] / "epoch.pt"}
    torch.save({"weight": torch.arange(6.0)}, names["path"])
    cells = [cell["id"] for cell in SOURCE.with_role("warm-up")]
    assert cells == [f"warm-up-{name}" for name in WARM_UPS]
    states = SOURCE.warm_up_states(WARM_UPS, names)
    assert states == dict.fromkeys(WARM_UPS, ("right", "wrong"))


@pytest.mark.parametrize(
    ("losses", "patience", "epoch"),
    [([], 0, None), ([1, 2], 1, None), ([1, 2, 2], 1, 2), ([3, 3], 0, 1), ([float("nan")], 0, 0)],
)
def test_a_run_stops_when_more_epochs_than_patience_brought_nothing(
    losses: list[float], patience: int, epoch: int | None
) -> None:
    assert stopped_at(losses, patience) == epoch


# --- what the texts say ---------------------------------------------------------------------------


def test_only_the_whole_model_names_a_class_and_neither_has_its_code(capsys: Printed) -> None:
    SOURCE.solved("two-files")
    assert lines(capsys) == ["whole True False", "state False False"]


def test_both_files_hold_the_same_storages(opened: dict[str, Any]) -> None:
    def storages(name: str) -> list[bytes]:
        with zipfile.ZipFile(opened["folder"] / f"{name}.pt") as archive:
            entries = [one for one in archive.namelist() if one.startswith(f"{name}/data/")]
            return [archive.read(one) for one in entries]

    assert storages("whole") == storages("state")


def test_a_slice_takes_12000_bytes_along(opened: dict[str, Any]) -> None:
    run("slice-figure", **opened)
    with zipfile.ZipFile(opened["folder"] / "views.pt") as archive:
        assert archive.getinfo("views/data/0").file_size == 12000


def test_a_gift_is_refused_by_default_and_runs_without_weights_only(
    opened: dict[str, Any], capsys: Printed
) -> None:
    names = run("greeting", **opened)
    ran, got = lines(capsys)
    assert ran == "hello, I ran while you loaded me"
    assert got.endswith("'extra': None}")
    run("refused", "allowed", **names)
    gift, whole, state, unsafe, *_, allowed = lines(capsys)
    assert [one.split(":")[0].split()[1] for one in (gift, whole)] == ["refused"] * 2
    assert state.split() == ["state.pt", "OrderedDict"]
    assert unsafe == "['builtins.print']"
    assert allowed == "Sequential"


def test_the_program_of_a_gift_is_an_import_and_a_call(
    opened: dict[str, Any], capsys: Printed
) -> None:
    run("greeting", "taken-apart", **opened)
    told = capsys.readouterr().out
    assert "GLOBAL     '__builtin__ print'" in told
    assert "REDUCE" in told


def test_numpys_number_a_path_and_a_range_are_refused(
    opened: dict[str, Any], capsys: Printed
) -> None:
    run("greeting", "refused", "metrics-measured", **opened)
    refused = [
        line.rsplit("  ", 1)[0].strip() for line in lines(capsys) if line.endswith(" refused")
    ]
    assert [one.removesuffix("refused").strip() for one in refused] == [
        "a NumPy number",
        "a path",
        "a range",
    ]


def test_nothing_forgotten_is_exact_and_each_forgotten_part_is_not(
    opened: dict[str, Any], capsys: Printed
) -> None:
    names = run("a-run", "forgotten", **opened)
    told = {line.split()[0]: line.split()[-1] for line in lines(capsys)}
    assert list(told) == ["nothing", "model", "optimizer", "schedule", "random"]
    assert [part for part, off in told.items() if off == "0"] == ["nothing"]
    assert float(told["random"]) < float(told["schedule"]) < float(told["optimizer"])
    assert set(names["curves"]) >= {"never stopped", "without optimizer", "without random"}


def test_a_fresh_adam_moves_every_weight_by_about_its_rate() -> None:
    weight = torch.zeros(4, requires_grad=True)
    adam = torch.optim.Adam([weight], lr=0.1)
    weight.grad = torch.tensor([1e-6, -1e-3, 1.0, -1e6])
    adam.step()
    assert weight.abs().tolist() == pytest.approx([0.1] * 4, rel=0.02)


def test_a_loaded_schedule_does_not_set_the_rate_but_the_optimizer_does() -> None:
    def made() -> tuple[Any, Any]:
        sgd = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.4)
        return sgd, torch.optim.lr_scheduler.StepLR(sgd, 1)

    sgd, schedule = made()
    sgd.step()
    schedule.step()
    fresh, late = made()
    late.load_state_dict(schedule.state_dict())
    assert fresh.param_groups[0]["lr"] == 0.4
    fresh.load_state_dict(sgd.state_dict())
    assert fresh.param_groups[0]["lr"] == pytest.approx(0.04)


def test_an_optimizer_takes_the_tensors_of_the_dict_and_a_module_copies_them() -> None:
    layer = nn.Linear(2, 1)
    adam = torch.optim.Adam(layer.parameters())
    layer(torch.ones(1, 2)).sum().backward()
    adam.step()
    file = io.BytesIO()
    torch.save({"layer": layer.state_dict(), "adam": adam.state_dict()}, file)
    file.seek(0)
    loaded, other = torch.load(file), nn.Linear(2, 1)
    fresh = torch.optim.Adam(other.parameters())
    other.load_state_dict(loaded["layer"])
    fresh.load_state_dict(loaded["adam"])
    mean = loaded["adam"]["state"][0]["exp_avg"]
    assert fresh.state[other.weight]["exp_avg"].data_ptr() == mean.data_ptr()
    assert other.weight.data_ptr() != loaded["layer"]["weight"].data_ptr()


def test_numpys_random_state_holds_an_array_that_is_refused() -> None:
    import pickle

    import numpy as np

    file = io.BytesIO()
    torch.save(np.random.get_state(), file)
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError):
        torch.load(file)


def test_a_failed_save_leaves_neither_file(opened: dict[str, Any], capsys: Printed) -> None:
    run("failed-save", "failed-load", **opened)
    first, error, second, loaded = lines(capsys)
    assert error == "epoch 2: No space left on device"
    assert int(second.split()[-1]) < int(first.split()[-1])
    assert loaded.startswith("PytorchStreamReader failed")


def test_meta_has_shapes_and_mmap_never_writes_to_the_file(
    opened: dict[str, Any], capsys: Printed
) -> None:
    run("map-measured", path=opened["folder"] / "m.pt", **opened)
    meta, mapped = lines(capsys)
    assert "device='meta', size=(6,)" in meta
    assert mapped == "[99.0, 1.0, 2.0, 3.0, 4.0, 5.0] [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]"


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is the GPU that the file asks for")
def test_a_file_from_a_gpu_is_refused_without_one_and_map_location_helps() -> None:
    file, moved = io.BytesIO(), io.BytesIO()
    torch.save(torch.ones(2), file)
    with zipfile.ZipFile(file) as here, zipfile.ZipFile(moved, "w") as there:
        for name in here.namelist():
            tags = b"X\x03\x00\x00\x00cpu", b"X\x06\x00\x00\x00cuda:0"
            content = here.read(name)
            there.writestr(name, content.replace(*tags) if name.endswith(".pkl") else content)
    moved.seek(0)
    with pytest.raises(RuntimeError, match="on a CUDA device"):
        torch.load(moved)
    moved.seek(0)
    assert torch.load(moved, map_location="cpu").tolist() == [1, 1]


def test_an_alias_moves_with_the_model_and_a_copy_does_not(capsys: Printed) -> None:
    run("kept-measured", torch=torch)
    assert lines(capsys) == [
        "weight        alias 7  copy 1",
        "running_mean  alias 5  copy 0",
    ]


def test_the_large_network_is_best_long_before_its_end(capsys: Printed) -> None:
    names = SOURCE.solved("overfit")
    last = "unseen_losses = list(overfit())"
    exec(last, names)
    seen = names["unseen_losses"]
    assert min(seen) < 0.8 * seen[-1]
    assert min(range(60), key=seen.__getitem__) < 30
    run("patience-measured", **names)
    epochs = [line.split()[-1] for line in lines(capsys)]
    assert epochs[0] != "None"
    assert int(epochs[0]) < int(epochs[1])


def test_dataparallel_puts_module_before_each_name(capsys: Printed) -> None:
    run("edited", "renamed", torch=torch)
    names, matched = lines(capsys)
    assert names == "['module.0.weight', 'module.0.bias']"
    assert matched == "<All keys matched successfully>"


def test_a_compiled_model_has_a_prefix_too() -> None:
    compiled: Any = torch.compile(nn.Linear(1, 1), backend="eager")
    assert list(compiled.state_dict()) == ["_orig_mod.weight", "_orig_mod.bias"]


def test_a_wrong_shape_is_an_error_even_if_not_strict() -> None:
    with pytest.raises(RuntimeError, match="size mismatch"):
        nn.Linear(2, 2).load_state_dict(nn.Linear(3, 2).state_dict(), strict=False)


def test_a_file_that_loads_anywhere_needs_plain_values(capsys: Printed) -> None:
    run("refused-things", "refused-shown", torch=torch)
    refused = {line.split()[0] for line in lines(capsys) if line.endswith(" refused")}
    assert refused == {"Namespace", "float32", "defaultdict", "frozenset", "Fraction"}


def test_deepcopy_of_a_tensor_within_a_graph_raises() -> None:
    from copy import deepcopy

    with pytest.raises(RuntimeError, match="graph"):
        deepcopy(torch.ones(1, requires_grad=True) * 2)


# --- safetensors, for real ------------------------------------------------------------------------


def test_safetensors_is_a_length_a_header_and_numbers(capsys: Printed) -> None:
    pytest.importorskip("safetensors")
    run("safetensors-written", "safetensors-bytes", torch=torch)
    loaded, header, numbers = lines(capsys)
    assert loaded == "{'weight': tensor([0., 1., 2.])}"
    assert '"dtype":"F32","shape":[3],"data_offsets":[0,12]' in header
    assert len(eval(numbers)) == 12


def test_safetensors_refuses_shared_and_turned_tensors_and_cuts_rows(capsys: Printed) -> None:
    pytest.importorskip("safetensors")
    run("safetensors-written", "safetensors-refuses", torch=torch)
    shared, turned, row = lines(capsys)[-3:]
    assert shared.endswith("RuntimeError")
    assert turned.endswith("ValueError")
    assert int(row.split()[-2]) < 100


def test_safetensors_saves_a_model_with_tied_weights(tmp_path: Path) -> None:
    torch_side = pytest.importorskip("safetensors.torch")
    layer = nn.Linear(2, 2, bias=False)
    tied = nn.Sequential(layer, layer)
    torch_side.save_model(tied, str(tmp_path / "tied.safetensors"))
    other = nn.Linear(2, 2, bias=False)
    torch_side.load_model(nn.Sequential(other, other), str(tmp_path / "tied.safetensors"))
    assert torch.equal(layer.weight, other.weight)


def test_without_safetensors_the_cells_say_how_to_get_it_and_go_on(
    monkeypatch: pytest.MonkeyPatch, capsys: Printed
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "safetensors.torch", None)
    run("safetensors-written", "safetensors-bytes", "safetensors-refuses", torch=torch)
    assert lines(capsys) == [
        "safetensors isn't installed: pip install safetensors, then run this cell again"
    ]


# --- the solutions --------------------------------------------------------------------------------


def test_a_run_with_dropout_and_a_schedule_goes_on_bit_by_bit(tmp_path: Path) -> None:
    kept: Callable[..., Any] = SOURCE.solved("resume-run")["RunFile"]

    def day(path: Path, until: int) -> torch.Tensor:
        torch.manual_seed(3)
        model = nn.Sequential(nn.Linear(2, 4), nn.Dropout(), nn.Linear(4, 1))
        adam = torch.optim.Adam(model.parameters(), lr=0.1)
        rates = torch.optim.lr_scheduler.StepLR(adam, 3)
        own = torch.Generator().manual_seed(5)
        file = kept(path, {"model": model, "adam": adam, "rates": rates}, [own])
        for _ in range(file.resume(), until):
            adam.zero_grad()
            model(torch.randn(8, 2, generator=own)).square().mean().backward()
            adam.step()
            rates.step()
        file.save(until)
        return nn.utils.parameters_to_vector(model.parameters()).detach()

    whole = day(tmp_path / "whole.pt", 11)
    for until in (2, 5, 6, 11):
        stopped = day(tmp_path / "stopped.pt", until)
    assert torch.equal(stopped, whole)
