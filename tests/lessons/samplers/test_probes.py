"""What sampler tests look through: whole epochs, and folders listed in a chosen order."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

from course import answer
from course.lessons.samplers.probes import (
    folder_listing,
    loader_epochs,
    picture_folder,
    sampler_epochs,
)


def coins(generator: torch.Generator | None = None) -> WeightedRandomSampler:
    """A sampler of two equal samples."""
    return WeightedRandomSampler([1.0, 1.0], 20, generator=generator)


class Endless:
    """A sampler without an end, and without a len."""

    def __iter__(self) -> Iterator[int]:
        while True:
            yield 3


class Folder:
    """A dataset that trusts every listing: classes, files and labels as they come."""

    def __init__(self, root: str, load: Callable[[Path], str]) -> None:
        self.load = load
        self.classes = [place for place in os.listdir(root) if (Path(root) / place).is_dir()]
        self.paths = [p for place in self.classes for p in (Path(root) / place).iterdir()]
        self.targets = [self.classes.index(path.parent.name) for path in self.paths]

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, i: int) -> tuple[str, int]:
        return self.load(self.paths[i]), self.targets[i]


def weigh(pictures: Any) -> list[float]:
    """A weight for each picture, which loads the first one needlessly."""
    return [1.0 for _ in range(len(pictures)) if pictures[0]]


def test_the_same_seed_shows_the_same_epochs() -> None:
    one, other = (
        sampler_epochs.here(coins, seed=1),
        sampler_epochs.here(coins, seed=1, global_seed=9),
    )
    assert one["epochs"] == other["epochs"]
    assert one["epochs"][0] != one["epochs"][1]
    assert one["state_before"] == one["state_after"]


def test_a_sampler_that_draws_from_pythons_or_numpys_generator_shows() -> None:
    def numbers() -> list[int]:
        return [random.randrange(3)]

    def more() -> list[int]:
        return [int(np.random.randint(3))]

    for make, changes in ((numbers, True), (more, True), (lambda: [1], False)):
        seen = sampler_epochs.here(make)
        assert (seen["state_before"] != seen["state_after"]) is changes


def test_draws_from_the_global_state_are_noticed() -> None:
    one, other = sampler_epochs.here(coins), sampler_epochs.here(coins, global_seed=9)
    assert one["epochs"] != other["epochs"]
    assert one["state_before"] != one["state_after"]


def test_a_message_calls_what_a_probe_was_given_by_the_learners_name() -> None:
    seen = sampler_epochs(answer("a_name_that_nobody_defines"))
    assert seen.name == "a_name_that_nobody_defines"
    assert seen.result["epochs"][0].where == "epochs[0] (with `a_name_that_nobody_defines`)"


def test_a_message_calls_a_probe_that_is_given_no_answer_by_its_name_alone() -> None:
    assert sampler_epochs(0).name == "sampler_epochs"


def test_the_random_state_outside_is_left_alone() -> None:
    before = torch.get_rng_state()
    sampler_epochs.here(coins)
    assert torch.equal(before, torch.get_rng_state())


def test_a_global_state_that_is_lent_within_an_epoch_shows() -> None:
    def lent() -> Iterator[int]:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(5)
            yield from torch.randperm(3).tolist()

    class Lends:
        def __iter__(self) -> Iterator[int]:
            return lent()

    seen = sampler_epochs.here(Lends)
    assert seen["state_before"] == seen["state_after"] != seen["state_within"]


def test_a_generator_that_all_samplers_share_gives_other_epochs_beside_another_sampler() -> None:
    def made(draw: torch.Generator) -> WeightedRandomSampler:
        return coins(draw.manual_seed(3))

    shared = torch.Generator()
    alone, beside = (
        sampler_epochs.here(made, shared, beside=beside)["epochs"] for beside in (False, True)
    )
    assert alone != beside
    own, others = (
        sampler_epochs.here(lambda: made(torch.Generator()), beside=beside)["epochs"]
        for beside in (False, True)
    )
    assert own == others == alone


def test_a_loader_that_draws_from_a_copy_leaves_its_generator_as_it_was() -> None:
    def loads(x: torch.Tensor, y: torch.Tensor, size: int, draw: torch.Generator) -> Any:
        copy = torch.Generator().manual_seed(draw.initial_seed())
        return DataLoader(TensorDataset(x, y), size, sampler=coins(copy))

    x = torch.arange(2.0)[:, None]
    seen, later = (loader_epochs.here(loads, x, x[:, 0], 2, skip=skip) for skip in (0, 3))
    assert len({*seen["generator"], *later["generator"]}) == 2
    assert torch.equal(seen["x"][0], later["x"][0])


def test_using_torchs_own_weighted_sampler_is_noticed_under_any_name() -> None:
    class Heir(WeightedRandomSampler):
        def __init__(self) -> None:
            self.weights, self.num_samples = torch.ones(2, dtype=torch.float64), 3
            self.replacement, self.generator = True, None

    class Borrower(Heir):
        __iter__ = WeightedRandomSampler.__iter__

    for make in (coins, Heir, Borrower):
        assert sampler_epochs.here(make)["torchs_own"] > 0
    assert sampler_epochs.here(lambda: [1, 2])["torchs_own"] == 0


def test_a_sampler_without_an_end_is_cut_off_and_one_without_len_says_so() -> None:
    seen = sampler_epochs.here(Endless, epochs=1)
    assert len(seen["epochs"][0]) == 50_000
    assert seen["len"] == "TypeError: object of type 'Endless' has no len()"


def test_batches_and_tensors_become_plain_and_their_types_are_kept() -> None:
    seen = sampler_epochs.here(lambda: [[torch.tensor(1), 2], torch.tensor(3)], epochs=1)
    assert seen["epochs"] == [[[1, 2], 3]]
    assert seen["types"] == ["Tensor", "int", "list"]


def test_contents_are_sorted_with_batches_joined_and_orders_are_counted() -> None:
    seen = sampler_epochs.here(lambda: [[3, 1], [2]], epochs=3)
    assert seen["contents"] == [[1, 2, 3]] * 3
    assert seen["sizes"] == [[1, 2]] * 3
    assert seen["orders"] == {"[[3, 1], [2]]": 3}


def test_only_the_facts_that_were_asked_for_are_returned() -> None:
    assert [*sampler_epochs.here(lambda: [1], facts=["len", "epochs"])] == ["len", "epochs"]
    assert picture_folder.here(Folder, ["ant/1"], facts=["classes"]) == {"classes": ["ant"]}


def test_a_loaders_epochs_come_with_the_sizes_of_their_batches() -> None:
    def loads(x: torch.Tensor, y: torch.Tensor, size: int, draw: torch.Generator) -> Any:
        return DataLoader(TensorDataset(x, y), size, shuffle=True, generator=draw)

    x = torch.arange(5.0)[:, None]
    seen, other = (loader_epochs.here(loads, x, x[:, 0], 2, global_seed=n) for n in (0, 1))
    assert seen["sizes"] == [2, 2, 1]
    assert all(torch.equal(a[:, 0], b) for a, b in zip(seen["x"], seen["y"], strict=True))
    assert not torch.equal(*seen["x"])
    assert torch.equal(seen["x"][0], other["x"][0])


@pytest.mark.parametrize(("reverse", "classes"), [(False, ["ant", "bee"]), (True, ["bee", "ant"])])
def test_a_dataset_sees_the_folder_in_the_order_asked_for(
    reverse: bool, classes: list[str]
) -> None:
    seen = picture_folder.here(Folder, ["ant/1", "bee/2", "bee/3"], reverse, weigh)
    assert seen["classes"] == classes
    assert seen["items"][0] == [f"{classes[0]}/{'3' if reverse else '1'}", 0]
    assert seen["loads"] == [seen["items"][0][0]] * 3


def test_a_name_that_ends_in_a_slash_is_an_empty_folder() -> None:
    seen = picture_folder.here(Folder, ["ant/1", "zoo/"])
    assert (seen["classes"], seen["targets"]) == (["ant", "zoo"], [0])


@pytest.mark.parametrize("reverse", [False, True])
def test_every_way_to_list_a_folder_follows(tmp_path: Path, reverse: bool) -> None:
    for name in ("b", "a", "c"):
        (tmp_path / name).mkdir()
    wanted = sorted(("a", "b", "c"), reverse=reverse)
    with folder_listing(reverse=reverse):
        _, walked, _ = next(os.walk(tmp_path))
        with os.scandir(tmp_path) as entries:
            scanned = [entry.name for entry in entries]
        listed = [os.listdir(tmp_path), [path.name for path in tmp_path.iterdir()]]
    assert [walked, scanned, *listed] == [wanted] * 4


def test_afterwards_folders_are_listed_as_before() -> None:
    before = (os.scandir, os.listdir)
    with pytest.raises(RuntimeError), folder_listing(reverse=True):
        raise RuntimeError
    assert (os.scandir, os.listdir) == before
