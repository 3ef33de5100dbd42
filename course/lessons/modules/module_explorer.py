"""The module explorer: say which parameters a step of training will move, then train.

Small models to train for one step, and what the step did to each of their parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, TypeVar

import torch
import torch.nn.functional as F
from torch import nn

from course.figures.storage.descriptions import listed
from course.inspection.random_state import random_state_kept
from course.lessons.modules.gradients_figure import picture_of
from course.lessons.modules.layer_calls import tensors_in
from course.lessons.modules.module_parts import copied
from course.lessons.modules.module_tree import Row, rows_of, subjects_of
from course.widgets.explorer import Explorer, at_most, labelled
from course.widgets.pages import PROSE, message_html

__all__ = [
    "EXAMPLES",
    "ModelError",
    "ModuleExplorer",
    "ModulePanel",
    "Step",
    "built",
    "copy_of",
    "explore_modules",
    "inputs_of_examples",
    "judged",
    "trained",
]

_T = TypeVar("_T")
_HEAD = "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
_LOOP = "        for layer in self.layers:\n            x = layer(x).tanh()\n"
_TAIL = "\nmodel = Net()"
_TWO = "        self.first = nn.Linear(3, 3)\n        self.last = nn.Linear(3, 1)\n"
_CALL = "    def forward(self, x):\n"
_BOTH = _CALL + "        return self.last(self.first(x).tanh())\n"
_LIST = "[nn.Linear(3, 3), nn.Linear(3, 3)]"
_LAST = "        self.last = nn.Linear(3, 1)\n\n"
_OUT = "        return self.last(x)\n"
EXAMPLES = {
    "layers in a plain list": (
        f"{_HEAD}        self.layers = {_LIST}\n{_LAST}{_CALL}{_LOOP}{_OUT}{_TAIL}"
    ),
    "layers in a ModuleList": (
        f"{_HEAD}        self.layers = nn.ModuleList({_LIST})\n{_LAST}{_CALL}{_LOOP}{_OUT}{_TAIL}"
    ),
    "a layer that forward never calls": (
        f"{_HEAD}{_TWO}\n{_CALL}        return self.first(x).tanh()\n{_TAIL}"
    ),
    "a typo: required_grad": (
        f"{_HEAD}{_TWO}        self.first.weight.required_grad = False\n\n{_BOTH}{_TAIL}"
    ),
    "frozen": f"{_HEAD}{_TWO}        self.first.requires_grad_(False)\n\n{_BOTH}{_TAIL}",
    "cut by detach": (
        f"{_HEAD}{_TWO}\n{_CALL}        return self.last(self.first(x).tanh().detach())\n{_TAIL}"
    ),
    "tied weights": (
        f"{_HEAD}        self.first = nn.Linear(3, 3)\n        self.second = nn.Linear(3, 3)\n"
        f"        self.second.weight = self.first.weight\n\n{_CALL}"
        f"        return self.second(self.first(x).tanh())\n{_TAIL}"
    ),
    "a tensor that is no Parameter": (
        f"{_HEAD}        self.first = nn.Linear(3, 3)\n"
        f"        self.scale = torch.ones(3, requires_grad=True)\n\n{_CALL}"
        f"        return self.first(x).tanh() * self.scale\n{_TAIL}"
    ),
}


class ModelError(ValueError):
    """A model that cannot be built or trained; the text is meant for the reader."""


@dataclass(frozen=True)
class Step:
    """What one step of training did: the tree with its gradients, and who was moved."""

    rows: tuple[Row, ...]
    moved: Mapping[str, bool]


def inputs_of_examples() -> tuple[torch.Tensor]:
    """What the small models are called with: four samples of three numbers."""
    return (torch.linspace(-1, 1, 12).view(4, 3),)


def built(code: str) -> nn.Module:
    """The `model` that the code makes, its weights drawn from a fixed seed."""
    namespace: dict[str, object] = {"__name__": "explored", "torch": torch, "nn": nn, "F": F}
    with random_state_kept():
        torch.manual_seed(0)
        _or_model_error("The code", lambda: exec(compile(code, "<model>", "exec"), namespace))
    model = namespace.get("model")
    if not isinstance(model, nn.Module):
        raise ModelError("The code makes no model. End it with a line such as: model = Net()")
    return model


def copy_of(model: nn.Module) -> nn.Module:
    """A copy of the model, without hooks."""
    return _or_model_error("Copying the model", lambda: copied(model))


def trained(model: nn.Module, inputs: Sequence[object]) -> Step:
    """What backward and one step of SGD over `model.parameters()` do; the model is changed."""
    subjects = subjects_of(model)
    before = [subject.tensor.detach().clone() for subject in subjects]
    for subject in subjects:
        subject.tensor.grad = None
    with random_state_kept(), torch.enable_grad():
        torch.manual_seed(0)
        _or_model_error("Training", lambda: _step(model, inputs))
    moved = {s.path: _differ(old, s.tensor) for s, old in zip(subjects, before, strict=True)}
    return Step(tuple(rows_of(model)), moved)


def _step(model: nn.Module, inputs: Sequence[object]) -> None:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    outputs = [one for one in tensors_in(model(*inputs)) if one.is_floating_point()]
    # Each output counts differently: behind a normalisation the gradient of a plain sum is 0.
    torch.stack([(one * torch.rand_like(one)).sum() for one in outputs]).sum().backward()
    optimizer.step()


def _differ(before: torch.Tensor, subject: torch.Tensor) -> bool:
    return not torch.equal(before, subject.detach())


def _or_model_error(what: str, action: Callable[[], _T]) -> _T:
    """The action's result; its error becomes a sentence."""
    try:
        return action()
    except Exception as error:
        words = (str(error).strip().splitlines() or [""])[0]
        raise ModelError(f"{what} raised {type(error).__name__}: {words}") from None


