"""Lesson 10: it teaches what it promises, and the numbers in its texts are PyTorch's."""

from __future__ import annotations

import math

import pytest
import torch
from torch.utils.data import DataLoader, RandomSampler, Subset, TensorDataset, WeightedRandomSampler

from course.claims import misconceptions
from course.lessons.samplers.simulator import epoch_plan, expected_draws, seen_chances
from tests.lessons.source import Source

SOURCE = Source("10-samplers")


# ---------------------------------------------------------------- the scene


def test_the_scene_shows_ten_cats_shuffled_and_none_balanced(
    capsys: pytest.CaptureFixture[str],
) -> None:
    exec(SOURCE.cells()["scene"]["source"], {})
    assert capsys.readouterr().out.splitlines() == ["190 dogs, 10 cats", "200 dogs, 0 cats"]


def test_the_scene_is_mended_by_one_weight_for_each_pet(
    capsys: pytest.CaptureFixture[str],
) -> None:
    weigh = SOURCE.solved("sample-weights")["sample_weights"]
    mended = SOURCE.cells()["scene"]["source"].replace("Sampler(rarity", "Sampler(weigh(pets)")
    exec(mended, {"weigh": weigh})
    cats = int(capsys.readouterr().out.splitlines()[1].split()[2])
    assert 55 < cats < 145  # 100 on average; six standard deviations are 42


def test_the_scene_is_short_and_needs_nothing_of_the_course() -> None:
    source = SOURCE.cells()["scene"]["source"]
    assert "course" not in source
    assert sum(bool(line.strip()) for line in source.splitlines()) <= 12
    told = SOURCE.cells()["title"]["source"] + SOURCE.cells()["scene-symptom"]["source"]
    assert len(told.split()) <= 150


def test_the_end_asks_for_weights_and_accepts_those_of_the_exercise() -> None:
    names = SOURCE.solved("scene", "sample-weights")
    check = SOURCE.cells()["the-cats-found-check"]["source"]
    for mended, word in (
        (names["rarity"], "open"),
        (names["sample_weights"](names["pets"]), "right"),
    ):
        names["mended"] = mended
        exec(check.replace("warm_up(", "said = warm_up("), names)
        assert names["said"].state == word


# ---------------------------------------------------------------- form


def test_five_exercises_stand_before_the_first_deep_dive() -> None:
    sections = [SOURCE.lesson.sections[one.section] for one in SOURCE.exercises]
    assert [name.startswith("Deep dive") for name in sections] == [False] * 5 + [True] * 4


def test_neither_tests_nor_solutions_need_more_than_torch() -> None:
    graded = [
        cell["source"] for cell in SOURCE.cells().values() if cell["metadata"].get("nbgrader")
    ]
    for package in ("sklearn", "torchvision"):
        assert [source for source in graded if package in source] == []


# ---------------------------------------------------------------- what the texts say


def test_asking_a_weighted_sampler_for_an_iterator_draws_nothing() -> None:
    generator = torch.Generator().manual_seed(0)
    before = generator.get_state()
    indices = iter(WeightedRandomSampler([1.0, 1.0], 5, generator=generator))
    assert torch.equal(before, generator.get_state())
    next(indices)
    assert not torch.equal(before, generator.get_state())


def test_weights_that_cannot_be_drawn_are_noticed_at_the_first_draw() -> None:
    for weights in ([1.0, -1.0], [0.0, 0.0], [1.0, math.nan]):
        sampler = WeightedRandomSampler(weights, 2)
        with pytest.raises(RuntimeError, match="invalid multinomial distribution"):
            list(sampler)


def test_other_arguments_are_noticed_at_once() -> None:
    with pytest.raises(ValueError, match="replacement should be a boolean"):
        WeightedRandomSampler([1.0], 1, 1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="1d sequence"):
        WeightedRandomSampler([[1.0]], 1)  # type: ignore[list-item]


def test_a_list_takes_a_tensor_as_an_index_and_a_dictionary_does_not() -> None:
    assert [10, 20][torch.tensor(1)] == 20
    with pytest.raises(KeyError):
        {1: 20}[torch.tensor(1)]  # type: ignore[index]


def test_the_generator_of_a_loader_does_not_reach_a_sampler_that_is_passed() -> None:
    def drawn(shuffle: bool) -> list[int]:
        sampler = None if shuffle else WeightedRandomSampler([1.0] * 30, 30)
        seeded = torch.Generator().manual_seed(0)
        return [*DataLoader(range(30), None, shuffle or None, sampler, generator=seeded)]  # type: ignore[arg-type]

    assert drawn(shuffle=True) == drawn(shuffle=True)
    assert drawn(shuffle=False) != drawn(shuffle=False)  # by chance in one of 30 ** 30 runs


def test_the_rare_class_runs_out_as_the_text_says() -> None:
    labels = torch.tensor([0] * 500 + [1] * 50)
    common, rare = epoch_plan((1 / labels.bincount()[labels]), labels, 100, False).classes
    assert "37 of 100 draws instead of 50" in SOURCE.cells()["short-epoch-rule"]["source"]
    assert round(rare.draws) == 37
    assert round(common.size / common.distinct) == 8


