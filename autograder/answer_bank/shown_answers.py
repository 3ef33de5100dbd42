"""An answer by heart: what the visible checks of an exercise ask, and nothing else.

Its cell asks the solution for each call of the handed-out test, as somebody would who types off
what stands there, and knows nothing of any other input.
"""

from __future__ import annotations

import json

from course.hidden_lines import first_hidden_line, lines_of

__all__ = ["by_heart"]

# It runs beside the answer, where a statement of the test that looks at what came back may fail.
_CELL = '''\
def _by_heart(names, test):
    import ast
    from contextlib import suppress
    from functools import update_wrapper
    from types import FunctionType
    from unittest.mock import MagicMock

    import torch

    from course.probes.decorator import Probe

    known, asking, solved = set(), [True], dict(names)

    def typed(one):
        """What somebody would type to say it."""
        if isinstance(one, torch.Tensor):
            about = one.dtype, one.shape, one.stride(), one.requires_grad, one.is_leaf
            return *map(str, about), torch.is_grad_enabled(), one.tolist()
        if isinstance(one, (list, tuple)):
            return [typed(each) for each in one]
        if isinstance(one, dict):
            return [(key, typed(value)) for key, value in one.items()]
        if one is None or isinstance(one, (bool, int, float, str, torch.dtype)):
            return repr(one)
        raise LookupError

    def learnt(name):
        solution = solved[name]

        def answered(*args, **kwargs):
            try:
                asked = name, repr(typed([args, kwargs]))
            except LookupError:
                return None
            if asking:
                known.add(asked)
            return solution(*args, **kwargs) if asked in known else None

        return update_wrapper(answered, solution)

    made = {name: learnt(name) for name in ASKED if isinstance(solved.get(name), FunctionType)}

    def asked(name, **_):
        def handle(*args, **kwargs):
            made[name](*args, **kwargs)
            return MagicMock()

        handle.name = name
        return handle

    def given(one):
        return made.get(getattr(one, "name", None), one)

    def probe(procedure):
        procedure = getattr(procedure, "procedure", procedure)
        return lambda *args, **kwargs: procedure(*map(given, args), **kwargs)

    read = {**names, "answer": asked, "Check": MagicMock(), "probe": probe}
    for statement in ast.parse(test).body:
        with suppress(Exception):
            exec(compile(ast.Module([statement], []), "<test>", "exec"), read)
        read |= {name: probe(one) for name, one in read.items() if isinstance(one, Probe)}
    asking.clear()
    names.update(made)


_by_heart(globals(), TEST)
'''


def by_heart(solution: str, asked: tuple[str, ...], test: str) -> str:
    """The answer cell that gives what the visible part of a test asks, and None for all else.

    Args:
        solution: The text of the solution, which stands for what somebody types off.
        asked: The names that the test asks for; those of functions are learnt.
        test: The text of the test cell, hidden part included.
    """
    hidden = first_hidden_line(test)
    shown = "\n".join(lines_of(test)[: hidden - 1] if hidden else lines_of(test))
    cell = _CELL.replace("TEST", json.dumps(shown)).replace("ASKED", repr(tuple(asked)))
    return f"{solution}\n\n\n{cell}"