_OWN = "the one in the cell"
_FIRST = next(iter(EXAMPLES))
_MOST = 16  # boxes to tick
_MOST_REASONS = 4
_ROWS = 14  # of code
_NOT_CODE = "# the model that the cell gave, as it is now"


def explore_modules(model: nn.Module | None = None, *inputs: object) -> ModuleExplorer:
    """An explorer that asks which parameters one step of training moves, then makes the step.

    It shows the tree of the model with the norms of its gradients, and what the step has moved.
    Without a model there are small ones to choose from and to change. Yours stays as it is: a
    copy is trained. Outside of a live notebook it is a figure.

    Args:
        model: The model to look at; None for the small ones.
        inputs: What the model is called with.

    Raises:
        TypeError: `model` is no module.
    """
    return ModuleExplorer(model, inputs)


class ModuleExplorer(Explorer["ModulePanel"]):
    """What `explore_modules` shows: a panel of widgets, or the tree after one step.

    Args:
        model: The model to look at; None for small ones to choose from.
        inputs: What the model is called with.

    Raises:
        TypeError: `model` is no module.
    """

    def __init__(self, model: nn.Module | None, inputs: Sequence[object]) -> None:
        if model is not None and not isinstance(model, nn.Module):
            raise TypeError(
                f"explore_modules() trains a module, not {type(model).__name__}. Give it a model "
                "and its inputs: explore_modules(model, x)."
            )
        self._model, self._inputs = model, tuple(inputs)

    def _make_panel(self) -> ModulePanel:
        return ModulePanel(self._model, self._inputs)

    def _trained(self) -> Step:
        if self._model is None:
            return trained(built(EXAMPLES[_FIRST]), inputs_of_examples())
        return trained(copy_of(self._model), self._inputs)

    def __repr__(self) -> str:
        try:
            step = self._trained()
        except ModelError as error:
            return str(error)
        return repr(picture_of(step.rows, step.moved))

    def _repr_html_(self) -> str:
        code = EXAMPLES[_FIRST] if self._model is None else _NOT_CODE
        page = f'<pre style="margin:4px 0">{escape(code)}</pre>'
        try:
            step = self._trained()
        except ModelError as error:
            return page + message_html(str(error))
        return page + picture_of(step.rows, step.moved)._repr_html_()


def judged(said: set[str], step: Step) -> tuple[bool, str]:
    """Whether the ticks came true, and why not where they didn't."""
    moved = {path for path, yes in step.moved.items() if yes}
    told = f"The step moved {listed(sorted(moved))}." if moved else "The step moved nothing."
    if said == moved:
        return True, f"✓ Right. {told}"
    rows = {row.path: row for row in step.rows}
    wrong = sorted(said ^ moved)
    still = sorted(step.moved.keys() - moved - {*wrong})  # rightly left alone; why is told, too
    reasons = [_why(rows[path], path in moved) for path in (*wrong, *still)]
    return False, f"✗ Not quite. {told} {' '.join(reasons[:_MOST_REASONS])}"


