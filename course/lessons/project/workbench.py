"""The bench of the project: numbers of a run side by side that should be equal.

Each line is measured on fresh copies of `train.py`, with the script's own pieces or with others,
by one thread: on so little data, several spend their time waiting for one another.
"""

from __future__ import annotations

import math
import types
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn import functional as F

from course.inspection.graph import nodes_behind
from course.inspection.random_state import random_state_kept
from course.lessons.project.script import fresh_train

__all__ = ["Bench", "bench", "megabytes_saved", "step_apart"]

Pieces = Mapping[str, Any]
_SEED, _EPOCHS = 0, 2
_RANKS, _EIGHT = 3, 8


class Pair(NamedTuple):
    """Two numbers as text, and whether what they stand for is equal; None where it needn't be."""

    left: str
    right: str
    equal: bool | None


@dataclass(frozen=True)
class Bench:
    """What was measured: a pair of numbers, or an error in one line, by the name of the fact."""

    measured: Mapping[str, Pair | str]

    @property
    def equal(self) -> bool:
        """Whether nothing is off: no pair that should be equal is not, and no line has an error."""
        found = self.measured.values()
        return all(isinstance(one, Pair) and one.equal is not False for one in found)

    def __repr__(self) -> str:
        return "\n".join(_line(name, found) for name, found in self.measured.items())


def bench(*facts: str, **pieces: Any) -> Bench:
    """Numbers that should be equal, side by side: ✓ where they are, ✗ where they aren't.

        bench()                                all facts of the script as found
        bench("rows", rank_order=rank_order)   one of them, with a piece of your own

    Random streams are left as they are.

    Args:
        facts: Their names, as the table has them; all without any.
        pieces: Functions, or the class `Net`, to use instead of the script's, by name.

    Raises:
        ValueError: There is no such fact, or no such piece.
    """
    known = fresh_train().PIECES
    if unknown := [*(set(facts) - _FACTS.keys()), *(pieces.keys() - known)]:
        names = ", ".join([*_FACTS, *known])
        raise ValueError(f"bench() knows nothing called {unknown[0]!r}. It knows {names}.")
    with random_state_kept(), _one_thread():
        return Bench({name: _measured(name, pieces) for name in facts or _FACTS})


def megabytes_saved(epochs: int, **pieces: Any) -> list[float]:
    """After each epoch of a run: how many MiB its graphs still keep for a backward pass.

    Args:
        epochs: How long it runs.
        pieces: As for `bench`.
    """
    train = fresh_train()
    living: weakref.WeakSet[_Saved] = weakref.WeakSet()
    told: list[float] = []

    def noted(tensor: torch.Tensor) -> _Saved:
        living.add(saved := _Saved(tensor))
        return saved

    def counted(model: nn.Module, batches: Any) -> float:
        told.append(sum({one.address: one.nbytes for one in living}.values()) / 2**20)
        score: float = {**train.PIECES, **pieces}["accuracy"](model, batches)
        return score

    hooks = torch.autograd.graph.saved_tensors_hooks(noted, lambda saved: saved.tensor)
    with random_state_kept(), _one_thread(), hooks:
        train.run(_SEED, epochs, **{**pieces, "accuracy": counted})
    return told


def step_apart(
    eights: Sequence[int],
    rows: int = 4,
    *,
    combined: Callable[..., Any] | None = None,
    loss_of: Callable[..., torch.Tensor] | None = None,
) -> float:
    """How far the gradient of several ranks is from that of one process with all rows.

    0.25 is a quarter of the length of the latter.

    Args:
        eights: How many eights each rank has among its rows; the data have 12.
        rows: How many rows each rank has.
        combined: The piece that makes one gradient of the ranks'; the script's without one.
        loss_of: The loss of a rank, of logits, labels and weights; without one torch's own
            `cross_entropy` with weights.

    Raises:
        ValueError: A rank has more eights than rows, or there are not so many rows.
    """
    three, one = _steps(eights, rows, combined or fresh_train().combined, loss_of or _torchs_loss)
    return float((three - one).norm() / one.norm())


