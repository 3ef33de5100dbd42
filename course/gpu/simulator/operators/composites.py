"""Operators that torch offers a new device under another name than the CPU's.

torch chooses `convolution_overrideable` and the fused LSTM and GRU cells for every device of the
kind that ours is; the CPU has kernels for the same mathematics under other names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

_aten = torch.ops.aten
Tensors = tuple[torch.Tensor | None, ...]


def convolution_backward(
    grad: torch.Tensor,
    image: torch.Tensor,
    weight: torch.Tensor,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    output_mask: Sequence[bool],
) -> Tensors:
    """Return the gradients of image, weight and bias, as the CPU's own operator computes them."""
    channels = weight.size(1) * groups if transposed else weight.size(0)
    options = (stride, padding, dilation, transposed, output_padding, groups, output_mask)
    return _aten.convolution_backward(grad, image, weight, [channels], *options)


def lstm_cell(
    inputs: torch.Tensor,
    hidden: torch.Tensor,
    cell: torch.Tensor,
    input_bias: torch.Tensor | None = None,
    hidden_bias: torch.Tensor | None = None,
) -> Tensors:
    """Return the new hidden state, the new cell state, and the gates for the way back."""
    gates = _biased(inputs, input_bias) + _biased(hidden, hidden_bias)
    i, f, g, o = gates.chunk(4, 1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    new_cell = f * cell + i * g
    return o * new_cell.tanh(), new_cell, torch.cat((i, f, g, o), 1)


def lstm_cell_backward(
    grad_hidden: torch.Tensor | None,
    grad_cell: torch.Tensor | None,
    cell: torch.Tensor,
    new_cell: torch.Tensor,
    gates: torch.Tensor,
    has_bias: bool,
) -> Tensors:
    """Return the gradients of gates, cell state and bias."""
    i, f, g, o = gates.chunk(4, 1)
    squashed = new_cell.tanh()
    of_hidden = torch.zeros_like(cell) if grad_hidden is None else grad_hidden
    of_cell = of_hidden * o * (1 - squashed * squashed)
    if grad_cell is not None:
        of_cell = of_cell + grad_cell
    grad_gates = torch.cat(
        (
            of_cell * g * i * (1 - i),
            of_cell * cell * f * (1 - f),
            of_cell * i * (1 - g * g),
            of_hidden * squashed * o * (1 - o),
        ),
        1,
    )
    return grad_gates, of_cell * f, grad_gates.sum(0) if has_bias else None


def gru_cell(
    inputs: torch.Tensor,
    hidden: torch.Tensor,
    state: torch.Tensor,
    input_bias: torch.Tensor | None = None,
    hidden_bias: torch.Tensor | None = None,
) -> Tensors:
    """Return the new state, and what the way back needs."""
    i_r, i_z, i_n = _biased(inputs, input_bias).chunk(3, 1)
    h_r, h_z, h_n = _biased(hidden, hidden_bias).chunk(3, 1)
    r, z = (i_r + h_r).sigmoid(), (i_z + h_z).sigmoid()
    n = (i_n + r * h_n).tanh()
    return (state - n) * z + n, torch.cat((r, z, n, state, h_n), 1)


def gru_cell_backward(grad: torch.Tensor, saved: torch.Tensor, has_bias: bool) -> Tensors:
    """Return the gradients of both gates, the state and both biases."""
    r, z, n, state, h_n = saved.chunk(5, 1)
    of_n = grad * (1 - z) * (1 - n * n)
    of_z = grad * (state - n) * z * (1 - z)
    of_r = of_n * h_n * r * (1 - r)
    of_inputs = torch.cat((of_r, of_z, of_n), 1)
    of_hidden = torch.cat((of_r, of_z, of_n * r), 1)
    biases = (of_inputs.sum(0), of_hidden.sum(0)) if has_bias else (None, None)
    return of_inputs, of_hidden, grad * z, *biases


def _biased(gates: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    return gates if bias is None else gates + bias


def zeros(size: Sequence[int], **options: Any) -> torch.Tensor:
    """Return zeros, where torch would make a tensor without storage that counts as zeros."""
    return torch.zeros(size, dtype=options.get("dtype"))


def record_stream(tensor: torch.Tensor, stream: torch.Stream) -> None:
    """Do nothing: a simulated device has one stream, so no block is given away too early."""


# torch's name for the operator, and what computes it with CPU tensors.
SUBSTITUTES: dict[str, Callable[..., Tensors | torch.Tensor | None]] = {
    "_efficientzerotensor": zeros,
    "convolution_overrideable": _aten.convolution.default,
    "convolution_backward_overrideable": convolution_backward,
    "_thnn_fused_lstm_cell": lstm_cell,
    "_thnn_fused_lstm_cell_backward_impl": lstm_cell_backward,
    "_thnn_fused_gru_cell": gru_cell,
    "_thnn_fused_gru_cell_backward": gru_cell_backward,
    "record_stream": record_stream,
}

# torch composes these of other operators on a new device, while CPU and CUDA have kernels for the
# whole: run the CPU's, for the same numbers and, as on CUDA, without the parts' memory.
WHOLE_ON_CPU = (
    "addr",
    "addr.out",
    "all.dims",
    "all.dims_out",
    "any.dims",
    "any.dims_out",
    "mish_backward",
    "mse_loss",
    "native_channel_shuffle",
    "native_group_norm",
    "native_layer_norm",
    "silu_backward",
    "smooth_l1_loss",
)
# Here torch makes an empty result and writes into it. In one piece they're the same to the bit,
# take the same block, and cost half as much: these are what most steps consist of. Only such whose
# result can't be too large where its arguments fit, or that `_refuse_the_impossible` looks at.
IN_ONE_PIECE = (
    *("add.Tensor", "sub.Tensor", "mul.Tensor", "div.Tensor", "pow.Tensor_Scalar", "neg"),
    *("tanh", "tanh_backward", "sigmoid", "sigmoid_backward", "threshold_backward"),
    *("mean", "mean.dim", "sum.dim_IntList"),
)
