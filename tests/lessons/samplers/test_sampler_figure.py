"""Sampler figures: the bars are the model's numbers, legible, and told in words."""

from __future__ import annotations

import doctest
import random

import pytest
import torch

from course.figures.palette import REST, fill
from course.figures.scene import Box
from course.lessons.samplers import sampler_figure as sampler
from course.lessons.samplers.sampler_figure import WIDTH, balance_words, format_mean, show_sampler
from course.lessons.samplers.simulator import epoch_plan
from tests.course.figures.drawn import collisions, scene_of, texts_of

LABELS = [0] * 50 + [1]
WEIGHTS = [1 / 50] * 50 + [1.0]


def bars(colour: str) -> list[float]:
    """The lengths of the bars of one colour, class by class."""
    scene = scene_of(show_sampler(WEIGHTS, LABELS, names=["dog", "cat"]))
    return [item.width for item in scene.items if isinstance(item, Box) and item.fills == (colour,)]


def test_bars_have_the_lengths_of_samples_draws_and_distinct_samples() -> None:
    samples, draws, distinct = bars(REST), bars(fill(0)), bars(fill(1))
    unit = samples[0] / 50
    dog, cat = epoch_plan(WEIGHTS, LABELS).classes
    assert samples == pytest.approx([50 * unit, 1 * unit])
    assert draws == pytest.approx([dog.draws * unit, cat.draws * unit])
    assert distinct == pytest.approx([dog.distinct * unit, cat.distinct * unit])


def test_every_bar_bears_its_number() -> None:
    texts = texts_of(show_sampler(WEIGHTS, LABELS))
    assert "25.5 · each sample 25.5 times" in texts
    assert "20.1 · 29.9 never seen" in texts


def test_the_alt_text_says_what_the_bars_show() -> None:
    alt = show_sampler(WEIGHTS, LABELS, names=["dog", "cat"]).alt
    assert alt.startswith("Average epoch of 51 draws with replacement.")
    assert "dog: 50 samples, drawn 25.5 times; 20.1 different ones, 29.9 not seen." in alt
    assert "cat: 1 sample, drawn 25.5 times; 1 different one, 0 not seen." in alt


def test_without_replacement_the_title_says_so() -> None:
    picture = show_sampler(WEIGHTS, LABELS, replacement=False)
    assert "An epoch of 51 draws without replacement from 51 samples" in texts_of(picture)
    assert "class 1: 1 sample, drawn 1 time; 1 different one" in picture.alt


def test_text_labels_are_shown_as_they_are() -> None:
    assert "eel" in texts_of(show_sampler([1, 1], ["eel", "cat"]))


def test_beyond_twelve_classes_the_rest_is_counted() -> None:
    texts = texts_of(show_sampler([1.0] * 15, list(range(15))))
    assert "class 11" in texts and "class 12" not in texts
    assert "3 further classes are not drawn." in texts


@pytest.mark.parametrize("seed", range(20))
def test_texts_do_not_lie_over_each_other_or_beyond_the_figure(seed: int) -> None:
    rng = random.Random(seed)
    labels = [rng.randrange(rng.randint(1, 14)) for _ in range(rng.randint(1, 400))]
    weights = torch.tensor([rng.choice([0.01, 1.0, 30.0]) for _ in labels])
    scene = scene_of(show_sampler(weights, labels, rng.choice([1, 50, 3000])))
    assert collisions(scene) == []
    assert scene.right <= WIDTH + 4


def test_the_same_epoch_gives_the_same_bytes() -> None:
    assert show_sampler(WEIGHTS, LABELS).svg() == show_sampler(WEIGHTS, LABELS).svg()


def test_an_average_that_is_whole_has_no_point() -> None:
    assert [format_mean(x) for x in (0, 3.0000000001, 25.54, 0.012)] == ["0", "3", "25.5", "0.012"]


def test_words_have_the_names_of_the_classes() -> None:
    assert balance_words(epoch_plan([1, 1], [0, 0], 2), ["dog"]) == [
        "dog: 2 samples, drawn 2 times; 1.5 different ones, 0.5 not seen."
    ]


def test_the_examples_in_the_docstrings_run() -> None:
    assert doctest.testmod(sampler).failed == 0
