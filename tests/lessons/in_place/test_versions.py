"""Version figures: the counters are torch's, and the notes say what backward will do."""

from __future__ import annotations

import doctest
import re

import pytest
import torch

from course.figures import not_drawn
from course.figures.palette import CARD, FAULT, fill
from course.figures.scene import Box, Label
from course.lessons.in_place import versions_figure as version_figures
from course.lessons.in_place.versions_figure import Moment, moments_of, picture_of, show_versions
from tests.course.figures.drawn import collisions, scene_of, texts_of

SPOILT = """
w = torch.ones(2, requires_grad=True)
x = w * 3
y = x.exp()
x += 1
d = y.detach()
d += 1
y.sum().backward()
w = None
"""


def last(program: str) -> Moment:
    """The state after the last line that ran."""
    return moments_of(program)[-1]


def test_each_line_shows_the_counters_of_torch() -> None:
    names: dict[str, object] = {"torch": torch}
    for moment in moments_of(SPOILT)[:-1]:
        exec(moment.line, names)
        found = {n: t._version for n, t in names.items() if isinstance(t, torch.Tensor)}
        assert dict(moment.versions) == found


def test_a_write_is_marked_for_all_that_share_the_counter() -> None:
    raised = [set(moment.raised) for moment in moments_of(SPOILT)]
    assert raised == [{"w"}, {"x"}, {"y"}, {"x"}, {"d"}, {"y", "d"}, set()]


def test_a_write_through_data_is_marked_for_nobody_else() -> None:
    moment = last("x = torch.zeros(2)\nd = x.data\nd += 1")
    assert (dict(moment.versions), set(moment.raised)) == ({"x": 0, "d": 1}, {"d"})


def test_a_name_bound_to_a_new_tensor_is_marked() -> None:
    assert last("x = torch.zeros(2)\nx = x + 1").raised == {"x"}


def test_what_a_line_saves_is_named_with_its_version() -> None:
    notes = [moment.notes for moment in moments_of(SPOILT)]
    assert notes[2] == ("ExpBackward0 saves y at version 0",)
    assert notes[5] == ("✗ what ExpBackward0 saved is stale",)
    assert notes[0] == notes[1] == notes[3] == notes[4] == ()


def test_a_saved_tensor_without_a_name_is_called_by_the_nodes_word() -> None:
    moment = last("w = torch.ones(2, requires_grad=True)\ny = (w + 1).sin()")
    assert moment.notes == ("SinBackward0 saves its self at version 0",)


def test_one_tensor_saved_twice_is_noted_once() -> None:
    moment = last("w = torch.ones(2, requires_grad=True)\ny = w * w")
    assert moment.notes == ("MulBackward0 saves w at version 0",)


def test_the_program_ends_at_its_first_error() -> None:
    moments = moments_of(SPOILT)
    assert moments[-1].line == "y.sum().backward()"
    assert moments[-1].error == "RuntimeError: saved at version 0, now at 1"


def test_another_error_is_told_in_its_first_sentence() -> None:
    moment = last("w = torch.ones(2, requires_grad=True)\nw += 1")
    words = (
        "RuntimeError: a leaf Variable that requires grad is being used in an in-place operation"
    )
    assert moment.error == words


def test_backward_that_succeeds_leaves_no_note() -> None:
    moment = last("w = torch.ones(2, requires_grad=True)\ny = w.exp()\ny.sum().backward()")
    assert (moment.notes, moment.error) == ((), "")


def test_a_program_may_use_names_it_is_given_and_does_not_change_them() -> None:
    given = {"x": torch.zeros(2)}
    moment = moments_of("y = x + 1\nx = y", given)[-1]
    assert set(moment.versions) == {"x", "y"}
    assert given["x"].tolist() == [0, 0]


def test_an_inference_tensor_has_no_counter_to_show() -> None:
    moment = last("with torch.inference_mode(): x = torch.zeros(2)")
    assert dict(moment.versions) == {}


def test_the_boxes_show_each_counter_and_colour_the_writes() -> None:
    boxes = [i for i in scene_of(show_versions(SPOILT)).items if isinstance(i, Box)]
    shown = [str(v) for moment in moments_of(SPOILT) for v in moment.versions.values()]
    assert [box.text for box in boxes] == shown
    assert sum(box.fills == (fill(1),) for box in boxes) == 7
    assert {box.fills for box in boxes} == {(fill(1),), (CARD,)}


def test_stale_and_raised_are_told_in_the_colour_of_faults() -> None:
    labels = [i for i in scene_of(show_versions(SPOILT)).items if isinstance(i, Label)]
    assert [one.text[0] for one in labels if one.ink == FAULT] == ["✗", "✗"]


@pytest.mark.parametrize("program", [SPOILT, "x = torch.zeros(2)", "pass"])
def test_no_text_lies_over_another(program: str) -> None:
    assert collisions(scene_of(show_versions(program))) == []


def test_every_line_of_the_program_is_shown() -> None:
    texts = texts_of(show_versions(SPOILT))
    assert set(SPOILT.split("\n")[1:-2]) <= set(texts)


def test_the_alt_text_tells_every_line_with_its_counters() -> None:
    alt = show_versions(SPOILT).alt
    assert re.findall(r"After `(.*?)`", alt) == SPOILT.strip().split("\n")[:-1]
    assert "x at 1, y at 1 and d at 1; it raised RuntimeError" in alt


def test_without_drawing_no_line_runs() -> None:
    with not_drawn():
        picture = show_versions("raise SystemExit")
    assert picture.alt == "Figures are not drawn in this process."


def test_a_program_without_lines_is_refused() -> None:
    with pytest.raises(ValueError, match="this one has none"):
        show_versions("\n  \n")


def test_the_example_in_the_docstring_shows_what_it_returns() -> None:
    seen = doctest.testmod(version_figures)
    assert (seen.failed, seen.attempted) == (0, 1)


def test_lines_that_have_not_run_are_named_and_have_no_counters() -> None:
    moments = moments_of(SPOILT)
    picture = picture_of(moments[:2], [moment.line for moment in moments[2:4]])
    assert picture.alt.endswith("Not run yet: `y = x.exp()` and `x += 1`.")
    assert {"y = x.exp()", "x += 1"} <= set(texts_of(picture))
    assert "y" not in texts_of(picture)