class _Saved:
    """A tensor that a graph keeps for its backward pass, for as long as the graph is there."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor.detach()  # a result may hold the graph, which would hold itself then
        storage = tensor.untyped_storage()
        self.address, self.nbytes = storage.data_ptr(), storage.nbytes()


@contextmanager
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _measured(name: str, pieces: Pieces) -> Pair | str:
    try:
        return _FACTS[name][1](pieces)
    except Exception as error:  # a learner's piece may raise anything
        return f"{type(error).__name__}: {error}".partition("\n")[0]


def _line(name: str, found: Pair | str) -> str:
    if isinstance(found, str):
        return f"✗ {name:<14}{found}"
    mark = {True: "✓", False: "✗", None: " "}[found.equal]
    return f"{mark} {name:<14}{found.left:>9}{found.right:>9}   {_FACTS[name][0]}"


# --- what is measured -----------------------------------------------------------------------------


def _two_runs(pieces: Pieces) -> Pair:
    train = fresh_train()
    one, two = (train.run(_SEED, _EPOCHS, **pieces) for _ in range(2))
    return _compared(train, one, two)


def _resumed(pieces: Pieces) -> Pair:
    """A run, and one that was stopped; each stretch begins in a Python of its own."""
    whole = fresh_train().run(_SEED, _EPOCHS, **pieces)
    part = fresh_train().run(_SEED, 1, **pieces)
    train = fresh_train()
    return _compared(train, whole, train.run(_SEED, _EPOCHS, saved=part.saved, **pieces))


def _compared(train: Any, one: Any, two: Any) -> Pair:
    """The last losses of two runs; they are equal if all that their models say is, too."""
    losses = [float(torch.as_tensor(run.losses[-1]).detach()) for run in (one, two)]
    same = torch.equal(*(_logits(run.model, train.TESTED[0]) for run in (one, two)))
    return Pair(f"{losses[0]:.4f}", f"{losses[1]:.4f}", same and losses[0] == losses[1])


def _rows(pieces: Pieces) -> Pair:
    train = fresh_train()
    n, order_of = len(train.LEARNED[0]), {**train.PIECES, **pieces}["rank_order"]
    dealt = torch.cat([order_of(n, rank, _RANKS, _SEED, 0) for rank in range(_RANKS)])
    return Pair(str(n), str(len(dealt.unique())), sorted(dealt.tolist()) == list(range(n)))


def _parameters(pieces: Pieces) -> Pair:
    train = fresh_train()
    model = {**train.PIECES, **pieces}["Net"]()
    used = sum(one.numel() for one in _leaves(model(train.LEARNED[0][:2]).sum()))
    known = sum(one.numel() for one in model.parameters())
    return Pair(str(used), str(known), used == known)


def _ranks(pieces: Pieces) -> Pair:
    combined = {**fresh_train().PIECES, **pieces}["combined"]
    three, one = _steps([2, 0, 0], 4, combined, _torchs_loss)
    eights_bias = 64 * 10 + _EIGHT
    near = bool((three - one).norm() < 1e-5 * one.norm())
    return Pair(f"{one[eights_bias]:.4f}", f"{three[eights_bias]:.4f}", near)


def _weighted_loss(pieces: Pieces) -> Pair:
    train = fresh_train()
    rows, labels, weights = [[2.0, 0.0]] * 3, [0, 0, 1], [1.0, 6.0]
    losses = [
        math.log(sum(map(math.exp, row))) - row[label]
        for row, label in zip(rows, labels, strict=True)
    ]
    by_hand = sum(weights[label] * loss for label, loss in zip(labels, losses, strict=True))
    by_hand /= sum(weights[label] for label in labels)
    loss_of = {**train.PIECES, **pieces}["loss_of"]
    found = float(loss_of(torch.tensor(rows), torch.tensor(labels), torch.tensor(weights)))
    return Pair(f"{by_hand:.4f}", f"{found:.4f}", math.isclose(by_hand, found, rel_tol=1e-5))


def _memory(pieces: Pieces) -> Pair:
    first, second = megabytes_saved(2, **pieces)
    return Pair(f"{first:.2f}", f"{second:.2f}", first == second)


def _modes(pieces: Pieces) -> Pair:
    train = fresh_train()
    used = {**train.PIECES, **pieces}
    model = used["Net"]()
    before = [one.training for one in model.modules()]
    used["accuracy"](model, train.batches(train.TESTED))
    after = [one.training for one in model.modules()]
    return Pair(str(sum(before)), str(sum(after)), before == after)


def _best(pieces: Pieces) -> Pair:
    """The score of an epoch that was kept, after another one: as kept, and in a new model."""
    train = fresh_train()
    used = types.SimpleNamespace(**{**train.PIECES, **pieces})
    run = train.run(_SEED, 1, **pieces)
    for index in torch.arange(len(train.LEARNED[0])).split(16):
        train.step(used, run, [index])
    torch.manual_seed(_SEED + 1)
    other = used.Net()
    other.load_state_dict(run.best["weights"])
    again = _share_right(other, *train.TESTED)
    return Pair(f"{run.best['score']:.3f}", f"{again:.3f}", run.best["score"] == again)


def _digits(pieces: Pieces) -> Pair:
    train = fresh_train()
    run = train.run(_SEED, **pieces)
    run.model.load_state_dict(run.best["weights"])
    x, y = train.TESTED
    eights = y == _EIGHT
    right = _share_right(run.model, x[eights], y[eights])
    return Pair(f"{run.best['score']:.3f}", f"{right:.3f}", None)


_FACTS: dict[str, tuple[str, Callable[[Pieces], Pair]]] = {
    "two runs": ("loss after two epochs: a run, and once more", _two_runs),
    "resumed": ("loss after two epochs: in one go, stopped and resumed", _resumed),
    "rows": ("rows: in the data, seen in an epoch", _rows),
    "parameters": ("numbers: that a loss depends on, that the optimizer gets", _parameters),
    "ranks": ("a gradient, by torch's loss: of one process, of three ranks", _ranks),
    "weighted loss": ("loss of three rows: by hand, by the script", _weighted_loss),
    "memory": ("MiB that graphs keep: after an epoch, after two", _memory),
    "modes": ("modules in training mode: before an evaluation, after it", _modes),
    "best": ("score of the best weights: as kept, in a new model", _best),
    "digits": ("share right in the best epoch: of all digits, of the eights", _digits),
}


def _logits(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """What the model says of x without dropout; its modes are changed."""
    model.eval()
    with torch.no_grad():
        found: torch.Tensor = model(x)
    return found


def _share_right(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> float:
    return int((_logits(model, x).argmax(1) == y).sum()) / len(y)


def _leaves(result: torch.Tensor) -> list[torch.Tensor]:
    """The tensors that want a gradient, at the far end of this result's graph."""
    ends = [node.variable for node in nodes_behind(result) if hasattr(node, "variable")]
    return [*{id(one): one for one in ends}.values()]


