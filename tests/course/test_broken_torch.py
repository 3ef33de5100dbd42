"""PyTorch with one thing broken: the proofs that speak of that thing no longer hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader

from course import gpu
from course.claims import claim, claims, lessons, prove

Patch = pytest.MonkeyPatch
Break = Callable[[Patch], None]
T = torch.Tensor
# torch's own, before anything is broken
own = {name: getattr(T, name) for name in dir(T) if callable(getattr(T, name))}


def method(**broken: Any) -> Break:
    """These methods or attributes of a tensor, replaced."""

    def apply(patch: Patch) -> None:
        for name, value in broken.items():
            patch.setattr(T, name, value)

    return apply


def word(owner: Any, name: str, value: Any) -> Break:
    """One name of a module, replaced."""
    return lambda patch: patch.setattr(owner, name, value)


def loader_without(*options: str) -> Break:
    """A DataLoader that takes these options and does without them."""
    init = DataLoader.__init__

    def made(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **{k: v for k, v in kwargs.items() if k not in options})

    return lambda patch: patch.setattr(DataLoader, "__init__", made)


def moved(tensor: T, other: Any) -> T:
    """`+=` that keeps the tensor and gives it other memory."""
    own["set_"](tensor.data, tensor + other)
    return tensor


def into_the_leaf(tensor: T, other: Any, **how: Any) -> T:
    """`add_` that no rule of autograd stops."""
    own["add_"](tensor.data, other, **how)
    return tensor


def lenient(scores: T, labels: T, *, ignore_index: int = -100) -> T:
    """A loss that takes any label."""
    near = labels.clamp(0, scores.shape[1] - 1)
    labels = torch.where(labels == ignore_index, labels, near)
    return real_loss(scores, labels, ignore_index=ignore_index)


class Nothing:
    """A context and decorator that changes nothing."""

    def __enter__(self) -> None: ...
    def __exit__(self, *_: object) -> None: ...
    def __call__(self, function: Any) -> Any:
        return function


def row_major(tensor: T) -> T:
    """A copy in row-major order."""
    return own["clone"](tensor, memory_format=torch.contiguous_format)


real_loss, real_draw, real_free = F.cross_entropy, torch.multinomial, gpu.mem_get_info
real_tensor, real_numpy, real_softmax = torch.tensor, T.numpy, T.softmax
WORKERS = ("num_workers", "multiprocessing_context", "worker_init_fn", "timeout")


# What is broken, how, and the proofs that speak of it.
BROKEN: dict[str, tuple[Break, list[str]]] = {
    "contiguous copies nothing": (
        method(contiguous=lambda t, **_: t),
        [
            "contiguous-repairs-a-transpose",
            "contiguous-always-copies",
            "contiguous-keeps-the-original",
        ],
    ),
    "contiguous always copies": (
        method(contiguous=lambda t, **_: row_major(t)),
        ["contiguous-always-copies"],
    ),
    "reshape always copies": (
        method(reshape=lambda t, *size: own["reshape"](own["clone"](t), *size)),
        [
            "reshape-always-copies",
            "reshape-result-is-independent",
            "reshape-to-the-same-shape-shares",
        ],
    ),
    "reshape never copies": (
        method(reshape=lambda t, *size: own["view"](t, *size)),
        [
            "reshape-accepts-any-layout",
            "reshape-copy-follows-its-source",
            "view-is-recommended-over-reshape",
        ],
    ),
    "view copies where it must": (
        method(view=lambda t, *size: own["reshape"](t, *size)),
        ["view-needs-a-contiguous-tensor", "view-reorders-memory", "is-contiguous-decides-view"],
    ),
    "view always copies": (
        method(view=lambda t, *size: own["reshape"](own["clone"](t), *size)),
        ["view-sees-later-writes", "view-works-on-regular-strides"],
    ),
    "a transpose copies": (
        method(
            t=lambda t: row_major(own["t"](t)),
            transpose=lambda t, *d: row_major(own["transpose"](t, *d)),
        ),
        [
            "transpose-shares-addresses",
            "transpose-leaves-elements-in-place",
            "transpose-ends-contiguity",
        ],
    ),
    "expand copies": (
        method(expand=lambda t, *size: row_major(own["expand"](t, *size))),
        ["methods-return-contiguous-tensors"],
    ),
    "everything is contiguous": (
        method(is_contiguous=lambda t, **_: True),
        [
            "contiguous-means-gap-free",
            "contiguity-is-alignment",
            "view-and-reshape-return-contiguous",
        ],
    ),
    "the address is that of the object": (
        method(data_ptr=id),
        ["id-is-the-data-address", "in-place-keeps-the-address", "fill-returns-the-same-tensor"],
    ),
    "clone shares": (
        method(clone=lambda t, **_: own["view"](t, t.shape)),
        ["clone-detach-is-a-deep-copy", "contiguous-means-evenly-spaced"],
    ),
    "detach copies": (
        method(detach=lambda t: own["clone"](own["detach"](t))),
        ["clone-detach-is-a-deep-copy", "numpy-needs-detach", "leaves-can-never-be-updated"],
    ),
    "the version counter stands still": (
        method(_version=property(lambda t: 0)),
        ["leaves-can-never-be-updated"],
    ),
    "every tensor is a leaf": (
        method(is_leaf=property(lambda t: True)),
        [
            "leaf-needs-no-history",
            "non-leaf-has-grad-fn-leaf-has-grad",
            "every-result-is-an-intermediate",
        ],
    ),
    "no_grad does nothing": (
        word(torch, "no_grad", Nothing),
        [
            "leaf-needs-no-history",
            "requires-grad-spreads",
            "no-grad-permits-the-update",
            "inference-wants-no-grad",
        ],
    ),
    "inference mode is no_grad": (
        word(torch, "inference_mode", torch.no_grad),
        ["inference-wants-no-grad"],
    ),
    "retain_grad does nothing": (
        method(retain_grad=lambda t: None),
        ["intermediates-store-no-gradient", "non-leaf-has-grad-fn-leaf-has-grad"],
    ),
    "backward does nothing": (
        method(backward=lambda t, *_, **__: None),
        [
            "autograd-is-backpropagation",
            "non-leaf-has-grad-fn-leaf-has-grad",
            "in-place-update-keeps-the-leaf",
        ],
    ),
    "backward keeps its graph": (
        method(backward=lambda t: own["backward"](t, retain_graph=True)),
        ["backward-resets-the-history", "total-loss-piles-up-graphs"],
    ),
    "+= makes a new tensor": (
        method(__iadd__=lambda t, other: t + other),
        ["in-place-keeps-the-address", "plus-equals-is-the-same-as-plus"],
    ),
    "+= moves the elements": (
        method(__iadd__=moved),
        ["in-place-keeps-the-address"],
    ),
    "resize_ stays where it is": (
        method(resize_=lambda t, *size: t),
        ["in-place-keeps-the-address"],
    ),
    "fill_ makes a new tensor": (
        method(fill_=torch.full_like),
        ["fill-returns-the-same-tensor", "view-sees-later-writes"],
    ),
    "a leaf may be changed": (
        method(add_=into_the_leaf),
        ["in-place-on-a-leaf-raises"],
    ),
    "numpy takes what requires grad": (
        method(numpy=lambda t: real_numpy(own["detach"](t))),
        ["numpy-needs-detach", "numpy-mix-triggers-the-assert"],
    ),
    "softmax takes any dimension": (
        method(softmax=lambda t, dim: real_softmax(t, dim % t.dim())),
        ["wrong-softmax-dimension-asserts"],
    ),
    "a loss takes any label": (
        word(F, "cross_entropy", lenient),
        ["losses-refuse-minus-one-and-255", "classes-numbered-from-one-assert"],
    ),
    "weights mean nothing": (
        word(torch, "multinomial", lambda w, *n, **how: real_draw(torch.ones_like(w), *n, **how)),
        [
            "weights-need-not-sum-to-one",
            "inverse-frequency-balances-classes",
            "single-samples-can-get-weight",
        ],
    ),
    "every draw is with replacement": (
        word(torch, "multinomial", lambda w, n, _=True, **how: real_draw(w, n, True, **how)),
        ["replacement-false-never-repeats", "replacement-makes-oversampling"],
    ),
    "a loader shuffles nothing": (
        loader_without("shuffle"),
        ["sampler-forbids-shuffle", "test-loader-is-shuffled", "batch-sampler-works-like-sampler"],
    ),
    "a loader keeps every batch": (
        loader_without("drop_last"),
        ["drop-last-drops-the-last-batch", "batch-sampler-works-like-sampler"],
    ),
    "a loader takes no sampler": (
        loader_without("sampler"),
        ["sampler-methods-belong-to-the-dataset", "map-style-dataset-has-three-methods"],
    ),
    "a loader starts no workers": (
        loader_without(*WORKERS),
        [
            "num-workers-counts-subprocesses",
            "four-workers-for-each-gpu",
            "workers-copy-to-the-gpu",
            "more-workers-load-faster",
            "best-num-workers-must-be-measured",
        ],
    ),
    "a loader never pins": (
        loader_without("pin_memory"),
        [
            "pin-memory-loads-into-pinned-memory",
            "workers-and-pinning-always-win",
            "pin-memory-decides-who-copies",
            "pin-memory-saves-the-copy",
            "pin-memory-always-on-with-a-gpu",
        ],
    ),
    "a loader collates as it likes": (
        loader_without("collate_fn"),
        ["collate-merges-map-style-samples"],
    ),
    "pinning copies nothing": (
        method(pin_memory=lambda t, *_: t),
        [
            "pinned-memory-is-the-staging-area",
            "pinning-uses-pageable-memory",
            "pageable-transfers-are-staged",
        ],
    ),
    "everything is pinned": (
        method(is_pinned=lambda t, *_: True),
        ["pinned-memory-is-the-staging-area", "pinning-uses-pageable-memory"],
    ),
    "running out of memory is an error of its own": (
        word(torch, "OutOfMemoryError", type("OutOfMemoryError", (MemoryError,), {})),
        ["catch-runtimeerror-on-out-of-memory"],
    ),
    "empty_cache does nothing": (
        word(gpu, "empty_cache", lambda: None),
        ["deleted-tensors-still-show-as-used", "empty-cache-gains-memory"],
    ),
    "nothing is cached": (
        word(gpu, "memory_reserved", gpu.memory_allocated),
        ["deleted-tensors-still-show-as-used", "global-memory-is-the-cards-dram"],
    ),
    "the whole card is always free": (
        word(gpu, "mem_get_info", lambda: (real_free()[1],) * 2),
        [
            "total-memory-is-available-memory",
            "deleted-tensors-still-show-as-used",
            "empty-cache-gains-memory",
        ],
    ),
}


UNKNOWN = {id_ for _, ids in BROKEN.values() for id_ in ids} - {one.id for one in claims()}


@pytest.mark.skipif(len(lessons()) < 17, reason="a lesson was taken out, and its claims with it")
def test_every_id_is_a_claims() -> None:
    assert set() == UNKNOWN


@pytest.mark.parametrize("broken", BROKEN)
def test_a_proof_notices_what_is_broken(monkeypatch: Patch, broken: str) -> None:
    break_, ids = BROKEN[broken]
    entries = [claim(id_) for id_ in ids if id_ not in UNKNOWN]
    break_(monkeypatch)
    still_hold = [entry.id for entry in entries if prove(entry).holds]
    monkeypatch.undo()
    assert still_hold == []
