"""Operators on calls: what PyTorch has two names for, and what a call adds to its operand.

View for reshape, a dropped clone or detach, in place for out of place, min for max.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from autograder.answer_bank.mutation.edits import Cell, Change, called, changed


def _pairs(text: str) -> dict[str, str]:
    return dict(pair.split(":") for pair in text.split())


_RENAMED = _pairs(
    """
    view:reshape reshape:view clone:contiguous contiguous:clone as_tensor:tensor
    tensor:as_tensor from_numpy:tensor zeros:ones ones:zeros zeros_like:ones_like
    ones_like:zeros_like mean:sum sum:mean min:max max:min any:all all:any minimum:maximum
    maximum:minimum argmax:argmin argmin:argmax amin:amax amax:amin ceil:floor floor:ceil
    no_grad:enable_grad enable_grad:no_grad eval:train train:eval children:modules
    modules:children parameters:buffers named_modules:named_children
    named_parameters:named_buffers stack:cat square:abs deepcopy:copy randn:rand
    startswith:endswith endswith:startswith double:float long:int permute:reshape
    movedim:transpose unsqueeze:squeeze squeeze:flatten
    """
)
_DTYPES = _pairs(
    """
    float64:float32 double:float32 int64:int32 long:int32 float32:float64 int32:int64
    bool:uint8 uint8:int16
    """
)
# Methods that give their object back in another form, and functions that do so to an argument.
_METHODS = {"clone", "detach", "contiguous", "item", "cpu", "cuda", "copy", "tolist", "to"} | {
    *("requires_grad_", "float", "double", "half", "long", "int", "bool", "type", "type_as"),
    *("numpy", "t", "abs", "sqrt", "square", "exp", "log", "strip", "lower", "squeeze"),
    *("unsqueeze", "flatten", "reshape", "view", "expand", "pin_memory", "manual_seed"),
    *("sum", "mean", "retain_grad", "data_ptr", "untyped_storage", "coalesce", "to_dense"),
}
_FUNCTIONS = {"reversed", "sorted", "list", "tuple", "set", "frozenset", "dict", "abs"} | {
    *("int", "float", "bool", "copy", "deepcopy", "iter", "relu", "exp", "sqrt", "clone"),
    *("as_tensor", "detach", "square"),
}
_VIEWS = {"detach", "view", "view_as", "reshape", "t", "transpose", "permute", "movedim"} | {
    *("squeeze", "unsqueeze", "flatten", "expand", "contiguous", "requires_grad_", "narrow"),
    *("select", "diagonal", "unfold", "as_strided", "swapaxes", "to", "float", "double", "long"),
}
_ATTRIBUTES = {"data", "T", "mT"}


def renamed(node: ast.AST, cell: Cell) -> Iterator[Change]:
    """The call of something near by: `view` for `reshape`, `max` for `min`."""
    if isinstance(node, ast.Call) and called(node) in _RENAMED:
        other = _RENAMED[called(node)]
        if isinstance(node.func, ast.Attribute) or hasattr(builtins, other):
            yield _calling(node, other), ""
    elif isinstance(node, ast.Attribute) and _is_torch(node.value) and node.attr in _DTYPES:
        yield changed(node, attr=_DTYPES[node.attr]), ""


def dropped(node: ast.AST, cell: Cell) -> Iterator[Change]:
    """Its operand alone in place of a call: no clone, no detach, no copy, no conversion."""
    if isinstance(node, ast.Attribute) and node.attr in _ATTRIBUTES:
        if isinstance(node.ctx, ast.Load):
            yield node.value, ""
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if _is_torch(node.func.value):
            if node.args and node.func.attr in _FUNCTIONS:
                yield node.args[0], ""
        elif node.func.attr in _METHODS:
            yield node.func.value, ""
    elif isinstance(node, ast.Call) and called(node) in _FUNCTIONS and node.args:
        yield node.args[0], ""


def in_place(node: ast.AST, cell: Cell) -> Iterator[Change]:
    """The method that writes for the one that does not, and back."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return
    name = node.func.attr
    other = name[:-1] if name.endswith("_") else f"{name}_"
    fresh = other.endswith("_") and not _may_be_seen(node.func.value)
    if not (fresh or _is_torch(node.func.value)) and _is_method(name) and _is_method(other):
        yield _calling(node, other), ""


def graph(node: ast.AST, cell: Cell) -> Iterator[Change]:
    """What keeps a result in the graph where it was cut, and shares memory where it was copied."""
    if isinstance(node, ast.Call) and called(node) == "detach" and not node.args:
        assert isinstance(node.func, ast.Attribute)
        yield _calling(node, "clone"), ""


def _calling(node: ast.Call, name: str) -> ast.Call:
    function = node.func
    if isinstance(function, ast.Attribute):
        return changed(node, func=changed(function, attr=name))
    return changed(node, func=ast.Name(name, ast.Load()))


def _may_be_seen(node: ast.expr) -> bool:
    """Whether somebody else may hold the memory of this: writing to what is new changes nothing."""
    if isinstance(node, ast.Call):
        method = isinstance(node.func, ast.Attribute) and not _is_torch(node.func.value)
        return method and called(node) in _VIEWS
    return isinstance(node, ast.Name | ast.Attribute | ast.Subscript)


def _is_torch(node: ast.expr) -> bool:
    """Whether this is `torch`, `torch.nn.functional` or another module that is written so."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in ("torch", "nn", "F", "copy", "math", "np")


def _is_method(name: str) -> bool:
    import torch  # late: `autograder --help` does without it

    return not name.endswith("__") and hasattr(torch.Tensor, name)
