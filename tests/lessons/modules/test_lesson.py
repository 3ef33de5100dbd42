"""Lesson 07: it teaches what it promises, and the numbers in its texts are PyTorch's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from tests.lessons.source import Source

SOURCE = Source("07-modules")
text = SOURCE.text


# --- the scene and its repair ---------------------------------------------------------------------


def test_the_scene_trains_five_numbers_of_33(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    exec(text("scene"), names)
    assert "course" not in text("scene")
    assert capsys.readouterr().out == "loss 0.48, with 5 numbers to learn\n"
    layers = [*names["net"].hidden, names["net"].last]
    assert [sum(p.numel() for p in one.parameters()) for one in layers] == [8, 20, 5]
    assert "8 + 20 + 5" in text("scene-symptom")


@pytest.mark.parametrize(
    ("repair", "printed"),
    [
        ("InAList", "loss 0.48, with 5 numbers to learn\n"),
        ("mlp", "loss 0.01, with 33 numbers to learn\n"),
    ],
)
def test_the_network_is_woken_up_by_the_answer_to_exercise_2(
    repair: str, printed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    names = SOURCE.solved("scene", "setup", "mlp")
    capsys.readouterr()
    line = "build = InAList"
    assert text("repaired").count(line) == 1
    exec(text("repaired").replace(line, f"build = {repair}"), names)
    assert capsys.readouterr().out == printed


def test_layers_in_the_list_add_up_gradients_that_nobody_clears() -> None:
    names: dict[str, Any] = {}
    exec(text("scene"), names)
    hidden, last = names["net"].hidden[0].weight, names["net"].last.weight
    assert hidden.grad.norm() > 1000 * last.grad.norm()
    assert "400 gradients" in text("list-rule")


# --- what the texts say ---------------------------------------------------------------------------


def test_the_errors_of_the_first_try_are_quoted_as_torch_words_them() -> None:
    names = SOURCE.solved("setup", "first-try")
    quotes = {32: "first-error", 64: "second-error"}
    for norm, cell in quotes.items():
        with pytest.raises(RuntimeError) as raised:
            names["first_try"](norm)(names["pictures"])
        assert f'*"{raised.value}"*' in text(cell)


def test_numbers_of_the_second_error_are_those_of_its_channels() -> None:
    assert 64 * 28 * 28 == 50_176
    assert 32 * 28 * 28 == 25_088


def test_the_bounds_are_those_of_the_text(capsys: pytest.CaptureFixture[str]) -> None:
    exec(text("bounds-measured"), {"nn": nn, "torch": torch})
    out = capsys.readouterr().out
    assert "default: 0.1000, and 1 / sqrt(100) is 0.1000" in out
    assert "Kaiming: 0.2449, and sqrt(6 / 100) is 0.2449" in out


def test_the_tower_keeps_its_signal_only_with_the_kaiming_start(
    capsys: pytest.CaptureFixture[str],
) -> None:
    SOURCE.solved("setup", "signal")
    default, kaiming = (float(line.split(": ")[1]) for line in capsys.readouterr().out.splitlines())
    assert default < 1e-8
    assert 0.01 < kaiming < 100


def test_a_second_file_of_one_name_is_not_imported(capsys: pytest.CaptureFixture[str]) -> None:
    names = SOURCE.solved("setup")
    exec(text("import-measured"), names)
    assert capsys.readouterr().out == "run1 -> run1\nrun2 -> run1\n"
    exec(text("spec-measured"), names)
    assert capsys.readouterr().out == "run1 -> run1\nrun2 -> run2\n"


def test_a_dataclass_asks_for_its_module_where_types_are_strings(tmp_path: Path) -> None:
    names, lines = (
        SOURCE.solved("setup", "load-class"),
        "@dataclass\nclass Net:\n    size: int = 3\n",
    )
    for first in ("", "from __future__ import annotations\n"):
        path = tmp_path / "net.py"
        path.write_text(f"{first}from dataclasses import dataclass\n{lines}")
        if not first:
            assert names["load_class"](path, "Net")().size == 3
        else:
            with pytest.raises(AttributeError, match="__dict__"):
                names["load_class"](path, "Net")
    assert "`from __future__ import annotations`" in text("spec-told")


def test_the_huge_model_has_as_many_numbers_as_its_question_says(
    capsys: pytest.CaptureFixture[str],
) -> None:
    SOURCE.solved("setup", "meta")
    assert capsys.readouterr().out.startswith("116 billion numbers\n464 GB meta\n")
    assert "96 blocks with a width of 12,288" in text("count-dive")
