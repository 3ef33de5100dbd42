"""The first code cell of a self-study notebook: it brings the package `course`.

What stands below this text is the cell, as `opening` writes it and as a
stranger runs it on Colab; so it imports nothing but the standard library.
"""

import http.client
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request

try:
    from google.colab import files as on_colab
except ImportError:
    on_colab = None


class SetUpError(Exception):
    """What is missing and what to do; a notebook shows these words and no calls."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def version_and_time(wheel: pathlib.Path) -> tuple[list[int], float]:
    """Of two wheels the higher version is the newer one, of two downloads the later."""
    version = wheel.name.split("-")[1]
    return [int(number) for number in re.findall(r"\d+", version)], wheel.stat().st_mtime


def wheel_beside() -> pathlib.Path | None:
    """The newest wheel beside the notebook."""
    return max(pathlib.Path().glob("pytorch_measured-*.whl"), key=version_and_time, default=None)


def as_pip_wants_it(wheel: pathlib.Path) -> str:
    """A copy named as it was built: a browser calls the second download `… (1).whl`."""
    name = re.sub(r" ?\(\d+\)", "", wheel.name)
    return str(shutil.copy(wheel, pathlib.Path(tempfile.mkdtemp(), name)))


def opened_from() -> str:
    """`owner/name@branch` of a notebook that Colab opened from GitHub; "" where it tells of none.

    The runtime answers on an address of its own which notebook it runs. That is documented
    nowhere, so it may be missing, late or another tomorrow.
    """
    own = os.environ.get("COLAB_JUPYTER_IP")
    port = os.environ.get("KMP_TARGET_PORT", "9000")
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    for host in [own] if own else ["172.28.0.12", "172.28.0.2"]:
        try:
            with direct.open(f"http://{host}:{port}/api/sessions", timeout=2) as answer:
                told = answer.read(100_000).decode(errors="replace").replace("\\/", "/")
        except (OSError, http.client.HTTPException):
            continue
        address = r"https://github\.com/([\w.-]+/[\w.-]+)/blob/([\w./-]+)/release/self-study/"
        if found := re.search(address, urllib.parse.unquote(told)):
            return "@".join(found.groups())
    return ""


def pip_install(*what: str) -> None:
    """Install with pip, whose own words a failure shows; Python compiles what is imported."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", *what]
    quick = {
        "PIP_NO_COMPILE": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "GIT_TERMINAL_PROMPT": "0",
    }
    done = subprocess.run(command, env=os.environ | quick, capture_output=True, text=True)
    if done.returncode:
        raise SetUpError(f"pip could not install it:\n{done.stderr.strip()[-1000:]}")


def bring_course(repository: str) -> None:
    """Install `course` where it is missing: from a wheel, or from GitHub."""
    if getattr(importlib.util.find_spec("course"), "origin", None):
        return
    told = (
        "This notebook needs the package `course`, and knows no address to fetch it from.\n"
        "{} the file pytorch_measured-….whl {}: whoever\n"
        "gave you the notebook has it, or makes it with `make wheel` in the course's repository."
    )
    wheel = wheel_beside()
    repository = repository or (opened_from() if on_colab and not wheel else "")
    if on_colab and not wheel and not repository:
        print(told.format("Choose", "below"))
        on_colab.upload()
        wheel = wheel_beside()
    if not wheel and not repository:
        raise SetUpError(told.format("Put", "beside it and run this cell again"))
    origin = f"git+https://github.com/{repository}"
    print(f"Installing course from {wheel.name if wheel else origin}, and nothing else …")
    what = as_pip_wants_it(wheel) if wheel else f"pytorch-measured @ {origin}"
    pip_install("--no-deps", what)
    needed = ("torch", "numpy", "matplotlib", "ipywidgets")
    if missing := [name for name in needed if importlib.util.find_spec(name) is None]:
        print(f"Installing what it needs and this Python lacks: {', '.join(missing)} …")
        pip_install(*missing)
    importlib.invalidate_caches()
    print("Installed. Go on with the next cell; no restart is needed.")
