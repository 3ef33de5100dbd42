"""What the lessons say of ImageFolder is true of torchvision's own."""

from __future__ import annotations

import os
import tempfile
from contextlib import nullcontext
from pathlib import Path

import pytest
import torch

from course.claims import claim, prove
from tests.lessons.image_folder import image_folder

CLASSES = ["dog", "Zebra", "ant 10", "ant 9", "émeu", "cat"]


def pictures(root: Path, numbers: dict[str, int]) -> None:
    """So many empty pictures in a folder for each class, and a stray file beside the folders."""
    for name, number in numbers.items():
        (root / name).mkdir()
        for n in range(number):
            (root / name / f"{n}.png").touch()
    (root / "notes.txt").touch()


def test_image_folder_numbers_the_sorted_names_of_the_subfolders(tmp_path: Path) -> None:
    pictures(tmp_path, dict.fromkeys(CLASSES, 1))
    found = image_folder()(str(tmp_path))
    assert found.class_to_idx == {name: n for n, name in enumerate(sorted(CLASSES))}


def test_the_folder_of_the_proof_has_the_labels_and_weights_that_it_states(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "TemporaryDirectory", lambda: nullcontext(str(tmp_path)))
    shown = dict(prove(claim("os-walk-order-is-label-order")).shown)
    found = image_folder()(str(tmp_path))
    counted = [found.targets.count(label) for label in range(len(found.classes))]
    assert shown["labels"] == repr(found.classes)
    assert shown["weights"] == repr([1 / number for number in counted])


def test_weights_in_the_order_of_os_walk_are_not_those_of_the_labels(tmp_path: Path) -> None:
    pictures(tmp_path, {"dog": 50, "cat": 2})
    walked = [1 / len(files) for _, _, files in os.walk(tmp_path) if files]
    labels = torch.tensor(image_folder()(str(tmp_path)).targets)
    by_label = (1 / labels.bincount()).tolist()
    assert by_label == pytest.approx([0.5, 0.02])
    assert walked[: len(by_label)] != pytest.approx(by_label)
