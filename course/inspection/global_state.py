"""What a call may leave behind that is neither result nor argument: modes, defaults, generators.

Two looks, before and after a call, tell which of it the call has changed.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import random
import sys
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

import numpy as np
import torch

from course.inspection.error_origin import is_misspelt

__all__ = [
    "MISSPELT",
    "RANDOM_STATE",
    "STATES",
    "GlobalState",
    "ModuleState",
    "restore_modes",
    "unwatched",
    "watched",
]

RANDOM_STATE = "random state"
MISSPELT = "a name that does not exist"

_grad_mode, _set_grad_mode = torch.is_grad_enabled, torch._C._set_grad_enabled
_default_dtype, _set_default_dtype = torch.get_default_dtype, torch.set_default_dtype
_default_device, _anomalies = torch.get_default_device, torch.is_anomaly_enabled
_threads, _set_threads = torch.get_num_threads, torch.set_num_threads
_deterministic = torch.are_deterministic_algorithms_enabled
_function_modes = torch._C._len_torch_function_stack
_torchs_generator = torch.default_generator
# NumPy's Mersenne twister: 624 words and a position. Its `state` takes 40 times as long to read.
_numpys = (ctypes.c_char * (4 * 624 + 4)).from_address(
    vars(np.random)["mtrand"]._rand._bit_generator.ctypes.state_address
)
# Python's own, an index and 624 words behind the object's head, and the second of two Gaussian
# numbers. Its `getstate` makes a tuple of 625 integers: 20 times as long to read, and to compare.
_pythons = vars(random)["_inst"]
_pythons_fields = vars(_pythons)
_pythons_words = (ctypes.c_char * (4 + 4 * 624)).from_address(id(_pythons) + object.__basicsize__)
_bytes_at = ctypes.string_at
_environment = vars(os.environ)["_data"]  # a copy of the mapping itself takes 40 times as long
_loaded = sys.modules
_address, _nbytes = torch.Tensor.data_ptr, vars(torch._C.TensorBase)["nbytes"].__get__
_go_to = os.chdir
_is_inference = torch.is_inference_mode_enabled


class GlobalState:
    """The state of this process that every later call depends on, at one moment.

    Grad mode, default dtype and device, the number of threads, anomaly mode, deterministic
    algorithms, the working directory, environment variables, and the random generators of torch,
    Python and NumPy.
    """

    def __init__(self) -> None:
        self.modes: dict[str, Any] = {
            "grad mode": (_grad_mode(), _is_inference()),
            "default dtype": _default_dtype(),
            # A default device is a mode of its own.
            "default device": str(_default_device()) if _function_modes() else "cpu",
            "number of threads": _threads(),
            "anomaly mode": _anomalies(),
            "deterministic algorithms": _deterministic(),
            "working directory": _working_directory(),
            "environment": _environment.copy(),
        }
        self._loaded = len(_loaded)
        self.generators = (
            _bytes_of(_torchs_generator.get_state()),
            _pythons_words.raw,
            _pythons_fields.get("gauss_next"),
            _numpys.raw,
        )

    def changed_since(self, before: GlobalState) -> list[str]:
        """What is no longer as it was, by the names that `answer(..., changes=...)` takes."""
        now = self.modes
        if self._loaded != before._loaded:
            # A library may add variables of its own when it is imported: `torch.optim` the folder
            # of a compiler's cache, scikit-learn two for OpenMP. That is not the caller's doing.
            there = before.modes["environment"]
            kept = {name: value for name, value in now["environment"].items() if name in there}
            now = {**now, "environment": kept}
        changed = [name for name, value in now.items() if value != before.modes[name]]
        return changed + [RANDOM_STATE] * (self.generators != before.generators)


def _bytes_of(state: torch.Tensor) -> bytes:
    """The bytes of a tensor, without an operator of torch that a recording would list."""
    return _bytes_at(_address(state), _nbytes(state))


def _working_directory(look: Callable[[], str] = os.getcwd) -> str | None:
    """The folder that relative paths begin in, or None where it has been removed."""
    try:
        return look()
    except OSError:
        return None


def restore_modes(before: GlobalState) -> None:
    """Put the modes back that would change what a later call does; generators go on."""
    _set_grad_mode(before.modes["grad mode"][0])
    _set_default_dtype(before.modes["default dtype"])
    if (folder := before.modes["working directory"]) not in (None, _working_directory()):
        with contextlib.suppress(OSError):
            _go_to(folder)
    if _threads() != before.modes["number of threads"]:
        _set_threads(before.modes["number of threads"])


def watched(found: Any, changed: list[str]) -> Any:
    """The learner's function for a probe, in a wrapper that notes which state its calls change.

    It also notes, as `MISSPELT`, that a call of it ended for a name that does not exist: a probe
    may catch that and tell no more than the class.

    A probe sets up what it likes: seeds, modes, folders. So the looks are taken before and after
    each of the function's own calls, not around the probe.

    Args:
        found: What the learner has made; classes and other objects come back as they are.
        changed: Gets the names that `answer(..., changes=...)` takes, each one once.
    """
    if not isinstance(found, FunctionType):
        return found

    @functools.wraps(found)
    def call(*args: Any, **kwargs: Any) -> Any:
        before = GlobalState()
        try:
            return found(*args, **kwargs)
        except (NameError, AttributeError) as error:
            # A class of one's own may do anything when it is asked for its text.
            plain = type(error) in (NameError, UnboundLocalError, AttributeError)
            if plain and is_misspelt(type(error).__name__, str(error)) and MISSPELT not in changed:
                changed.append(MISSPELT)
            raise
        finally:
            changed.extend(one for one in GlobalState().changed_since(before) if one not in changed)

    return call


def unwatched(found: Any) -> Any:
    """The function in the wrapper of `watched`, for probes that read its code."""
    inside = isinstance(found, FunctionType) and found.__code__ is _WRAPPER
    return vars(found)["__wrapped__"] if inside else found


_WRAPPER = watched(lambda: None, []).__code__
_fields_of = vars(torch.nn.Module)["__dict__"].__get__
_HOOKS = (
    "_forward_hooks",
    "_forward_pre_hooks",
    "_backward_hooks",
    "_backward_pre_hooks",
    "_state_dict_hooks",
    "_load_state_dict_pre_hooks",
)


class ModuleState:
    """Training mode and hooks of modules and all below them, at one moment."""

    def __init__(self, modules: Iterable[torch.nn.Module]) -> None:
        # Read from the instances: a class of the learner's may define `modules` or `training`.
        inner = [fields for module in modules for fields in _below(module)]
        self.training = [fields.get("training") for fields in inner]
        self.hooks = [[len(fields.get(name, ())) for name in _HOOKS] for fields in inner]

    def changed_since(self, before: ModuleState) -> list[str]:
        """What is no longer as it was: "training mode", "hooks"."""
        changed = ["training mode"] * (self.training != before.training)
        return changed + ["hooks"] * (self.hooks != before.hooks)


STATES = frozenset(GlobalState().modes) | {RANDOM_STATE, MISSPELT, "training mode", "hooks"}
"""All names that `answer(..., changes=...)` and an observation's `changed` have for a state."""


def _below(module: torch.nn.Module) -> list[dict[str, Any]]:
    """The instance dictionaries of a module and of all modules below it, each one once."""
    found: dict[int, dict[str, Any]] = {}
    waiting = [module]
    while waiting:
        one = waiting.pop()
        if id(one) not in found:
            fields = found[id(one)] = _fields_of(one)
            waiting += [child for child in fields.get("_modules", {}).values() if child is not None]
    return list(found.values())
