"""Whether somebody sits in front of this process who can press a button."""

from __future__ import annotations

from importlib.util import find_spec

from IPython import get_ipython

from course.figures.picture import drawing

__all__ = ["widgets_alive"]


def widgets_alive() -> bool:
    """Whether a widget made now would work: ipywidgets, a kernel, and a reader at its front end.

    A notebook that is run by nbconvert, papermill or a grader also has a kernel, but nobody to
    press buttons, and its page would stay empty without a network. Such runners refuse `input()`;
    JupyterLab, Notebook, VS Code and Colab allow it. That is the difference asked for here.
    """
    if not drawing() or find_spec("ipywidgets") is None:
        return False
    kernel = getattr(get_ipython(), "kernel", None)
    return kernel is not None and bool(getattr(kernel, "_allow_stdin", True))
