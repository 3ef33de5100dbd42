"""The stride explorer: choose a shape, take steps, predict view and reshape, then run both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from course.widgets.exploration import Exploration
from course.widgets.explorer import Explorer, labelled
from course.widgets.pages import (
    GUESSES,
    PROSE,
    facts_html,
    message_html,
    outcome_html,
    outcome_words,
    state_words,
)
from course.widgets.steps import StepError, parse_shape

__all__ = ["StrideExplorer", "StridePanel", "explore_strides"]

_OPEN = "predict …"  # the choice that is none yet
_SHAPES = ((3, 4), (4, 6), (12,), (2, 3, 4), (2, 2, 3), (1, 5), (3, 0), ())


def explore_strides(shape: Sequence[int] = (3, 4)) -> StrideExplorer:
    """An explorer that starts from a new tensor of this shape.

    In a live notebook it has buttons, and runs view and reshape when both are predicted. Anywhere
    else it is a static page: the transpose of that tensor (or itself, below two dimensions) and,
    folded, what view and reshape do with it.

    Args:
        shape: Sizes of the tensor to begin with.
    """
    return StrideExplorer(tuple(shape))


class StrideExplorer(Explorer["StridePanel"]):
    """What `explore_strides` shows: a panel of widgets, or the same page without buttons."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._start = Exploration(shape)

    def _make_panel(self) -> StridePanel:
        return StridePanel(self._start)

    def __repr__(self) -> str:
        state = _static(self._start)
        return "\n".join([state_words(state), *outcome_words(state, (-1,))])

    def _repr_html_(self) -> str:
        state = _static(self._start)
        question = f"Predict view(-1) and reshape(-1) of {state.name}, then unfold"
        return (
            f"{facts_html(state)}<details><summary style='{PROSE}'>{question}</summary>"
            f"{outcome_html(state, (-1,))}</details>"
        )


def _static(start: Exploration) -> Exploration:
    """What is shown without buttons: the transpose, since on it view and reshape differ."""
    rank = len(start.shape)
    return start.after(f".transpose({rank - 2}, {rank - 1})") if rank > 1 else start


class StridePanel:
    """The widgets of one explorer and the exploration they show.

    Only what ipywidgets 7 and 8 both have is used. Every control has its label as text and is
    reached by the Tab key in the order in which it is read.
    """

    def __init__(self, start: Exploration) -> None:
        from ipywidgets import HTML, Dropdown

        self.state = start
        self.shape = Dropdown(options=_offered(start.shape), **labelled("Shape:"))
        self.own_shape = _text("or type a shape:", "for example 2, 3, 4")
        self.step = Dropdown(options=[], **labelled("Step:"))
        # What is typed is here at every key, so that Enter finds it; other fields act on a change.
        self.own_step = _text("or type a step:", "for example .t()[:, ::2]", at_once=True)
        self.own_step.on_msg(self._entered)
        self.apply = self._button("Apply step", self._take_step)
        self.undo = self._button("Undo", lambda: self._show(self.state.undone()))
        self.reset = self._button("Reset", lambda: self._show(self.state.reset()))
        self.target = _text("Target shape:", "for example 12 or 2, -1", "-1")
        self.view = Dropdown(options=[_OPEN, *GUESSES], **labelled("view will:"))
        self.reshape = Dropdown(options=[_OPEN, *GUESSES], **labelled("reshape will:"))
        self.message, self.facts, self.result = (HTML() for _ in range(3))
        self.run = self._button("Run view and reshape", self._run, self.result)
        self.box = self._laid_out()
        self._listen(self.shape, lambda: self._start_from(self.shape.value))
        self._listen(self.own_shape, lambda: self._start_from(self.own_shape.value))
        self._listen(self.target, self._ask, self.result)
        self._show(start)

    def _laid_out(self) -> Any:
        from ipywidgets import HBox, Layout, VBox

        rows = [
            (self.shape, self.own_shape),
            (self.step, self.own_step, self.apply, self.undo, self.reset),
            (self.target, self.view, self.reshape, self.run),
        ]
        wrapped = [HBox(row, layout=Layout(flex_flow="row wrap")) for row in rows]
        return VBox([*wrapped[:2], self.message, self.facts, wrapped[2], self.result])

    def _entered(self, _: Any, content: object, __: object) -> None:
        """Take the step when Enter is pressed; ipywidgets 8 deprecates `on_submit` for it."""
        if isinstance(content, dict) and content.get("event") == "submit":
            self._do(self._take_step)

    def _button(self, label: str, action: Callable[[], None], told: Any = None) -> Any:
        from ipywidgets import Button, Layout

        button = Button(description=label, layout=Layout(width="auto"))
        button.on_click(lambda _: self._do(action, told))
        return button

    def _listen(self, control: Any, action: Callable[[], None], told: Any = None) -> None:
        control.observe(lambda _: self._do(action, told), names="value")

    def _do(self, action: Callable[[], None], told: Any = None) -> None:
        """Run one reaction to the reader; what cannot be done is told in words below the row."""
        self.message.value = message_html("")
        try:
            action()
        except StepError as error:
            (told or self.message).value = message_html(str(error))

    def _show(self, state: Exploration) -> None:
        self.state = state
        self.facts.value = facts_html(state)
        self.step.options = state.suggestions()
        self.step.index = 0  # not all releases of ipywidgets choose the first of new options
        self.undo.disabled = self.reset.disabled = not state.steps
        self._do(self._ask, self.result)

    def _start_from(self, text: str) -> None:
        if text.strip():  # the field is cleared by us, too
            self._show(Exploration(parse_shape(text)))

    def _take_step(self) -> None:
        self._show(self.state.after(self.own_step.value.strip() or self.step.value))
        self.own_step.value = ""

    def _ask(self) -> None:
        """Begin a new prediction: what was predicted and shown is of another tensor or target."""
        self.view.value = self.reshape.value = _OPEN
        self.result.value = ""
        parse_shape(self.target.value)

    def _run(self) -> None:
        self.result.value = ""
        target = parse_shape(self.target.value)
        guesses = {"view": self.view.value, "reshape": self.reshape.value}
        if _OPEN in guesses.values():
            raise StepError("Predict first: choose what view will do, and what reshape will.")
        self.result.value = outcome_html(self.state, target, guesses)


def _offered(first: tuple[int, ...]) -> list[str]:
    """The shapes to choose from, as text; the first is the one that the explorer starts with."""
    return [str(shape) for shape in dict.fromkeys((first, *_SHAPES))]


def _text(label: str, placeholder: str, value: str = "", *, at_once: bool = False) -> Any:
    from ipywidgets import Text

    return Text(value=value, placeholder=placeholder, continuous_update=at_once, **labelled(label))