def test_a_uniform_epoch_with_replacement_shows_632_of_1000() -> None:
    assert "632 of them on average" in SOURCE.cells()["distinct-rule"]["source"]
    assert round(seen_chances([1.0] * 1000, 1000).sum().item()) == 632


def test_one_weight_for_each_class_draws_two_samples_only() -> None:
    counts = torch.tensor([6, 1])
    assert {*WeightedRandomSampler(1 / counts, 1000)} == {0, 1}  # type: ignore[arg-type]


def test_a_part_of_a_dataset_numbers_its_samples_anew() -> None:
    targets = torch.tensor([0, 0, 0, 1, 1, 0])
    part = Subset(TensorDataset(targets), [4, 0, 1, 2])
    assert [part[i][0].item() for i in range(4)] == targets[part.indices].tolist() == [1, 0, 0, 0]


def test_reversed_counts_leave_the_dogs_and_favour_the_eels() -> None:
    labels = torch.tensor([0] * 2 + [1] * 12 + [2] * 6)
    wrong = 1 / torch.tensor([6.0, 12.0, 2.0])
    draws = expected_draws(wrong[labels], 20)
    cat, dog, eel = (draws[labels == label].sum().item() / 20 for label in range(3))
    assert "more than two thirds of the draws" in SOURCE.cells()["walk-figure-rule"]["source"]
    assert (round(1 / cat), round(dog, 2), eel > 2 / 3) == (13, 0.23, True)


def test_a_balanced_epoch_misses_112_of_the_190_dogs() -> None:
    text = SOURCE.cells()["pets-expected-rule"]["source"]
    dog, cat = epoch_plan([1 / 190] * 190 + [1 / 10] * 10, [0] * 190 + [1] * 10).classes
    assert "112 of the 190 dogs are missing" in text and round(dog.unseen) == 112
    assert "ten times" in text and cat.repeats == pytest.approx(10)
    assert "every second epoch" in text and dog.repeats == pytest.approx(0.526, abs=0.001)


def test_the_balanced_epoch_of_the_figure_shows_97_cats() -> None:
    names = SOURCE.solved("scene", "balance-drawn")
    assert "97 of 200 draws" in SOURCE.cells()["balance-rule"]["source"]
    names["seeded"].manual_seed(1)
    assert int(names["pets"][[*names["sampler"]]].sum()) == 97


def test_a_limit_is_kept_neither_by_cutting_nor_by_scaling() -> None:
    names = SOURCE.solved("limits-measured")
    cut, tops = names["cut"], names["tops"]
    assert cut.sum() < 120
    assert (cut * 120 / cut.sum())[2] > tops[2]


def test_fifty_dogs_and_a_cat_come_as_the_text_says() -> None:
    text = SOURCE.cells()["one-cat-rule"]["source"]
    dog, cat = epoch_plan([1 / 50] * 50 + [1.0], [0] * 50 + [1]).classes
    assert "25.5 draws" in text and cat.draws == pytest.approx(25.5)
    assert "30 of the 50 dogs" in text and round(dog.unseen) == 30


def test_every_second_shuffled_batch_lacks_the_rare_class() -> None:
    assert 0.49 < (1 - 10 / 460) ** 32 < 0.51


def test_one_minus_frequency_gives_the_totals_that_the_feedback_names() -> None:
    sizes = torch.tensor([4, 2, 1])
    totals = (sizes * (7 - sizes)).tolist()
    why = {known.id: known.why for known in misconceptions(SOURCE.slug)}["one-minus-frequency"]
    assert totals == [12, 10, 6] and "12, 10 and 6" in why


@pytest.mark.exhaustive("whole notebooks and trainings")
def test_both_treatments_find_eights_that_plain_training_does_not() -> None:
    pytest.importorskip("sklearn", reason="needs scikit-learn's digits")
    names = SOURCE.solved("digits", "rare-eights", "trained", "recall-measured")
    counts, labels = names["class_counts"], names["train_y"]
    oversampled = WeightedRandomSampler((1 / counts)[labels], len(labels))
    plain = names["eights"](names["trained"](RandomSampler(labels)))
    one = names["eights"](names["trained"](oversampled))
    other = names["eights"](names["trained"](RandomSampler(labels), 1 / counts))
    assert counts[8] == 6
    assert plain[0] < 0.1 and 0.35 < one[0] < 0.7 and 0.35 < other[0] < 0.7
    assert min(one[2], other[2]) > plain[2] - 0.03


def test_a_weighted_loss_divides_by_the_weights_of_the_batch() -> None:
    logits, y, w = torch.randn(5, 3), torch.tensor([0, 0, 1, 2, 0]), torch.tensor([0.1, 2.0, 5.0])
    each = torch.nn.functional.cross_entropy(logits, y, reduction="none")
    mean = torch.nn.functional.cross_entropy(logits, y, weight=w)
    assert torch.allclose(mean, (each * w[y]).sum() / w[y].sum())
