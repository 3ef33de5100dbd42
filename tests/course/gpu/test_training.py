"""Numbers on the simulated device are the CPU's, bit by bit."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

Optimizers = Callable[[Iterable[torch.Tensor]], torch.optim.Optimizer]
simulated = pytest.mark.skipif(torch.cuda.is_available(), reason="a real device rounds its own way")

OPTIMIZERS: dict[str, Optimizers] = {
    "sgd": lambda parameters: torch.optim.SGD(parameters, 0.1),
    "momentum": lambda parameters: torch.optim.SGD(parameters, 0.1, momentum=0.9),
    "adam": lambda parameters: torch.optim.Adam(parameters, 1e-2),
    "adamw": lambda parameters: torch.optim.AdamW(parameters, 1e-2),
}


def mlp() -> tuple[nn.Module, torch.Tensor]:
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)), torch.randn(32, 8)


def cnn() -> tuple[nn.Module, torch.Tensor]:
    layers = (nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2))
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(128, 4)), torch.randn(32, 3, 8, 8)


def transformer() -> tuple[nn.Module, torch.Tensor]:
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    return nn.Sequential(layer, nn.Flatten(), nn.Linear(40, 4)), torch.randn(32, 5, 8)


def transposed() -> tuple[nn.Module, torch.Tensor]:
    layers = (nn.ConvTranspose2d(3, 4, 3, stride=2), nn.GroupNorm(2, 4), nn.GELU())
    return nn.Sequential(*layers, nn.Flatten(), nn.LazyLinear(4)), torch.randn(8, 3, 4, 4)


def train(
    build: Callable[[], tuple[nn.Module, torch.Tensor]], optimizer: Optimizers, device: object
) -> tuple[list[float], list[torch.Tensor]]:
    """Return the losses of four steps, and gradients and parameters after them."""
    torch.manual_seed(0)
    model, batch = build()
    model(batch)  # lazy layers learn their size here
    labels = torch.randint(0, 4, (len(batch),))
    model, batch, labels = model.to(device), batch.to(device), labels.to(device)
    steps, losses = optimizer(model.parameters()), []
    for _ in range(4):
        steps.zero_grad()
        loss = nn.functional.cross_entropy(model(batch), labels)
        loss.backward()
        steps.step()
        losses.append(loss.item())
    parameters = list(model.parameters())
    return losses, [found.cpu() for p in parameters for found in (p.detach(), p.grad)]


@simulated
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("build", [mlp, cnn, transformer, transposed])
def test_losses_and_gradients_equal_the_cpus_bit_by_bit(
    build: Callable[[], tuple[nn.Module, torch.Tensor]], optimizer: str, device: torch.device
) -> None:
    with sdpa_kernel(SDPBackend.MATH):  # the CPU's own choice is a fused kernel
        losses, tensors = train(build, OPTIMIZERS[optimizer], device)
        expected_losses, expected = train(build, OPTIMIZERS[optimizer], "cpu")
    assert losses == expected_losses
    assert all(torch.equal(one, other) for one, other in zip(tensors, expected, strict=True))


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_a_recurrent_layer_computes_what_the_cpu_computes(
    kind: type[nn.RNNBase], device: torch.device
) -> None:
    layer, batch = kind(3, 5, num_layers=2), torch.randn(4, 2, 3)
    layer(batch)[0].square().sum().backward()
    expected = [p.grad.clone() for p in layer.parameters()]
    layer.zero_grad()
    layer.to(device)(batch.to(device))[0].square().sum().backward()
    for parameter, gradient in zip(layer.parameters(), expected, strict=True):
        torch.testing.assert_close(parameter.grad.cpu(), gradient)


@simulated
def test_checkpointing_gives_the_same_gradients(device: torch.device) -> None:
    model, batch = mlp()
    model, batch = model.to(device), batch.to(device)
    model(batch).sum().backward()
    expected = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    torch.utils.checkpoint.checkpoint(model, batch, use_reentrant=False).sum().backward()
    assert all(torch.equal(p.grad, g) for p, g in zip(model.parameters(), expected, strict=True))


def test_a_checkpoint_draws_for_dropout_what_it_drew_before(device: torch.device) -> None:
    batch = torch.ones(64, device=device, requires_grad=True)
    dropped = torch.utils.checkpoint.checkpoint(nn.Dropout(), batch, use_reentrant=False)
    dropped.sum().backward()
    assert torch.equal(batch.grad, dropped.detach())


def test_a_model_spread_over_two_devices_gets_its_gradients(
    two: tuple[torch.device, torch.device],
) -> None:
    first, second = two
    one, two = nn.Linear(4, 4).to(first), nn.Linear(4, 4).to(second)
    two(one(torch.ones(2, 4, device=first)).to(second)).sum().backward()
    assert (one.weight.grad.device, two.weight.grad.device) == (first, second)


@pytest.mark.parametrize("loss", [nn.functional.mse_loss, nn.functional.smooth_l1_loss])
def test_a_loss_warns_of_nothing_and_passes_gradients(
    loss: Callable[..., torch.Tensor], device: torch.device
) -> None:
    x, target = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.0])
    moved = x.to(device).requires_grad_()
    x.requires_grad_()
    there = loss(moved, target.to(device))  # pytest makes a warning an error
    there.backward()
    here = loss(x, target)
    here.backward()
    assert moved.grad is not None
    torch.testing.assert_close(there.cpu(), here)
    torch.testing.assert_close(moved.grad.cpu(), x.grad)
