"""torch.autocast for the simulated device: CUDA's lists of operators, read from torch's header.

`ATen/autocast_mode.h` says which operators run in the lower precision, which in float32, and which
in the widest of their arguments. One difference to CUDA: a weight that is used twice inside one
autocast region is cast twice, since the cache of casts is out of reach from Python.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import torch

from course.gpu.simulator.devices import NAME

_HEADER = Path(torch.__file__).parent / "include/ATen/autocast_mode.h"
_KEY = "AutocastPrivateUse1"
_BANNED = (
    "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast.\n"
    "Many models use a sigmoid layer right before the binary cross entropy layer.\n"
    "In this case, combine the two layers using torch.nn.functional."
    "binary_cross_entropy_with_logits\nor torch.nn.BCEWithLogitsLoss.  "
    "binary_cross_entropy_with_logits and BCEWithLogits are\nsafe to autocast."
)
Kernel = Callable[..., Any]


def listed(policy: str) -> list[tuple[str, str]]:
    """Return operators and overloads of `AT_FORALL_<policy>`; nothing where the header is missing.

    >>> ("mm", "default") in listed("LOWER_PRECISION_FP")
    True
    """
    if not _HEADER.exists():
        return []
    start = f"#define AT_FORALL_{policy}(_)"
    body = _HEADER.read_text().split(start, 1)[1].split("\n\n", 1)[0]
    return [(name, overload or "default") for name, overload in _ENTRY.findall(body)]


_ENTRY = re.compile(r"_\((\w+)(?:, (\w+))?\)")


def register() -> list[torch.library.Library]:
    """Let autocast choose dtypes for operators of the simulated device."""
    others = torch.library.Library("_", "IMPL")
    others.fallback(torch.library.fallthrough_kernel, _KEY)
    library = torch.library.Library("aten", "IMPL", _KEY)
    policies: dict[str, Callable[[Any], Kernel]] = {
        "LOWER_PRECISION_FP": _in_lower_precision,
        "FP32": _in_float32,
        "FP32_SET_OPT_DTYPE": _to_float32,
        "PROMOTE": _in_the_widest,
    }
    for policy, kernel_of in policies.items():
        for operator in _operators(policy):
            library.impl(operator, kernel_of(operator))
    library.impl(torch.ops.aten.binary_cross_entropy.default, _refuse)
    return [others, library]


def _operators(policy: str) -> Iterator[Any]:
    for name, overload in listed(policy):
        packet = getattr(torch.ops.aten, name, None)
        if packet is not None and overload in packet.overloads():
            yield getattr(packet, overload)


def _in_lower_precision(operator: Kernel) -> Kernel:
    def run(*args: Any, **kwargs: Any) -> Any:
        return _cast_all(operator, args, kwargs, torch.get_autocast_dtype(NAME))

    return run


def _in_float32(operator: Kernel) -> Kernel:
    def run(*args: Any, **kwargs: Any) -> Any:
        return _cast_all(operator, args, kwargs, torch.float32)

    return run


def _in_the_widest(operator: Kernel) -> Kernel:
    def run(*args: Any, **kwargs: Any) -> Any:
        wide = any(_eligible(value) and value.dtype is torch.float32 for value in args)
        dtype = torch.float32 if wide else torch.get_autocast_dtype(NAME)
        return _cast_all(operator, args, kwargs, dtype)

    return run


def _to_float32(operator: Kernel) -> Kernel:
    """Let a reduction give its result in float32, unless the caller chose a dtype."""

    def run(*args: Any, **kwargs: Any) -> Any:
        with _below_autocast():
            positional = any(isinstance(value, torch.dtype) for value in args)
            if _eligible(args[0]) and not positional and kwargs.get("dtype") is None:
                kwargs["dtype"] = torch.float32
            return operator(*args, **kwargs)

    return run


def _refuse(*args: Any, **kwargs: Any) -> Any:
    raise RuntimeError(_BANNED)


def _below_autocast() -> AbstractContextManager[None]:
    keys = torch._C.DispatchKeySet(torch._C._dispatch_key_parse(_KEY))
    return torch._C._ExcludeDispatchKeyGuard(keys)


def _cast_all(operator: Kernel, args: Any, kwargs: dict[str, Any], dtype: torch.dtype) -> Any:
    with _below_autocast():
        kwargs = {name: _cast(value, dtype) for name, value in kwargs.items()}
        return operator(*(_cast(value, dtype) for value in args), **kwargs)


def _cast(value: Any, dtype: torch.dtype) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(_cast(item, dtype) for item in value)
    return value.to(dtype) if _eligible(value) else value


def _eligible(value: Any) -> bool:
    """Return whether autocast may change the dtype (`is_eligible`: floating, but not double)."""
    return (
        isinstance(value, torch.Tensor)
        and value.device.type == NAME
        and value.is_floating_point()
        and value.dtype is not torch.float64
    )