def _torchs_loss(logits: torch.Tensor, labels: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(logits, labels, weight=weights)


def _steps(
    eights: Sequence[int],
    rows: int,
    combined: Callable[..., Any],
    loss_of: Callable[..., torch.Tensor],
) -> tuple[torch.Tensor, torch.Tensor]:
    """The gradient of a linear model, flat: of the ranks together, and of one process."""
    train = fresh_train()
    images, labels = train.LEARNED
    with random_state_kept():
        torch.manual_seed(_SEED)
        model = nn.Linear(64, 10)
    weights = list(model.parameters())

    def gradient_of(index: torch.Tensor) -> tuple[torch.Tensor, ...]:
        loss = loss_of(model(images[index]), labels[index], train.WEIGHTS)
        return torch.autograd.grad(loss, weights)

    parts = _dealt(labels, eights, rows)
    totals = [float(train.WEIGHTS[labels[index]].sum()) for index in parts]
    told = combined([gradient_of(index) for index in parts], totals)
    return _flat(told), _flat(gradient_of(torch.cat(parts)))


def _dealt(labels: torch.Tensor, eights: Sequence[int], rows: int) -> list[torch.Tensor]:
    """The rows of each rank, so many of them eights; nobody has a row of another."""
    rare, others = (one.nonzero().flatten() for one in (labels == _EIGHT, labels != _EIGHT))
    counts = [rows - one for one in eights]
    if min(counts) < 0 or sum(eights) > len(rare) or sum(counts) > len(others):
        raise ValueError(f"{rows} rows for each rank with {list(eights)} eights can't be dealt.")
    some = zip(
        rare[: sum(eights)].split(list(eights)),
        others[: sum(counts)].split(counts),
        strict=True,
    )
    return [torch.cat(both) for both in some]


def _flat(gradients: Sequence[torch.Tensor]) -> torch.Tensor:
    return torch.cat([one.flatten() for one in gradients])
