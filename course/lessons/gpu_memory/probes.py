"""What the tests of GPU memory look through: steps that leak, fail, or run in parts."""

from __future__ import annotations

import contextlib
import functools
import gc
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn

from course import gpu
from course.inspection.class_names import class_name
from course.lessons.gpu_memory.peaks import Peak
from course.probes.decorator import probe
from course.probes.sealing import sealed

__all__ = ["batch_in_parts", "blocks_run", "growth_reported", "layers_recorded", "sizes_tried"]

_MIB = 2**20
_MANY = 100_000  # objects; torch alone makes more
_FEW = 60  # or a search of all sizes would take minutes


class Scale(nn.Module):
    """A layer of one parameter, whose output is saved for backward."""

    def __init__(self, slope: float) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.linspace(slope, 1.0, 256))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The scaled input's tanh."""
        return torch.tanh(x * self.scale)


def _kept(kind: str, kept: list[Any], calls: int, x: torch.Tensor) -> None:
    """Do with a step's tensor what this kind of step does."""
    if kind == "keep" or (kind == "keep one" and calls == 5):
        kept.append(x)
    elif kind == "keep the first":
        kept[:] = kept or [x]
    elif kind == "keep the last":
        kept[:] = [x]
    elif kind == "keep a mean":
        kept.append(x.mean())
    elif kind == "drop":
        kept.pop()
    elif kind == "tie a knot":
        knot: list[Any] = [x]
        knot.append(knot)


@functools.cache
def _to_search() -> int:
    """How many objects a collection looks at: few where the grader runs, which froze the rest."""
    return len(gc.get_objects(generation=2))


@contextlib.contextmanager
def _little_to_search() -> Iterator[None]:
    """Leave what is there already out of every collection, for whoever collects at each step.

    What was frozen before stays so. To thaw it would have all of it searched, and each page copied
    that this process shares with the one it was forked from.
    """
    if _to_search() <= _MANY:
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


