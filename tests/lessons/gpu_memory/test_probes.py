"""Probes of GPU memory: what a step leaves, which error comes out, and what a network was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from course.lessons.gpu_memory.probes import (
    batch_in_parts,
    blocks_run,
    growth_reported,
    layers_recorded,
    sizes_tried,
)


def nothing(*_: Any) -> list[Any]:
    """An answer that does nothing."""
    return []


def one_call(step: Callable[..., Any], limit: int = 0) -> str:
    """An answer that calls the step once."""
    step(limit) if limit else step()
    return "called"


def test_the_steps_of_a_meter_are_counted() -> None:
    assert growth_reported.here(one_call, "tie a knot") == {"said": "called", "calls": 1}


@pytest.mark.parametrize("kind", ["shapes", "words", "host", "stop"])
def test_an_error_that_comes_out_is_told_from_a_copy_of_it(kind: str) -> None:
    def copying(step: Callable[..., Any], limit: int) -> None:
        try:
            step(limit)
        except BaseException as error:
            raise type(error)(*error.args) from None

    [name, same] = sizes_tried.here(one_call, 9, 9, kind)["error"]
    assert same is True
    assert sizes_tried.here(copying, 9, 9, kind) == {
        "found": None,
        "tried": [9],
        "error": [name, False],
    }


def test_a_size_that_does_not_fit_is_refused_whatever_the_words() -> None:
    with pytest.raises(torch.OutOfMemoryError, match="no room"):
        sizes_tried.here(one_call, 9, 8)
    assert sizes_tried.here(one_call, 9, 9)["found"] == "called"


def test_hooks_that_are_gone_are_told() -> None:
    def clearing(model: nn.Module, x: torch.Tensor) -> list[Any]:
        for module in model.modules():
            module._forward_hooks.clear()
        return []

    seen = layers_recorded.here(clearing, "twice", "cpu")
    assert {tuple(one) for one in seen["after"]["hooks"]} == {(0, 1)}
    assert layers_recorded.here(nothing, "twice", "cpu")["before"]["hooks"][0] == [2, 1]


def test_an_interrupt_of_the_model_is_told() -> None:
    def calling(model: nn.Module, x: torch.Tensor) -> list[Any]:
        model(x)
        return []

    assert layers_recorded.here(calling, "stop", "cpu")["error"] == ["KeyboardInterrupt", True]
    assert layers_recorded.here(calling, "a layer", "cpu")["error"] == ["nothing", False]


def test_the_parts_of_a_batch_and_the_gradients_of_all_leaves_are_told() -> None:
    def halves(model: nn.Module, criterion: Any, x: torch.Tensor, y: torch.Tensor, _: int) -> float:
        for some, aims in zip(x.chunk(2), y.chunk(2), strict=True):
            criterion(model(some), aims).backward()
        return 0.0

    seen = batch_in_parts.here(halves, 6, 2, 0.5)
    assert (seen["sizes"], len(seen["gradients"])) == ([3, 3], 6)
    assert [one.shape for one in seen["gradients"][4:]] == [(6, 256), (6, 256)]


def test_blocks_draw_the_same_each_time() -> None:
    def plain(blocks: list[nn.Module], x: torch.Tensor) -> torch.Tensor:
        for block in blocks:
            x = block(x)
        return x

    first, second = (blocks_run.here(plain, True) for _ in range(2))
    assert torch.equal(first["out"], second["out"])
    assert (first["out"] == 0).any()
