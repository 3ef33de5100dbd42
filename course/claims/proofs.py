"""Running a claim's proof: what it showed and whether the relation holds.

A proof runs in a namespace of its own, after this preamble:

    import gc, inspect, math, os, random, tempfile, time, warnings, weakref
    from collections import Counter
    import numpy as np
    import torch
    import torch.nn as nn
    import torch.nn.functional as F
    from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset, …
    from course.claims.proof_helpers import (
        KeptByGraphs, best_time, error_of, operators_of, pinnings_of, same_storage, saved_nbytes,
        warnings_of,
    )
    torch.manual_seed(0); np.random.seed(0); random.seed(0)

The random state, the grad mode, the default dtype and the thread count of the caller are
given back afterwards; printed text and warnings are kept away from the caller's cell.
"""

import ast
import contextlib
import gc
import importlib.util
import inspect
import io
import linecache
import math
import multiprocessing
import os
import random
import sys
import tempfile
import time
import traceback
import warnings
import weakref
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType, ModuleType

import numpy as np
import torch
from torch.utils import data

from course.claims.errors import ClaimError
from course.claims.proof_helpers import (
    KeptByGraphs,
    best_time,
    error_of,
    first_line,
    operators_of,
    pinnings_of,
    same_storage,
    saved_nbytes,
    warnings_of,
)
from course.claims.schema import NEEDED, Claim
from course.inspection.random_state import random_state_kept

__all__ = ["Proof", "compiled", "file_of", "guards", "missing", "preamble", "prove", "run_proof"]

_SHOWN_CHARS = 400
_UNKNOWN = object()


@dataclass(frozen=True)
class Proof:
    """What one run of a proof showed.

    Attributes:
        shown: The names that the relation speaks about, each with its value as text.
        printed: What the proof wrote to stdout.
        holds: Whether the relation came out true.
        seconds: How long it ran.
        error: The reason when the proof could not finish; None when it did.
    """

    shown: tuple[tuple[str, str], ...]
    printed: str
    holds: bool
    seconds: float
    error: str | None = None


def prove(claim: Claim, *, cuda: bool = False) -> Proof:
    """What the claim's proof showed when it ran just now.

    Args:
        claim: Its proof runs in this process, in a namespace of its own. An exception of the proof
            is told in `Proof.error`; only KeyboardInterrupt passes through.
        cuda: Run the claim's extra proof for a GPU.

    Raises:
        ClaimError: `cuda` is asked for, and the claim has no such proof.
    """
    if cuda:
        if claim.proof_cuda is None or claim.shows_cuda is None:
            raise ClaimError(f"claim {claim.id!r} has no proof_cuda; use prove(claim).")
        return run_proof(claim.proof_cuda, claim.shows_cuda, name=f"{claim.id}, cuda")
    lacking = missing(claim.needs)
    if lacking is not None:
        return Proof((), "", holds=False, seconds=0.0, error=lacking)
    return run_proof(claim.proof, claim.shows, name=claim.id)


def missing(needs: str | None) -> str | None:
    """What is missing here for a proof; a GPU is only ever needed by proof_cuda."""
    if needs == "linux" and sys.platform != "linux":
        return f"it needs Linux, and this is {sys.platform}"
    if needs == "fork" and "fork" not in multiprocessing.get_all_start_methods():
        return "it needs workers started by fork, and this system has only spawn"
    if needs in NEEDED and importlib.util.find_spec(needs) is None:
        return f"it needs {needs}, which is not installed ({NEEDED[needs]})"
    return None


def run_proof(code: str, shows: str, *, name: str) -> Proof:
    """What `code` showed and whether the expression `shows` holds after it."""
    namespace = preamble()
    printed = io.StringIO()
    started = time.perf_counter()
    holds, error = False, None
    with guards(), contextlib.redirect_stdout(printed):
        try:
            exec(compiled(code, name, "exec"), namespace)
            holds = bool(eval(compiled(shows, f"{name}, shows", "eval"), namespace))
        except KeyboardInterrupt:
            raise
        except BaseException as caught:  # a proof may raise SystemExit as well
            error = _reason(caught, name)
        shown = () if error else _shown(shows, namespace)
        # Names of one proof must not stay alive in the next: several count tensors or bytes.
        namespace.clear()
    return Proof(shown, printed.getvalue(), holds, time.perf_counter() - started, error)


# ---------------------------------------------------------------- how a proof is run

_MODULES: tuple[ModuleType, ...] = (
    gc,
    inspect,
    math,
    os,
    random,
    tempfile,
    time,
    torch,
    warnings,
    weakref,
)
_WORDS = (
    Counter,
    KeptByGraphs,
    best_time,
    error_of,
    operators_of,
    pinnings_of,
    same_storage,
    saved_nbytes,
    warnings_of,
)


def preamble() -> dict[str, object]:
    """A fresh namespace with the names that the module's docstring lists."""
    return {
        "__name__": "proof",
        **{module.__name__: module for module in _MODULES},
        **{word.__name__: word for word in _WORDS},
        **{name: getattr(data, name) for name in data.__all__},
        "np": np,
        "nn": torch.nn,
        "F": torch.nn.functional,
    }


@contextlib.contextmanager
def guards() -> Iterator[None]:
    """Seeds for the proof; the caller's global state afterwards, no warnings meanwhile."""
    python, numpy, dtype = random.getstate(), np.random.get_state(), torch.get_default_dtype()
    threads = torch.get_num_threads()
    with random_state_kept(), torch.enable_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        np.random.seed(0)
        random.seed(0)
        try:
            yield
        finally:
            random.setstate(python)
            np.random.set_state(numpy)
            torch.set_default_dtype(dtype)
            if torch.get_num_threads() != threads:
                torch.set_num_threads(threads)


def file_of(name: str) -> str:
    """What the lines of this name are called in a traceback."""
    return f"<proof of {name}>"


def compiled(code: str, name: str, mode: str) -> CodeType:
    """The code with its text in linecache: inspect.getsource works on what a proof defines."""
    file = file_of(name)
    linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)
    return compile(code, file, mode)


def _shown(shows: str, namespace: dict[str, object]) -> tuple[tuple[str, str], ...]:
    """The proof's own names in the relation, each once, in order, with their values."""
    known = preamble()
    nodes = ast.walk(ast.parse(shows, mode="eval"))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    in_order = dict.fromkeys(
        n.id for n in sorted(names, key=lambda node: (node.lineno, node.col_offset))
    )
    own = [n for n in in_order if n in namespace and known.get(n, _UNKNOWN) is not namespace[n]]
    return tuple((n, _short(repr(namespace[n]))) for n in own)


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}… ({len(text)} characters)"


def _reason(error: BaseException, name: str) -> str:
    """One line: what happened and in which line of the proof."""
    lines = [
        f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == file_of(name)
    ]
    place = f" in line {lines[0]}" if lines else ""
    return f"{type(error).__name__}{place}: {first_line(error)}"
