"""The modes of torch that cells leave on, and those in which an exercise is asked.

A mode that a learner's cell sets holds for the cells after it, as in any notebook.  In a notebook
it holds for the test cells too, for what they pass and for what they compare with.  Here those run
in another process, so an exercise is asked in the modes of before the first cell, with what the
lesson's own cells have set since: whoever turns gradients off to look at something, or asks for
more threads, loses nothing by it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._device import DeviceContext

__all__ = ["MODES", "CellModes", "cell_modes"]

_grad_mode, _set_grad_mode = torch.is_grad_enabled, torch._C._set_grad_enabled
_is_inference, _guard = torch.is_inference_mode_enabled, torch._C._InferenceMode
_of_default_device, _set_default_device = torch._GLOBAL_DEVICE_CONTEXT, torch.set_default_device
_deterministic = torch.are_deterministic_algorithms_enabled
_warns_only = torch.is_deterministic_algorithms_warn_only_enabled
_set_deterministic = torch._C._set_deterministic_algorithms
_anomalies, _checks_nan = torch.is_anomaly_enabled, torch.is_anomaly_check_nan_enabled
_set_anomalies = torch.set_anomaly_enabled
_autocast, _set_autocast = torch.is_autocast_enabled, torch.set_autocast_enabled
_autocast_dtype, _set_autocast_dtype = torch.get_autocast_dtype, torch.set_autocast_dtype
_profiles, _end_profiler = (
    torch._C._autograd._profiler_enabled,
    torch._C._autograd._disable_profiler,
)
_guards: list[Any] = []  # in force for as long as somebody keeps them


def _grad() -> tuple[bool, bool]:
    return _grad_mode(), _is_inference()


def _set_grad(grad: bool, inference: bool) -> None:
    if _is_inference() != inference:
        _guards.append(_guard(inference))
    _set_grad_mode(grad)


def _device() -> str | None:
    context = getattr(_of_default_device, "device_context", None)
    return str(context.device) if type(context) is DeviceContext else None


def _set_autocast_on_cpu(enabled: bool, dtype: torch.dtype) -> None:
    _set_autocast("cpu", enabled)
    _set_autocast_dtype("cpu", dtype)


def _set_profiler(on: bool) -> None:
    if not on:
        _end_profiler()


_READ_AND_SET: dict[str, tuple[Callable[[], Any], Callable[..., None]]] = {
    "number of threads": (torch.get_num_threads, torch.set_num_threads),
    "grad mode": (_grad, lambda now: _set_grad(*now)),
    "default dtype": (torch.get_default_dtype, torch.set_default_dtype),
    "default device": (_device, _set_default_device),
    "anomaly mode": (
        lambda: (_anomalies(), _checks_nan()),
        lambda now: _set_anomalies(*now),
    ),
    "deterministic algorithms": (
        lambda: (_deterministic(), _warns_only()),
        lambda now: _set_deterministic(now[0], warn_only=now[1]),
    ),
    "autocast": (
        lambda: (_autocast("cpu"), _autocast_dtype("cpu")),
        lambda now: _set_autocast_on_cpu(*now),
    ),
    # One that was left on; it would find every operator of an answer, and we none.
    "profiler": (_profiles, _set_profiler),
    "precision of matrix products": (
        torch.get_float32_matmul_precision,
        torch.set_float32_matmul_precision,
    ),
}
MODES = tuple(_READ_AND_SET)


@dataclass(frozen=True)
class CellModes:
    """What is known of the modes, by functions whose state nobody finds.

    Attributes:
        look: Is called after each cell, with whether it is one of the lesson's own.
        asked_in: The modes in which an exercise is asked now, as text.
        left_on: The names of those that are others at the end of the last cell.
        put_back: Sets them; for a snapshot, which answers and runs no cell.
    """

    look: Callable[[bool], None]
    asked_in: Callable[[], str]
    left_on: Callable[[], list[str]]
    put_back: Callable[[], None]


def cell_modes() -> CellModes:
    """Begin with the modes of this moment, before the first cell."""
    names, steps = MODES, tuple(_READ_AND_SET.values())
    read, change = [one for one, _ in steps], [one for _, one in steps]
    text, paired, ignoring, numbered = repr, zip, suppress, enumerate

    def now() -> list[Any]:
        return [look() for look in read]

    asked = now()
    latest = list(asked)

    def look(own: bool) -> None:
        found = now()
        if own:
            for at, (before, after) in numbered(paired(latest, found, strict=True)):
                if before != after:
                    asked[at] = after
        latest[:] = found

    def left_on() -> list[str]:
        several = paired(names, asked, latest, strict=True)
        return [name for name, wanted, found in several if wanted != found]

    def put_back() -> None:
        for give, wanted, found in paired(change, asked, latest, strict=True):
            if wanted != found:
                with ignoring(BaseException):  # a function of torch may be the learner's by now
                    give(wanted)

    return CellModes(look, lambda: text(asked), left_on, put_back)