@probe
def growth_reported(growth: Callable[..., Any], kind: str) -> dict[str, Any]:
    """What `growth(step)` says of a step that makes a tensor of 1 MiB, and how often it was called.

    Args:
        growth: Called with the step.
        kind: What the step does with its tensor: "keep", "keep one" (at the fifth call), "keep the
            first", "keep the last", "keep a mean", "tie a knot" or "return"; "drop" lets one of
            twelve from before go, too, and anything else only its own.
    """
    calls: list[str] = []
    device = gpu.device()
    kept: list[Any] = [torch.empty(_MIB // 4, device=device) for _ in range(12) if kind == "drop"]

    def step() -> torch.Tensor | None:
        calls.append(kind)
        x = torch.empty(_MIB // 4, device=device)
        _kept(kind, kept, len(calls), x)
        return x if kind == "return" else None

    gc.disable()
    try:
        with _little_to_search():
            return {"said": growth(sealed(step)), "calls": len(calls)}
    finally:
        gc.enable()


_ERRORS: dict[str, Callable[[], BaseException]] = {
    "shapes": lambda: RuntimeError("mat1 and mat2 shapes cannot be multiplied"),
    "words": lambda: RuntimeError("CUDA out of memory, says a wrapper"),
    "host": lambda: MemoryError("no memory on the host"),
    "stop": KeyboardInterrupt,
    "layer": lambda: ValueError("a layer fails"),
}


@contextlib.contextmanager
def _passed_on(problem: BaseException | None, seen: dict[str, Any]) -> Iterator[None]:
    """Note which error comes out, and whether it is the problem itself."""
    try:
        yield
    except NotImplementedError:  # there is no answer yet
        raise
    except BaseException as raised:
        if problem is None:
            raise
        seen["error"] = [class_name(raised), raised is problem]


@probe
def sizes_tried(
    largest_batch: Callable[..., Any], limit: int, fitting: int, breaks: str | None = None
) -> dict[str, Any]:
    """What a search found on a step that takes no memory, every size tried, and what came out.

    Args:
        largest_batch: Called with `(step, limit)`; returns a size.
        limit: The largest size that may be tried.
        fitting: The largest size for which the step raises no OutOfMemoryError.
        breaks: A key of `_ERRORS`: the error that each step raises instead; None for none.
    """
    tried: list[int] = []
    problem = _ERRORS[breaks]() if breaks else None
    fits = fitting.__ge__  # not the number: tracebacks may write down what names hold

    def step(n: int) -> torch.Tensor:
        tried.append(n)
        if problem is not None:
            raise problem
        if len(tried) > _FEW:
            raise KeyError("too many attempts")
        if not fits(n):
            raise torch.OutOfMemoryError("no room for this batch")
        return torch.ones(())

    seen: dict[str, Any] = {"found": None, "tried": tried, "error": ["nothing", False]}
    with _little_to_search(), _passed_on(problem, seen):
        seen["found"] = largest_batch(sealed(step), limit)
    return seen


class Twice(nn.Module):
    """A network one of whose layers stands in two places and runs three times."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(64)
        self.inner = nn.Sequential(nn.Tanh(), self.norm, nn.Softplus())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Through the layer, then the inner ones, then the layer."""
        result: torch.Tensor = self.norm(self.inner(self.norm(x)))
        return result


class _Fails(nn.Module):
    def __init__(self, problem: BaseException) -> None:
        super().__init__()
        self.problem = problem

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        raise self.problem


def _network(kind: str, problem: BaseException | None) -> nn.Module:
    """A network of a kind, or one that raises the problem."""
    if problem is not None:
        return nn.Sequential(nn.Tanh(), _Fails(problem))
    if kind == "nested":
        view = nn.Unflatten(1, (8, 8))  # its output is a view
        return nn.Sequential(nn.Sigmoid().eval(), nn.Sequential(nn.Tanh(), view))
    kinds: dict[str, Callable[[], nn.Module]] = {
        "plain": lambda: nn.Sequential(nn.LayerNorm(64), nn.Tanh(), nn.Softplus()),
        "inplace": lambda: nn.Sequential(nn.LayerNorm(64), nn.ReLU(inplace=True)),
        "twice": Twice,
        "a layer": nn.Tanh,
    }
    return kinds[kind]()


def _state_of(model: nn.Module) -> dict[str, Any]:
    """Of each module the numbers of hooks, the mode; of each parameter whether it is trained."""
    return {
        "hooks": [[len(m._forward_hooks), len(m._forward_pre_hooks)] for m in model.modules()],
        "modes": [module.training for module in model.modules()],
        "trained": [[p.requires_grad, p.grad is not None] for p in model.parameters()],
    }


@probe
def layers_recorded(record_outputs: Callable[..., Any], kind: str, where: str) -> dict[str, Any]:
    """What is recorded of a network of this kind, and what the network is before and after.

    It has hooks of its own on every module.

    Args:
        record_outputs: Called with `(model, x)`; returns pairs of a name and an output.
        kind: "plain", "nested", "inplace", "twice", "a layer", or a key of `_ERRORS`, which a layer
            raises.
        where: "device", in float32; anything else is the CPU, in float64.
    """
    problem = _ERRORS[kind]() if kind in _ERRORS else None
    home = gpu.device() if where == "device" else torch.device("cpu")
    dtype = torch.float32 if where == "device" else torch.float64
    model, own = _network(kind, problem).to(home, dtype), list[int]()
    model.register_forward_hook(lambda *_: own.append(1))
    for module in model.modules():
        module.register_forward_hook(lambda *_: None)
        module.register_forward_pre_hook(lambda *_: None)
    x = torch.linspace(-2, 2, 32 * 64).view(32, 64).to(home, dtype)
    start, before, found = gpu.memory_allocated(), _state_of(model), list[Any]()
    seen: dict[str, Any] = {"error": ["nothing", False]}
    with _passed_on(problem, seen):
        found = record_outputs(model, x)
    outputs = [output for _, output in found]
    return {
        **seen,
        "names": [name for name, _ in found],
        "values": [output.detach().to("cpu", copy=True) for output in outputs],
        "devices": sorted({output.device.type for output in outputs}),
        "graphs": sum(output.requires_grad for output in outputs),
        "left": gpu.memory_allocated() - start,
        "calls": len(own),
        "before": before,
        "after": _state_of(model),
    }


def _gradients(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    return [torch.zeros(1) if one.grad is None else one.grad.cpu() for one in tensors]


@probe
def batch_in_parts(
    accumulate: Callable[..., Any], size: int, parts: int, before: float
) -> dict[str, Any]:
    """Loss, gradients, peak and the sizes of the parts of a step on one batch.

    The model's Dropout is frozen.

    Args:
        accumulate: Called with `(model, criterion, x, y, parts)`; returns the loss as a float.
        size: The examples of the batch.
        parts: In how many parts it goes through the model.
        before: The sum of the gradient that stands in each `.grad` before, the batch's too; 0 for
            none.

    Returns:
        "loss" (or its class), "peak" in bytes, "gradients", "sizes".
    """
    device = gpu.device()
    x = (torch.arange(size * 256.0).view(size, 256).sin() * 2).to(device)
    y = x.square()
    scales = (Scale(0.2 * number) for number in range(4))
    model = nn.Sequential(*scales, nn.Dropout().eval()).to(device)
    sizes: list[int] = []
    model.register_forward_pre_hook(lambda _, inputs: sizes.append(len(inputs[0])))
    every = [*model.parameters(), *(one.requires_grad_(bool(before)) for one in (x, y))]
    for one in every:
        one.grad = torch.full_like(one, before / one.numel()) if before else None

    def criterion(out: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return nn.functional.mse_loss(out, y) + out.mean() / 4

    peak = Peak()
    said = accumulate(model, criterion, x, y, parts)
    nbytes = peak.nbytes
    said = said if isinstance(said, float) else class_name(said)
    return {"loss": said, "peak": nbytes, "gradients": _gradients(every), "sizes": sizes}


@probe
def blocks_run(run_blocks: Callable[..., Any], needs_grad: bool) -> dict[str, Any]:
    """Values, gradients and bytes of a way through four blocks with Dropout and back.

    Args:
        run_blocks: Called with `(blocks, x)`; returns the output.
        needs_grad: Whether the input requires grad.

    Returns:
        "kept" and "peak" in bytes, "runs" (the block of each call), "out" on the CPU, "gradients".
    """
    runs: list[int] = []
    scales = [[Scale(0.25 * number) for number in range(6)] for _ in range(4)]
    blocks = [nn.Sequential(nn.Dropout(0.2), *each) for each in scales]
    for number, block in enumerate(blocks):
        block.to(gpu.device())
        block.register_forward_pre_hook(lambda *_, number=number: runs.append(number))
    x = (torch.arange(64 * 256.0).view(64, 256).sin() * 2).to(gpu.device())
    x.requires_grad_(needs_grad)
    gpu.manual_seed(5)  # whoever goes this way draws the same
    start, peak = gpu.memory_allocated(), Peak()
    out = run_blocks(blocks, x)
    kept = gpu.memory_allocated() - start
    if out.requires_grad:
        out.square().mean().backward()
    every = [p for block in blocks for p in block.parameters()] + [x]
    return {
        "kept": kept,
        "peak": peak.nbytes,
        "runs": runs,
        "out": out.detach().cpu(),
        "gradients": _gradients(every),
    }
