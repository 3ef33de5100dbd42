"""Kernels whose assertions fail: what the CPU refuses at once, CUDA finds out later."""

from __future__ import annotations

from typing import Any

from course.gpu.simulator._backend import Operator
from course.gpu.simulator.devices import SimulatedDevice, simulation
from course.gpu.simulator.operators.meta_tensors import as_meta, as_zeros
from course.gpu.simulator.operators.schemas import Plan

# The operators whose CUDA kernels check their indices (or labels, or probabilities) with an
# assertion on the device, and the assertion that fails.
_ASSERTIONS = {
    "nll_loss_forward": "t >= 0 && t < n_classes",
    "nll_loss2d_forward": "t >= 0 && t < n_classes",
    "index": '-sizes[i] <= index && index < sizes[i] && "index out of bounds"',
    "index_select": '"srcIndex < srcSelectDimSize" failed',
    "gather": 'idx_dim >= 0 && idx_dim < index_size && "index out of bounds"',
    "scatter": 'idx_dim >= 0 && idx_dim < index_size && "index out of bounds"',
    "scatter_add": 'idx_dim >= 0 && idx_dim < index_size && "index out of bounds"',
    "take": 'idx < numel && idx >= -numel && "cuda_take_put_kernel() index out of bounds"',
    "binary_cross_entropy": "input_val >= zero && input_val <= one",
    "multinomial": "cumdist[size - 1] > static_cast<scalar_t>(0)",
}
_SAME = {"index_put_": "index", "index_put": "index", "_index_put_impl_": "index"} | {
    "scatter_": "scatter",
    "scatter_add_": "scatter_add",
    "embedding_dense_backward": "index_select",
    "nll_loss_backward": "nll_loss_forward",
    "nll_loss2d_backward": "nll_loss2d_forward",
    "index_add": "index_select",
    "index_add_": "index_select",
}
_OUT_OF_RANGE = ("out of bounds", "out of range", "between 0 and 1", "probability tensor contains")


def result_after(
    error: Exception,
    device: SimulatedDevice,
    plan: Plan,
    operator: Operator,
    args: list[Any],
    kwargs: dict[str, Any],
) -> Any:
    """Return what a kernel leaves behind when its assertion fails: results full of zeros.

    Raises `error` itself when CUDA too would have refused on the host (a wrong shape, say), and
    AcceleratorError at once when kernel launches are set to block.
    """
    assertion = _ASSERTIONS.get(_SAME.get(plan.name, plan.name))
    known = assertion is not None or device.fault is not None  # what follows a failure is its own
    if not known or not any(words in str(error) for words in _OUT_OF_RANGE):
        raise error
    device.fail(assertion or "")
    device.check(synchronizes=simulation().launch_blocking)
    kwargs = {name: as_meta(value) for name, value in kwargs.items()}
    return as_zeros(operator(*map(as_meta, args), **kwargs))
