"""The sampler explorer: set class sizes, weights and draws, and see what an epoch holds."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

import torch

from course.lessons.samplers.sampler_figure import balance_words, draw_plan, format_mean
from course.lessons.samplers.simulator import EpochPlan, epoch_plan
from course.widgets.explorer import Explorer
from course.widgets.pages import PROSE

__all__ = ["SamplerExplorer", "SamplerPanel", "SamplerSettings", "explore_sampler"]

_NAMES = ("common", "rare")
_RULES = {"equal": 0.0, "1 / √size": 0.5, "1 / size": 1.0, "1 / size²": 2.0}


@dataclass(frozen=True)
class SamplerSettings:
    """What the controls say: two classes, one rule for the weights, and how an epoch is drawn."""

    common: int = 450
    rare: int = 10
    rule: str = "1 / size"
    num_samples: int = 460
    replacement: bool = True

    def plan(self) -> EpochPlan:
        """The epoch that these settings lead to. Raises ValueError where there is none."""
        if self.rule not in _RULES:
            raise ValueError(f"no rule {self.rule!r}; there are {', '.join(_RULES)}")
        sizes = torch.tensor([self.common, self.rare])
        labels = torch.repeat_interleave(torch.arange(2), sizes)
        weights = sizes.double().pow(-_RULES[self.rule])[labels]
        return epoch_plan(weights, labels, self.num_samples, self.replacement)


def explore_sampler(
    common: int = 450, rare: int = 10, num_samples: int | None = None
) -> SamplerExplorer:
    """An explorer that starts from a common class and a rare one of these sizes.

    In a live notebook it has sliders. Anywhere else it is a static page: equal weights, then the
    weights 1 / size.

    Args:
        common: Samples of the common class.
        rare: Samples of the rare class.
        num_samples: Draws an epoch; None for as many as there are samples.
    """
    count = common + rare if num_samples is None else num_samples
    return SamplerExplorer(SamplerSettings(common, rare, num_samples=count))


class SamplerExplorer(Explorer["SamplerPanel"]):
    """What `explore_sampler` shows: a panel of widgets, or a page without them."""

    def __init__(self, start: SamplerSettings) -> None:
        start.plan()  # settings that make no sense are refused here, not when they are drawn
        self._start = start

    def _make_panel(self) -> SamplerPanel:
        return SamplerPanel(self._start)

    def __repr__(self) -> str:
        return "\n".join(line for state in self._pages() for line in plan_words(state.plan()))

    def _repr_html_(self) -> str:
        return "".join(page_html(state) for state in self._pages())

    def _pages(self) -> list[SamplerSettings]:
        """What is shown without controls: the same epoch under two rules."""
        start = self._start
        equal = SamplerSettings(start.common, start.rare, "equal", start.num_samples)
        return [equal, start]


class SamplerPanel:
    """The widgets of one explorer. Every control has its label as text."""

    def __init__(self, start: SamplerSettings) -> None:
        from ipywidgets import HTML, Checkbox, Dropdown, HBox, Layout, VBox

        self.common = _slider("Samples of the common class:", start.common, 1000)
        self.rare = _slider("Samples of the rare class:", start.rare, 200)
        self.rule = Dropdown(
            options=list(_RULES),
            value=start.rule,
            description="Weight of a sample:",
            style={"description_width": "initial"},
        )
        self.draws = _slider("num_samples:", start.num_samples, 2000)
        self.replacement = Checkbox(
            value=start.replacement, description="replacement", indent=False
        )
        self.page = HTML()
        rows = [(self.common, self.rare), (self.rule, self.draws, self.replacement)]
        wrapped = [HBox(row, layout=Layout(flex_flow="row wrap")) for row in rows]
        self.box = VBox([*wrapped, self.page])
        for control in self._controls():
            control.observe(lambda _: self._draw(), names="value")
        self._draw()

    def _controls(self) -> tuple[Any, ...]:
        return self.common, self.rare, self.rule, self.draws, self.replacement

    @property
    def settings(self) -> SamplerSettings:
        """What the controls say now."""
        return SamplerSettings(*(control.value for control in self._controls()))

    def _draw(self) -> None:
        self.page.value = page_html(self.settings)


def _slider(label: str, value: int, most: int) -> Any:
    from ipywidgets import IntSlider, Layout

    return IntSlider(
        value=value,
        min=1,
        max=max(most, value),
        description=label,
        continuous_update=False,
        style={"description_width": "initial"},
        layout=Layout(width="420px"),
    )


def page_html(settings: SamplerSettings) -> str:
    """The picture of these settings and what it shows; what cannot be drawn is a sentence."""
    try:
        plan = settings.plan()
    except ValueError as error:
        return f"<p style='{PROSE}'>{escape(str(error))}.</p>"
    words = "".join(f"<p>{escape(line)}</p>" for line in plan_words(plan))
    return f"{draw_plan(plan, _NAMES)._repr_html_()}<div style='{PROSE}'>{words}</div>"


def plan_words(plan: EpochPlan) -> list[str]:
    """What each class gets, and what the whole epoch holds."""
    rare = plan.classes[-1]
    share = 100 * rare.draws / plan.num_samples
    distinct, unseen = format_mean(plan.distinct), format_mean(plan.size - plan.distinct)
    return [
        *balance_words(plan, _NAMES),
        f"{format_mean(share)} % of the {plan.num_samples} draws are of the rare class. The "
        f"epoch holds {distinct} different samples of {plan.size}; {unseen} are not seen.",
    ]
