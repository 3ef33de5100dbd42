"""The map can be read: in both themes, on a phone, by those who don't see it."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from course.figures.palette import contrast
from course.guide.lesson_cards import PATHS, Card, cards, on_path
from course.guide.lesson_map import LessonMap
from course.guide.map_drawing import DARK, LIGHT, drawn
from course.guide.map_text import described, in_markdown, summary, table

SVG = "{http://www.w3.org/2000/svg}"
ODD = Card("01-a", 'A < B & "C"', 90, (), "write <b> & 'c'", ("train",), ())


def parsed(*, narrow: bool = False) -> ET.Element:
    return ET.fromstring(drawn(cards(), narrow=narrow))


@pytest.mark.parametrize("narrow", [False, True])
def test_both_forms_name_every_lesson_with_its_minutes_and_what_one_can_do(narrow: bool) -> None:
    said = " ".join(one.text or "" for one in parsed(narrow=narrow).iter(f"{SVG}text"))
    for card in cards():
        assert f"{card.number} {card.name}" in said
        assert card.can in said
        assert f"{card.minutes} minutes" in said


@pytest.mark.parametrize("narrow", [False, True])
def test_each_lesson_bears_the_marks_of_its_paths(narrow: bool) -> None:
    marks = [one.get("class") for one in parsed(narrow=narrow).iter(f"{SVG}text")]
    for path in PATHS:
        assert marks.count(path) == len(on_path(cards(), path)) + 1  # and one in the legend


def test_the_marks_differ_in_shape_as_well_as_in_colour() -> None:
    marks = {one.text for one in parsed().iter(f"{SVG}text") if one.get("class") in PATHS}
    assert len(marks) == len(PATHS)


@pytest.mark.parametrize("colours", [LIGHT, DARK])
def test_text_and_lines_stand_out_in_both_themes(colours: dict[str, str]) -> None:
    for name in ("ink", "muted", *PATHS):
        for ground in ("ground", "box"):
            assert contrast(colours[name], colours[ground]) >= 4.5, (name, ground)
    for name in ("line", "edge"):
        assert contrast(colours[name], colours["ground"]) >= 3, name


def test_nothing_lies_outside_and_the_narrow_form_fits_a_phone() -> None:
    for narrow in (False, True):
        root = parsed(narrow=narrow)
        _, _, width, height = map(float, str(root.get("viewBox")).split())
        assert width <= (380 if narrow else 1000)
        for box in root.iter(f"{SVG}rect"):
            assert float(box.get("x", 0)) + float(str(box.get("width"))) <= width
            assert float(box.get("y", 0)) + float(str(box.get("height"))) <= height


def test_a_line_runs_between_the_boxes_however_many_there_are() -> None:
    numbers = [f"{n:02}" for n in range(1, 9)]
    chain = {number: (numbers[at - 1],) if at else () for at, number in enumerate(numbers)}
    leaves = [Card(f"{n}-a", "A", 90, ("01",), "", (), ()) for n in ("20", "21", "22", "23")]
    known = [Card(f"{number}-a", "A", 90, one, "", (), ()) for number, one in chain.items()]
    last = Card("30-a", "A", 90, ("08", *(one.number for one in leaves)), "", (), ())
    root = ET.fromstring(drawn([*known, *leaves, last]))
    boxes = [
        (float(str(one.get("x"))), float(str(one.get("x"))) + float(str(one.get("width"))))
        for one in root.iter(f"{SVG}rect")
        if one.get("class") == "box"
    ]
    paths = [str(one.get("d")) for one in root.iter(f"{SVG}path") if one.get("class") == "line"]
    lanes = [float(x) for path in paths for x in re.findall(r"([\d.]+) [\d.]+V", path)]
    assert len(lanes) >= 4
    assert [x for x in lanes if any(left - 2 <= x <= right + 2 for left, right in boxes)] == []


def test_no_box_covers_another() -> None:
    for narrow in (False, True):
        boxes = [
            [float(str(one.get(key))) for key in ("x", "y", "width", "height")]
            for one in parsed(narrow=narrow).iter(f"{SVG}rect")
            if one.get("class") == "box"
        ]
        for n, (x, y, width, height) in enumerate(boxes):
            for left, top, _, _ in boxes[n + 1 :]:
                assert abs(left - x) >= width or abs(top - y) >= height


def test_what_a_learner_has_done_stands_in_the_box() -> None:
    assert "builds on nothing" not in drawn([ODD])
    assert "90 minutes · needs no other lesson · ✓ done<" in drawn([ODD], states={"01": "✓ done"})


def test_words_of_a_lesson_are_no_markup() -> None:
    root = ET.fromstring(drawn([ODD]))
    assert "write <b> & 'c'" in [one.text for one in root.iter(f"{SVG}text")]
    assert "<b>" not in re.sub(r"<summary>.*?</summary>", "", LessonMap([ODD])._repr_html_())


def test_who_cannot_see_the_map_is_told_all_of_it() -> None:
    told = parsed().find(f"{SVG}desc")
    assert told is not None
    assert told.text == described(cards())
    for card in cards():
        assert f"{card.number} {card.name}, {card.minutes} minutes, " in described(cards())
        assert card.can in described(cards())
    for path, name in PATHS.items():
        numbers = ", ".join(one.number for one in on_path(cards(), path))
        assert f"“{name}”" in summary(cards())
        assert numbers in summary(cards())


def test_a_notebook_shows_picture_and_words_with_what_was_done() -> None:
    shown = LessonMap(cards(), {"01": "3 of 9 solved"})
    page = shown._repr_html_()
    assert page.count("data:image/svg+xml;base64,") == 2
    assert "You: 3 of 9 solved." in page
    assert repr(shown) == described(cards(), {"01": "3 of 9 solved"})


def test_the_page_of_the_map_has_both_pictures_and_the_table() -> None:
    page = in_markdown(cards(), wide="w.svg", narrow="n.svg")
    assert 'srcset="n.svg"' in page
    assert '<img src="w.svg" alt="A map of the' in page
    assert table(cards()) in page
