"""A JupyterLab of one's own and a notebook in it, driven in Chromium as a person would.

Reading is done through the application's own model, so that a test need not guess from pixels;
acting is done with mouse and keyboard.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Locator, Page, Playwright

from tests.machine import CHROMIUM

ROOT = Path(__file__).parents[2]
OUTPUT = ROOT / "tests" / "output" / "browser"  # screenshots, to be looked at; not in git
PICTURES = os.environ.get("PICTURES") == "1"  # they cost time, and no test compares them
TOKEN = "secret"
WAIT_S = 120  # for what must happen; none of these limits is a measurement

_QUIET = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
)
# No questions about news: they would stand before what is tested.
_SETTINGS = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "apputils-extension/themes": {},
}
_IDLE = "jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'"
_CELLS = "jupyterapp.shell.currentWidget.content.widgets"


def launch(playwright: Playwright) -> Browser:
    """The system's Chromium; Playwright never downloads one."""
    return playwright.chromium.launch(executable_path=CHROMIUM, args=_QUIET)


def window(browser: Browser) -> Page:
    """A fresh window of a small laptop's size."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(30_000)
    return page


def wait_until(page: Page, holds: str, arg: Any = None, *, limit_s: float = WAIT_S) -> None:
    """Return as soon as some JavaScript holds.

    It is asked ten times a second. Playwright would ask at each frame that is drawn, which costs
    more than what is waited for: half of these questions look at every cell of a lesson.
    """
    page.wait_for_function(holds, arg=arg, polling=100, timeout=limit_s * 1000)


def write_notebook(path: Path, cells: Mapping[str, str]) -> None:
    """A notebook of code cells, each with its id."""
    from nbformat import v4, write

    python = {"name": "python3", "display_name": "Python 3", "language": "python"}
    code = [v4.new_code_cell(source, id=id) for id, source in cells.items()]
    write(v4.new_notebook(cells=code, metadata={"kernelspec": python}), path)


@dataclass(frozen=True)
class Lab:
    """A JupyterLab that serves `root` on loopback."""

    root: Path
    url: str
    log: Path

    def address(self, path: str = "") -> str:
        """Where a file opens; without a path, what JupyterLab opens by itself."""
        where = f"/lab/tree/{path}" if path else ""
        return f"{self.url}{where}?token={TOKEN}&reset"  # reset: without the tabs of another test

    def end_kernels(self) -> None:
        """End every kernel, so that a notebook opened again starts anew."""
        for session in self._ask("GET"):
            self._ask("DELETE", f"/{session['id']}")

    def _ask(self, method: str, session: str = "") -> Any:
        request = urllib.request.Request(f"{self.url}/api/sessions{session}", method=method)
        request.add_header("Authorization", f"token {TOKEN}")
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read() or b"null")


@contextmanager
def serve(root: Path, home: Path, options: Sequence[str] = (), dark: bool = False) -> Iterator[Lab]:
    """A JupyterLab on `root` whose settings live in `home`; it ends with the block."""
    command = [sys.executable, "-W", "ignore", "-m", "jupyterlab", "--allow-root"]
    write_settings(home, dark)
    port = free_port()
    with running([*command, *settings(port), *options], root, home, port) as lab:
        yield lab


def settings(port: int) -> list[str]:
    """Options of a JupyterLab that a test drives."""
    return [
        *("--no-browser", "--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0"),
        *(f"--IdentityProvider.token={TOKEN}", "--LabApp.expose_app_in_browser=True"),
    ]


@contextmanager
def running(command: Sequence[str], root: Path, home: Path, port: int) -> Iterator[Lab]:
    """What `command` starts in `root`, until the end of the block, with all its processes."""
    log, url = home / "lab.log", f"http://127.0.0.1:{port}"
    about = {"cwd": root, "env": environment(home), "start_new_session": True}
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, **about)
    try:
        wait_until_answers(f"{url}/api", process, log)
        yield Lab(root, url, log)
    finally:
        with suppress(ProcessLookupError):  # it never came up, and its log is in the error
            os.killpg(process.pid, signal.SIGTERM)
        process.wait(30)


@contextmanager
def made(target: str, clone: Path, home: Path, root: Path) -> Iterator[Lab]:
    """What `make target` starts in a clone whose environment is this one; it serves `root`."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, clone)
    (clone / ".venv").symlink_to(sys.prefix)
    (clone / "ready").write_text(str(clone))
    write_settings(home, dark=False)
    port = free_port()
    command = ["make", target, "READY=ready", f"COURSE={root}"]
    command.append(f"LAB_ARGS={' '.join(settings(port))}")
    with running(command, clone, home, port) as lab:
        yield replace(lab, root=root)


def environment(home: Path) -> dict[str, str]:
    """The environment of a person who has never used Jupyter, with our programs first.

    Tests run with one thread; a person's notebook has torch's default number of them.
    """
    names = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    own = {name: str(home / name.lower()) for name in names}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    usual = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    return {**usual, **own, "PATH": path, "PYTHONPATH": str(ROOT)}


def write_settings(home: Path, dark: bool) -> None:
    """JupyterLab's settings of that person: no news, and the theme."""
    theme = {"theme": "JupyterLab Dark"} if dark else {}
    for name, values in (_SETTINGS | {"apputils-extension/themes": theme}).items():
        path = home / "jupyter_config_dir/lab/user-settings/@jupyterlab"
        path = path / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))


