"""The figure of a file: its entries to scale, its tensors by name, and nothing of it is run."""

from __future__ import annotations

import zipfile
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from course.figures import not_drawn
from course.figures.palette import REST
from course.figures.scene import Box
from course.lessons.checkpoints import show_file
from course.lessons.checkpoints.file_figure import Stored, read_file
from tests.course.figures.drawn import collisions, scene_of, texts_of

RAN: list[str] = []


def note() -> None:
    """What the file calls."""
    RAN.append("it ran")


class Runs:
    """An object whose file runs code when it's opened."""

    def __reduce__(self) -> tuple[Any, ...]:
        return note, ()


class Method:
    """An object whose file asks for a method of an object, and calls it."""

    def __reduce__(self) -> tuple[Any, ...]:
        return [1].append, (2,)


def saved(folder: Path, content: object, name: str = "file.pt") -> Path:
    """The path of a file with this in it."""
    torch.save(content, folder / name)
    return folder / name


# --- what is read -------------------------------------------------------------------------------


def test_every_entry_is_told_with_its_size_and_all_bytes_are_accounted_for(tmp_path: Path) -> None:
    path = saved(tmp_path, {"a": torch.zeros(3, 4), "b": torch.zeros(5, dtype=torch.int64)})
    told = read_file(path)
    sizes = {entry.name: entry.nbytes for entry in told.entries}
    assert (sizes["data/0"], sizes["data/1"]) == (48, 40)
    assert told.nbytes == path.stat().st_size
    with zipfile.ZipFile(path) as archive:
        assert sum(sizes.values()) == sum(one.file_size for one in archive.infolist())


def test_tensors_are_named_by_the_keys_that_lead_to_them(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    adam = torch.optim.Adam(model.parameters())
    model(torch.randn(4, 2)).sum().backward()
    adam.step()
    path = saved(tmp_path, {"model": model.state_dict(), "adam": adam.state_dict(), "two": [1, ()]})
    names = {one.name for one in read_file(path).tensors}
    assert {"model.0.weight", "model.1.running_var", "adam.state.0.exp_avg"} <= names
    assert {one.name for one in read_file(saved(tmp_path, torch.ones(2))).tensors} == {
        "(the object)"
    }


def test_a_whole_model_has_the_names_of_its_state(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.BatchNorm1d(2)))
    told = read_file(saved(tmp_path, model))
    assert {one.name for one in told.tensors} == set(model.state_dict())


def test_shared_storages_and_views_are_seen(tmp_path: Path) -> None:
    table = torch.arange(12.0).view(4, 3)
    told = read_file(saved(tmp_path, {"row": table[2], "column": table[:, 1], "none": table[:0]}))
    row, column, none = told.tensors
    assert {one.storage for one in told.tensors} == {"data/0"}
    assert (row.span, column.span, none.span) == ((6, 9), (1, 11), (0, 0))
    assert row.numel == 12


def test_a_tensor_without_dimensions_spans_one_element() -> None:
    assert Stored("x", "data/0", 4, 2, (), ()).span == (2, 3)


def test_nothing_that_a_file_asks_for_is_run_or_imported(tmp_path: Path) -> None:
    path = saved(tmp_path, {"w": torch.ones(2), "evil": Runs(), "more": [Runs(), {"x": Runs()}]})
    RAN.clear()
    assert [one.name for one in read_file(path).tensors] == ["w"]
    assert RAN == []
    torch.load(path, weights_only=False)
    assert len(RAN) == 3


@pytest.mark.parametrize(
    "content",
    [
        Method(),
        {Path("a"): 1},
        {frozenset([1]), Path("b")},
        [Fraction(1, 2)],
        defaultdict(list, a=[1]),
    ],
)
def test_objects_of_any_class_are_passed_over(content: object, tmp_path: Path) -> None:
    told = read_file(saved(tmp_path, {"strange": content, "w": torch.ones(1)}))
    assert [one.name for one in told.tensors] == ["w"]


def test_what_torch_did_not_write_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.pt").write_text("no zip")
    with pytest.raises(ValueError, match=r"text\.pt is no zip"):
        read_file(tmp_path / "text.pt")
    with zipfile.ZipFile(tmp_path / "zip.pt", "w") as archive:
        archive.writestr("readme", "hello")
    with pytest.raises(ValueError, match=r"zip\.pt has no data\.pkl"):
        show_file(tmp_path / "zip.pt")


# --- what is drawn ------------------------------------------------------------------------------


def test_bars_are_to_scale_over_all_files(tmp_path: Path) -> None:
    paths = [saved(tmp_path, torch.zeros(n), f"{n}.pt") for n in (1000, 4000)]
    bars = [i for i in scene_of(show_file(*paths)).items if isinstance(i, Box)]
    grounds = sorted(bar.width for bar in bars if bar.fills == (REST,))
    assert grounds[1] == pytest.approx(4 * grounds[0])


def test_a_row_of_a_table_is_a_small_part_of_its_bar(tmp_path: Path) -> None:
    picture = show_file(saved(tmp_path, torch.zeros(10, 20)[4]))
    ground = next(i for i in scene_of(picture).items if isinstance(i, Box) and i.fills == (REST,))
    part = next(
        i
        for i in scene_of(picture).items
        if isinstance(i, Box) and i.y == ground.y and i.fills != (REST,)
    )
    assert part.width == pytest.approx(ground.width / 10)
    assert part.x - ground.x == pytest.approx(0.4 * ground.width)


@pytest.mark.parametrize(
    ("first", "stop", "grey"), [(0, 4, False), (1, 4, True), (0, 3, True), (0, 0, True)]
)
def test_the_caption_tells_of_grey_where_there_is_some(
    first: int, stop: int, grey: bool, tmp_path: Path
) -> None:
    table = torch.zeros(4, 3)
    picture = show_file(saved(tmp_path, {"a": table[first:stop], "b": torch.ones(2)}))
    assert ("grey" in picture.caption) is grey


def test_the_figure_is_told_in_words(tmp_path: Path) -> None:
    layer = nn.Linear(2, 3, bias=False)
    alt = show_file(saved(tmp_path, nn.Sequential(layer, layer).state_dict())).alt
    assert alt.startswith("file.pt, ")
    assert "data/0 24 with 0.weight (3, 2), 1.weight (3, 2);" in alt


@pytest.mark.parametrize(
    "content",
    [
        {"a": torch.zeros(2)},
        {f"a_rather_long_name.of_layer.{n}": torch.zeros(n) for n in range(30)},
        {"every": list(torch.zeros(9, 3))},
        {},
    ],
    ids=["one", "many storages", "many views", "none"],
)
def test_no_text_lies_over_another(content: object, tmp_path: Path) -> None:
    scene = scene_of(show_file(saved(tmp_path, content)))
    assert collisions(scene) == []


def test_storages_beyond_a_dozen_rows_are_counted_together(tmp_path: Path) -> None:
    texts = texts_of(show_file(saved(tmp_path, [torch.zeros(n + 1) for n in range(20)])))
    assert "9 more storages" in texts


def test_without_a_file_there_is_nothing_to_draw(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least one path"):
        show_file()
    with not_drawn():
        assert "not drawn" in show_file(tmp_path / "missing.pt").alt
