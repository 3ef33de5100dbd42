"""Hostile inputs: seeded tensors in every layout, size, dtype and state that an answer may meet.

>>> cases = tensors((3, 4), (2, 3, 4))
>>> len(cases) >= 40, cases[0].kind
(True, 'a contiguous tensor')
>>> [case.with_(dim) for case in cases[:2] for dim in range(2)][3].args[1:]
(1,)
>>> len(of_each_kind(cases, most=1)) == len({case.kind for case in cases}) < len(cases)
True
"""

from __future__ import annotations

from course.testing.inputs.cases import Case, of_each_kind
from course.testing.inputs.hostile import tensors
from course.testing.inputs.layouts import LAYOUTS, laid_out

__all__ = ["LAYOUTS", "Case", "laid_out", "of_each_kind", "tensors"]
