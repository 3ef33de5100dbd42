"""What `audit` looks out for: events, functions that hand on answers, functions without events.

To have one more way to frames, objects or memory noticed, add it here, and the attack to
`tests/attacks/test_measuring.py`.
"""

from __future__ import annotations

__all__ = [
    "CALLED",
    "CONDUITS",
    "FRAMES",
    "GUARDED",
    "PARTS",
    "REACHING",
    "RENAMED",
    "TORCHS_OPERATORS",
    "WATCHED",
]

# What leads to other code's frames, objects or memory, and what changes code.
FRAMES = {"tb_frame", "gi_frame", "cr_frame", "ag_frame"}
PARTS = {"__code__", "__defaults__", "__kwdefaults__"}
_OF_PYTHON = """
code.__new__ exec function.__new__ gc.get_objects gc.get_referents gc.get_referrers import
marshal.loads object.__getattr__ object.__setattr__ open sys._current_exceptions
sys._current_frames sys._getframe sys.addaudithook sys.monitoring.register_callback sys.setprofile
sys.settrace
"""
_OF_CTYPES = (
    "addressof call_function cdata cdata/buffer dlopen dlsym dlsym/handle string_at wstring_at"
)
WATCHED = frozenset([*_OF_PYTHON.split(), *(f"ctypes.{name}" for name in _OF_CTYPES.split())])
_OF_INSPECT = """
currentframe getasyncgenlocals getcoroutinelocals getgeneratorlocals getinnerframes getouterframes
stack trace
"""
# Functions of libraries that hand on what they were asked for; their caller counts as asking. None:
# all of the module, or of the package.
CONDUITS: dict[str, frozenset[str] | None] = {
    **dict.fromkeys(("IPython.core.debugger", "IPython.terminal.embed", "IPython.utils.frame")),
    "IPython.core.interactiveshell": frozenset({"get_local_scope", "var_expand"}),
    **dict.fromkeys(("asyncio.base_tasks", "bdb", "code", "ctypes", "debugpy")),
    "inspect": frozenset(_OF_INSPECT.split()),
    "logging": frozenset({"<lambda>", "currentframe"}),
    **dict.fromkeys(("executing", "pdb", "profile", "pydantic", "stack_data", "trace")),
    "signal": frozenset({"signal"}),
    "torch._jit_internal": frozenset({"createResolutionCallbackFromFrame"}),
    "traceback": frozenset({"walk_stack", "walk_tb"}),
}

# Compiled packages that lead to frames or memory without an event.
REACHING = frozenset({"_cffi_backend", "greenlet"})
# Of GUARDED, what `course.inspection.operators` keeps under other names.
RENAMED = frozenset({"_RecordFunctionFast", "_disable_profiler_legacy", "_enable_profiler_legacy"})
# Under which name torch's own code calls one of GUARDED: its compilers do, for whoever asks them.
CALLED = {"_EnablePythonDispatcher": "enable_python_dispatcher"}
# Where torch keeps its own operators; "_" stands for all.
TORCHS_OPERATORS = frozenset({"_", "aten", "prim", "prims", "profiler"})
# They end the operator log, begin another one, write into it, leave it empty for a while, change
# what an operator of torch does, and hand out frames.
GUARDED = (
    ("torch._C._profiler", "_RecordFunctionFast"),
    ("torch._C._autograd", "_clear_callbacks"),
    ("torch._C._autograd", "_disable_profiler_legacy"),
    ("torch._C._autograd", "_enable_profiler_legacy"),
    ("torch._C._autograd", "_enable_record_function"),
    ("torch._C", "_EnablePythonDispatcher"),
    ("torch._C", "_dispatch_library"),
    ("torch._C._dynamo.eval_frame", "set_eval_frame"),
    ("torch._C._dynamo.eval_frame", "set_bytecode_debugger_callback"),
    ("_signal", "signal"),
)
