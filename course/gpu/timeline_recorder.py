"""Records a stretch of a program: who holds how much of the device's memory, and when."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from types import TracebackType
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from course.gpu import api
from course.gpu.simulator.memory_functions import Where
from course.gpu.timeline import (
    Category,
    Mark,
    Note,
    Timeline,
    events_so_far,
    timeline_of,
)


class Recorder:
    """Records allocations inside a `with` block, on CUDA and on the simulated device alike.

    What the model's parameters, their gradients and the optimizer's state are, it finds by itself;
    so it does with what the model gets as input and what autograd saves for backward. The rest
    counts as temporary.

    ```python
    with gpu.Recorder(model, optimizer) as recorder:
        loss = model(batch).sum()
        recorder.mark("forward")
        loss.backward()
        recorder.mark("backward")
        optimizer.step()
    recorder.timeline.peak.by_category["activations"]
    ```

    A recorder keeps addresses, never tensors: it does not prolong the life of any.

    Args:
        model: Its parameters and gradients are told apart from the rest, and so is what it is
            called with.
        optimizer: Its state is told apart; None if there is none.
        inputs: Further tensors that count as inputs.
        device: A device, its name or its index; None for the current one.
    """

    def __init__(
        self,
        model: torch.nn.Module | None = None,
        optimizer: torch.optim.Optimizer | None = None,
        *,
        inputs: Iterable[torch.Tensor] = (),
        device: Where = None,
    ) -> None:
        self._model, self._optimizer, self._inputs = model, optimizer, list(inputs)
        self._where = device
        self._notes: list[Note] = []
        self._marks: list[Mark] = []
        self._stack = ExitStack()
        self._timeline: Timeline | None = None

    @property
    def timeline(self) -> Timeline:
        """The recording; up to now, inside the block."""
        return self._timeline or self._read()

    def __enter__(self) -> Recorder:
        """Begin to record."""
        if not api.is_simulated():
            api.record_memory_history()
        statistics = api.memory_stats(self._where)
        self._first = events_so_far(statistics)
        self._ordinal = statistics.get("allocation.all.allocated", 0)
        self._before = [s for s in api.memory_snapshot() if s["device"] == self._index()]
        self.note("inputs", *self._inputs)
        self._inputs.clear()
        self._note_standing()
        self._listen()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop recording."""
        self._note_standing()
        self._stack.close()
        self._timeline = self._read()
        self._model = self._optimizer = None

    def mark(self, name: str) -> None:
        """Give the present position a name."""
        self._note_standing()
        self._marks.append(Mark(name, events_so_far(api.memory_stats(self._where)) - self._first))

    def note(self, category: Category, *tensors: torch.Tensor, name: str = "") -> None:
        """Say what tensors are, where the recorder cannot know."""
        ordinal = api.memory_stats(self._where).get("allocation.all.allocated", 0)
        for tensor in tensors:
            if tensor.device.type not in ("cpu", "meta") and tensor.numel():
                address = tensor.untyped_storage().data_ptr()
                words = name or "×".join(map(str, tensor.shape)) or "scalar"
                self._notes.append(Note(ordinal, address, category, words))

    def _read(self) -> Timeline:
        count = events_so_far(api.memory_stats(self._where)) - self._first
        return timeline_of(
            self._before,
            api.snapshot()["device_traces"][self._index()],
            count,
            ordinal=self._ordinal,
            notes=self._notes,
            marks=self._marks,
        )

    def _index(self) -> int:
        if api.is_simulated():
            from course.gpu.simulator.memory_functions import index_of

            return index_of(self._where)
        return torch.cuda._utils._get_device_index(self._where, optional=True)

    def _listen(self) -> None:
        """Ask torch to say when a gradient, a state, an input or a saved tensor comes up."""
        keep = self._stack
        keep.enter_context(torch.autograd.graph.saved_tensors_hooks(self._saved, lambda t: t))
        if self._model is not None:
            for name, parameter in self._model.named_parameters():
                if parameter.requires_grad:
                    hook = self._gradient_hook(f"{name}.grad")
                    handle = parameter.register_post_accumulate_grad_hook(hook)
                    keep.callback(handle.remove)
            keep.callback(self._model.register_forward_pre_hook(self._called).remove)
        if self._optimizer is not None:
            handle = self._optimizer.register_step_post_hook(lambda *_: self._note_standing())
            keep.callback(handle.remove)

    def _saved(self, tensor: torch.Tensor) -> torch.Tensor:
        self.note("activations", tensor)
        # Not the tensor itself: a saved result would keep its own node alive, and the node it.
        return tensor.detach()

    def _gradient_hook(self, name: str) -> Callable[[torch.Tensor], None]:
        def seen(parameter: torch.Tensor) -> None:
            if parameter.grad is not None:
                self.note("gradients", parameter.grad, name=name)

        return seen

    def _called(self, module: torch.nn.Module, args: tuple[Any, ...]) -> None:
        self.note("inputs", *(leaf for leaf in tree_leaves(args) if isinstance(leaf, torch.Tensor)))

    def _note_standing(self) -> None:
        """Note what lives between steps: parameters, buffers, gradients, the optimizer's state."""
        names: dict[torch.Tensor, str] = {}
        if self._model is not None:
            names = {p: name for name, p in self._model.named_parameters()}
            for name, buffer in self._model.named_buffers():
                self.note("parameters", buffer, name=name)
        for parameter, name in names.items():
            self.note("parameters", parameter, name=name)
            if parameter.grad is not None:
                self.note("gradients", parameter.grad, name=f"{name}.grad")
        if self._optimizer is not None:
            for parameter, state in self._optimizer.state.items():
                for key, value in state.items():
                    if isinstance(value, torch.Tensor):
                        name = f"{names.get(parameter, 'parameter')}: {key}"
                        self.note("optimizer state", value, name=name)
