"""Fixed programs whose memory is recorded: on a GPU once, in the simulation at every test.

A program calls `step("name")` wherever allocated and reserved bytes are to be compared. Shapes
and order are part of the recording: a change here needs a new one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from course.gpu import api

Step = Callable[[str], None]
Program = Callable[[torch.device, Step], None]
Build = Callable[[Iterable[nn.Parameter]], torch.optim.Optimizer]

_MIB = 1 << 20


def patterns(device: torch.device, step: Step) -> None:
    """Requests around every border of the allocator, and their return."""
    kept = []
    borders = (1, 512, 513, _MIB - 511, _MIB, _MIB + 1, 10 * _MIB - 512, 10 * _MIB, 11 * _MIB)
    for nbytes in borders:
        kept.append(torch.empty(nbytes, dtype=torch.uint8, device=device))
        step(f"take {nbytes}")
    for number in (0, 4, 2, 8, 6):
        kept[number] = torch.empty(0, device=device)
        step(f"return {borders[number]}")
    for nbytes in (700, _MIB // 2, 3 * _MIB, 9 * _MIB):
        kept.append(torch.empty(nbytes, dtype=torch.uint8, device=device))
        step(f"take {nbytes} again")
    api.empty_cache()
    step("empty the cache")
    kept.clear()
    step("return everything")


def fragmentation(device: torch.device, step: Step) -> None:
    """Free memory in pieces: every other block of a row goes, and a larger one needs room."""
    kept = [torch.empty(5 * _MIB, dtype=torch.uint8, device=device) for _ in range(16)]
    step("16 blocks of 5 MiB")
    del kept[::2]
    step("every other one returned")
    wide = torch.empty(10 * _MIB, dtype=torch.uint8, device=device)
    step("10 MiB in one piece")
    del kept, wide
    api.empty_cache()
    step("the cache emptied")


def out_of_memory(device: torch.device, step: Step) -> None:
    """A limit: cached segments go first, then a request fails, and a smaller one succeeds."""
    api.set_capacity(api.memory_reserved() + 64 * _MIB)
    first = torch.empty(40 * _MIB, dtype=torch.uint8, device=device)
    step("40 of 64 MiB")
    del first
    second = torch.empty(50 * _MIB, dtype=torch.uint8, device=device)
    step("50 of 64 MiB, after the cached 40 went")
    try:
        torch.empty(30 * _MIB, dtype=torch.uint8, device=device)
    except torch.OutOfMemoryError:
        step("30 MiB more refused")
    third = torch.empty(12 * _MIB, dtype=torch.uint8, device=device)
    step("12 MiB more")
    del second, third
    api.set_capacity(None)
    api.empty_cache()
    step("the limit taken away")


def train(model: nn.Module, batch: torch.Tensor, build: Build, step: Step) -> None:
    """Three steps of training, with a look after every part of each."""
    device, labels = batch.device, torch.zeros(len(batch), dtype=torch.int64)
    model, labels = model.to(device), labels.to(device)
    optimizer = build(model.parameters())
    step("model and batch")
    for number in range(3):
        loss = nn.functional.cross_entropy(model(batch), labels)
        step(f"{number}: forward")
        loss.backward()
        step(f"{number}: backward")
        optimizer.step()
        step(f"{number}: step")
        optimizer.zero_grad()
        step(f"{number}: gradients gone")
    del loss
    step("loss gone")


def _mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 512), nn.ReLU(), _head())


def _head() -> nn.Module:
    return nn.Linear(512, 10)


def _cnn() -> nn.Module:
    block = (nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2))
    more = (nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2))
    return nn.Sequential(*block, *more, nn.Flatten(), nn.Linear(64 * 8 * 8, 10))


def _sgd(parameters: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
    return torch.optim.SGD(parameters, 0.01, momentum=0.9)


def _adam(parameters: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
    return torch.optim.Adam(parameters)


def mlp_sgd(device: torch.device, step: Step) -> None:
    """An MLP trained with SGD and momentum."""
    train(_mlp(), torch.ones(256, 512, device=device), _sgd, step)


def mlp_adam(device: torch.device, step: Step) -> None:
    """An MLP trained with Adam."""
    train(_mlp(), torch.ones(256, 512, device=device), _adam, step)


def cnn_sgd(device: torch.device, step: Step) -> None:
    """A CNN with batch norm trained with SGD and momentum."""
    train(_cnn(), torch.ones(64, 3, 32, 32, device=device), _sgd, step)


def cnn_adam(device: torch.device, step: Step) -> None:
    """A CNN with batch norm trained with Adam."""
    train(_cnn(), torch.ones(64, 3, 32, 32, device=device), _adam, step)


def validation(device: torch.device, step: Step) -> None:
    """The same forward pass with grad, under no_grad and in inference mode, outputs kept."""
    model, batch = _mlp().to(device), torch.ones(256, 512, device=device)
    step("model and batch")
    for name, mode in (("grad", torch.enable_grad), ("no_grad", torch.no_grad)):
        with mode():
            kept = [model(batch) for _ in range(3)]
            step(f"three outputs, {name}")
        del kept
        step(f"outputs gone, {name}")
    with torch.inference_mode():
        kept = [model(batch) for _ in range(3)]
        step("three outputs, inference_mode")
    del kept
    step("outputs gone, inference_mode")


def _block() -> nn.Module:
    return nn.Sequential(nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU())


def checkpointing(device: torch.device, step: Step) -> None:
    """Four blocks forward and backward, without and with activation checkpointing."""
    layers = nn.ModuleList(_block() for _ in range(4))
    layers, batch = layers.to(device), torch.ones(1024, 512, device=device)
    step("model and batch")
    for name in ("plain", "checkpointed"):
        x: torch.Tensor = batch
        for layer in layers:
            x = layer(x) if name == "plain" else checkpoint(layer, x, use_reentrant=False)
        step(f"{name}: forward")
        x.sum().backward()
        del x
        step(f"{name}: backward")
        layers.zero_grad()
        step(f"{name}: gradients gone")


PROGRAMS: dict[str, Program] = {
    program.__name__: program
    for program in (
        patterns,
        fragmentation,
        out_of_memory,
        mlp_sgd,
        mlp_adam,
        cnn_sgd,
        cnn_adam,
        validation,
        checkpointing,
    )
}
