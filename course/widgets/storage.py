"""The stride explorer: choose a shape, take steps, then see what view and reshape do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from course.widgets.exploration import Exploration, forecast
from course.widgets.explorer import Explorer
from course.widgets.pages import (
    attempts_html,
    facts_html,
    forecast_html,
    forecast_words,
    message_html,
    state_words,
)
from course.widgets.steps import StepError, parse_shape

__all__ = ["StrideExplorer", "StridePanel", "explore_strides"]

_SHAPES = ((3, 4), (4, 6), (12,), (2, 3, 4), (2, 2, 3), (1, 5), (3, 0), ())


def explore_strides(shape: Sequence[int] = (3, 4)) -> StrideExplorer:
    """An explorer that starts from a new tensor of this shape.

    In a live notebook it has buttons. Anywhere else it is a static page: the transpose of that
    tensor (or itself, below two dimensions) and what view and reshape do with it.
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
        return "\n".join(
            [state_words(state), *forecast_words(state, forecast(state.facts(), (-1,)))]
        )

    def _repr_html_(self) -> str:
        state = _static(self._start)
        return (
            facts_html(state)
            + forecast_html(state, forecast(state.facts(), (-1,)))
            + attempts_html(state, (-1,))
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
        self.shape = Dropdown(options=_offered(start.shape), **_labelled("Shape:"))
        self.own_shape = _text("or type one:", "for example 2, 3, 4")
        self.step = Dropdown(options=[], **_labelled("Step:"))
        self.own_step = _text("or type one:", "for example .t()[:, ::2]")
        self.apply = self._button("Apply step", self._take_step)
        self.undo = self._button("Undo", lambda: self._show(self.state.undone()))
        self.reset = self._button("Reset", lambda: self._show(self.state.reset()))
        self.target = _text("Target shape:", "for example 12 or 2, -1", "-1")
        self.run = self._button("Run view and reshape", self._run)
        self.message, self.facts, self.forecast, self.result = (HTML() for _ in range(4))
        self.box = self._laid_out()
        self._listen(self.shape, lambda: self._start_from(self.shape.value))
        self._listen(self.own_shape, lambda: self._start_from(self.own_shape.value))
        self._listen(self.target, self._foresee)
        self._show(start)

    def _laid_out(self) -> Any:
        from ipywidgets import HBox, Layout, VBox

        rows = [
            (self.shape, self.own_shape),
            (self.step, self.own_step, self.apply, self.undo, self.reset),
            (self.target, self.run),
        ]
        wrapped = [HBox(row, layout=Layout(flex_flow="row wrap")) for row in rows]
        return VBox(
            [*wrapped[:2], self.message, self.facts, wrapped[2], self.forecast, self.result]
        )

    def _button(self, label: str, action: Callable[[], None]) -> Any:
        from ipywidgets import Button, Layout

        button = Button(description=label, layout=Layout(width="auto"))
        button.on_click(lambda _: self._do(action))
        return button

    def _listen(self, control: Any, action: Callable[[], None]) -> None:
        control.observe(lambda _: self._do(action), names="value")

    def _do(self, action: Callable[[], None]) -> None:
        """Run one reaction to the reader; what cannot be done becomes a sentence."""
        self.message.value = message_html("")
        try:
            action()
        except StepError as error:
            self.message.value = message_html(str(error))

    def _show(self, state: Exploration) -> None:
        self.state = state
        self.facts.value = facts_html(state)
        self.step.options = state.suggestions()
        self.step.index = 0  # not all releases of ipywidgets choose the first of new options
        self.undo.disabled = self.reset.disabled = not state.steps
        self.result.value = ""
        self._foresee()

    def _start_from(self, text: str) -> None:
        if text.strip():  # the field is cleared by us, too
            self._show(Exploration(parse_shape(text)))

    def _take_step(self) -> None:
        self._show(self.state.after(self.own_step.value.strip() or self.step.value))
        self.own_step.value = ""

    def _foresee(self) -> None:
        self.forecast.value = self.result.value = ""
        target = parse_shape(self.target.value)
        self.forecast.value = forecast_html(self.state, forecast(self.state.facts(), target))

    def _run(self) -> None:
        self._foresee()
        target = parse_shape(self.target.value)
        self.result.value = attempts_html(self.state, target)


def _offered(first: tuple[int, ...]) -> list[str]:
    """The shapes to choose from, as text; the first is the one that the explorer starts with."""
    return [str(shape) for shape in dict.fromkeys((first, *_SHAPES))]


def _labelled(label: str) -> dict[str, Any]:
    return {"description": label, "style": {"description_width": "initial"}}


def _text(label: str, placeholder: str, value: str = "") -> Any:
    from ipywidgets import Text

    return Text(value=value, placeholder=placeholder, continuous_update=False, **_labelled(label))