def _why(row: Row, moved: bool) -> str:
    """Why a tensor was moved, or wasn't."""
    if moved:
        return f"{row.path} has a gradient and is in parameters()."
    if not row.asks:
        return f"{row.path} is frozen."
    if row.norm is None:
        return f"No gradient reached {row.path}."
    if not row.registered:
        return f"{row.path} has a gradient, but parameters() doesn't yield it."
    if row.norm == 0:
        return f"The gradient of {row.path} is 0."
    return f"The gradient of {row.path} is too small: the step gets lost in rounding."


class ModulePanel:
    """The widgets of one explorer: a model, a box for each parameter, a button for the step.

    Only what ipywidgets 7 and 8 both have is used. Every control has its label as text.

    Args:
        model: The model to begin with, of which a copy is trained; None for the small ones.
        inputs: What the model is called with.
    """

    def __init__(self, model: nn.Module | None, inputs: Sequence[object]) -> None:
        from ipywidgets import HTML, Button, Dropdown, HBox, Layout, Textarea, VBox

        self._given, self._inputs = model, tuple(inputs)
        own = [] if model is None else [_OWN]
        wide = Layout(width="auto")
        self.example = Dropdown(options=[*own, *EXAMPLES], **labelled("Model:"))
        self.code = Textarea(
            rows=_ROWS, continuous_update=False, layout=at_most("72ch"), **labelled("Code:")
        )
        self.question, self.message, self.picture = HTML(), HTML(), HTML()
        self.boxes: tuple[Any, ...] = ()
        self.choices = HBox(layout=Layout(flex_flow="row wrap"))
        self.train = Button(description="Train for one step", layout=wide)
        self.again = Button(description="Start again", layout=wide)
        buttons = HBox([self.train, self.again], layout=Layout(flex_flow="row wrap"))
        parts = [self.example, self.code, self.question, self.choices, buttons]
        self.box = VBox([*parts, self.message, self.picture])
        self.example.observe(lambda _: self._take(), names="value")
        self.code.observe(lambda _: self.start(), names="value")
        self.train.on_click(lambda _: self.step())
        self.again.on_click(lambda _: self.start())
        self._take()

    def _take(self) -> None:
        """Begin with the model chosen in the list."""
        own = self.example.value == _OWN
        code = _NOT_CODE if own else EXAMPLES[self.example.value]
        self.code.disabled = own
        self.code.rows = 1 if own else _ROWS
        if self.code.value == code:
            self.start()
        else:
            self.code.value = code  # which starts

    def _fresh(self) -> tuple[nn.Module, Sequence[object]]:
        if self.example.value == _OWN and self._given is not None:
            return copy_of(self._given), self._inputs
        return built(self.code.value), inputs_of_examples()

    def start(self) -> None:
        """Make the model anew and ask."""
        self.picture.value = ""
        try:
            model, _ = self._fresh()
        except ModelError as error:
            self._offer(())
            self.question.value, self.message.value = "", message_html(str(error))
            return
        self._offer([subject.path for subject in subjects_of(model)])
        self.message.value = message_html("")

    def _offer(self, paths: Sequence[str]) -> None:
        """A box for each tensor that might learn."""
        from ipywidgets import Checkbox, Layout

        wide = Layout(width="auto", margin="0 16px 0 0")
        self.boxes = tuple(
            Checkbox(description=path, indent=False, layout=wide) for path in paths[:_MOST]
        )
        self.choices.children = self.boxes
        self.train.disabled = not paths
        self.question.value = _question(self.example.value, len(self.boxes))

    def step(self) -> None:
        """Train a new copy for one step, and compare with the boxes."""
        said = {box.description for box in self.boxes if box.value}
        asked = {box.description for box in self.boxes}
        try:
            step = trained(*self._fresh())
        except ModelError as error:
            self.picture.value, self.message.value = "", message_html(str(error))
            return
        _, words = judged(said, Step(step.rows, _only(step.moved, asked)))
        self.message.value = message_html(words)
        self.picture.value = picture_of(step.rows, step.moved)._repr_html_()


def _question(model: str, offered: int) -> str:
    """What is asked, about which model."""
    step = "one step of <code>SGD(model.parameters())</code>"
    words = f"{escape(model)}: which of these {offered} tensors will {step} move? Tick them first."
    words += " The loss is a sum of all outputs, each with a random weight."
    return f'<div style="{PROSE}">Model: {words}</div>'


def _only(moved: Mapping[str, bool], asked: set[str]) -> dict[str, bool]:
    """What was asked for; of a large model only the first parameters are."""
    return {path: yes for path, yes in moved.items() if path in asked}