def free_port() -> int:
    """A port of loopback that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def wait_until_answers(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Return as soon as the server answers; raise with its log where it does not."""
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until and process.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise RuntimeError(f"JupyterLab does not answer:\n{log.read_text()}")


def shoot(what: Page | Locator, name: str) -> None:
    """With PICTURES=1, a screenshot in tests/output/browser/."""
    if PICTURES:
        OUTPUT.mkdir(parents=True, exist_ok=True)
        what.screenshot(path=OUTPUT / f"{name}.png")


class Notebook:
    """An open notebook. Cells are named by their ids, as in the file."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.wait_for_kernel()

    @classmethod
    def open(cls, page: Page, lab: Lab, path: str) -> Notebook:
        """Open the file at `path` and wait for its kernel."""
        page.goto(lab.address(path))
        return cls(page)

    def wait_for_kernel(self) -> None:
        """Return when cells can be found and the kernel waits for work."""
        wait_until(self.page, "window.jupyterapp !== undefined")
        wait_until(self.page, _IDLE)
        self.page.evaluate(f"for (const one of {_CELLS}) one.node.dataset.id = one.model.id")

    # -- acting -----------------------------------------------------------------------------

    def run_all(self) -> None:
        """Choose Run → Run All Cells; return when nothing waits, and every cell is on the page."""
        self.start_all()
        self.wait()
        # JupyterLab adds those out of sight as it finds the time, which takes minutes under load.
        drawn = f"{_CELLS}.every(one => one.node.isConnected)"
        wait_until(self.page, drawn)

    def start_all(self) -> None:
        """Choose Run → Run All Cells, and return when something has been shown."""
        self.choose("Run", "Run All Cells")
        wait_until(self.page, "document.querySelector('.jp-OutputArea-output') !== null")

    def choose(self, menu: str, entry: str) -> None:
        """Click an entry of the menu bar."""
        self.page.get_by_role("menuitem", name=menu, exact=True).click()
        self.page.get_by_role("menuitem", name=entry, exact=True).click()

    def wait(self) -> None:
        """Return when no cell waits and the kernel is idle."""
        waiting = (
            f"{_CELLS}.some(one => one.prompt === '*' || one.promptNode?.textContent === '[*]:')"
        )
        wait_until(self.page, f"{_IDLE} && !{waiting}")

    def run(self, id: str) -> None:
        """Run one cell with Ctrl+Enter and wait for it."""
        self.cell(id).locator(".jp-InputPrompt").click()
        before = self.page.evaluate(f"({_by_id(id)}).model.executionCount")
        self.page.keyboard.press("Control+Enter")
        now = f"({_by_id(id)}).model.executionCount"
        done = f"{now} !== null && {now} !== {json.dumps(before)}"
        wait_until(self.page, done)
        self.wait()

    def type(self, id: str, source: str) -> None:
        """Replace what stands in a code cell."""
        self.cell(id).locator(".cm-content").click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(source)
        self.page.keyboard.press("Escape")

    def save(self) -> None:
        """Save with Ctrl+S and wait until the file is written."""
        self.page.keyboard.press("Control+s")
        wait_until(self.page, "!jupyterapp.shell.currentWidget.context.model.dirty")

    # -- reading ----------------------------------------------------------------------------

    def cell(self, id: str) -> Locator:
        """The whole cell on the page."""
        return self.page.locator(f'.jp-Cell[data-id="{id}"]')

    def output(self, id: str) -> Locator:
        """What stands below a code cell."""
        return self.cell(id).locator(".jp-Cell-outputArea")

    def ids(self, kind: str = "code") -> list[str]:
        """The ids of the cells of one kind, in order."""
        mine = f"{_CELLS}.filter(one => one.model.type === '{kind}')"
        found: list[str] = self.page.evaluate(f"{mine}.map(one => one.model.id)")
        return found

    def errors(self) -> dict[str, str]:
        """The cells with a traceback or something on stderr, and its first words."""
        found: dict[str, str] = self.page.evaluate(
            """() => Object.fromEntries(CELLS
                .filter(one => one.model.type === 'code')
                .flatMap(one => (one.model.sharedModel.toJSON().outputs ?? [])
                    .filter(seen => seen.output_type === 'error' || seen.name === 'stderr')
                    .map(seen => [one.model.id, seen.ename ?? String(seen.text)])))""".replace(
                "CELLS", _CELLS
            )
        )
        return found

    def never_ran(self) -> list[str]:
        """The code cells without an execution count."""
        mine = f"{_CELLS}.filter(one => one.model.type === 'code' && !one.model.executionCount)"
        found: list[str] = self.page.evaluate(f"{mine}.map(one => one.model.id)")
        return found

    def pictures(self) -> list[dict[str, Any]]:
        """Every picture among the outputs: its cell, its alt text and the size it is drawn in.

        A hidden one is none: widgets give their sliders names with it.
        """
        found: list[dict[str, Any]] = self.page.evaluate(
            """() => [...document.querySelectorAll(
                '.jp-Cell-outputArea img:not([hidden])')].map(one => ({
                id: one.closest('.jp-Cell').dataset.id, alt: one.alt,
                width: one.naturalWidth, height: one.naturalHeight}))"""
        )
        return found

    def shoot(self, name: str, id: str | None = None) -> None:
        """With PICTURES=1, a screenshot of the page, or of one cell."""
        if id is not None:
            self.cell(id).scroll_into_view_if_needed()
        shoot(self.page if id is None else self.cell(id), name)


def _by_id(id: str) -> str:
    return f"{_CELLS}.find(one => one.model.id === {json.dumps(id)})"
