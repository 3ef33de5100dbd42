"""Run a notebook with a kernel: `run_notebook.py KERNELS NAME FOLDER < notebook > outputs`.

A process of its own, because nbclient leaves its sockets to the end of the process. What is
written is JSON: the outputs of each cell by its id.
"""

import contextlib
import json
import sys

import nbformat
from jupyter_client import AsyncKernelManager
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

CELL_LIMIT_S = 120


def main(kernels: str, name: str, folder: str) -> None:
    """Run all cells as "Run all" does: a cell that raises ends the run, and its output tells."""
    notebook = nbformat.reads(sys.stdin.read(), as_version=4)
    specs = KernelSpecManager(kernel_dirs=[kernels], ensure_native_kernel=False)
    manager = AsyncKernelManager(kernel_name=name, kernel_spec_manager=specs)
    where = {"metadata": {"path": folder}}
    client = NotebookClient(notebook, km=manager, timeout=CELL_LIMIT_S, resources=where)
    # nbclient forbids the kernel to ask, Colab does not; whether widgets live depends on it.
    client.on_notebook_start = lambda notebook: setattr(client.kc, "allow_stdin", True)
    with contextlib.suppress(CellExecutionError):
        client.execute()
    json.dump({cell.id: cell.get("outputs", []) for cell in notebook.cells}, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
