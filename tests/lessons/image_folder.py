"""torchvision's ImageFolder, which tests of several lessons import."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch


@cache
def image_folder() -> Any:
    """The class itself, also beside a PyTorch that cannot load the kernels of torchvision.

    Those of the public build are for CUDA. Importing it needs no more than their names then.
    """
    folder = Path(str(find_spec("torchvision").origin)).parent  # type: ignore[union-attr]
    try:
        torch.ops.load_library(next(folder.glob("_C*.*")))  # _C_stable since 0.29
    except OSError:
        for name in ("nms", "qnms"):
            words = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
            torch.library.define(f"torchvision::{name}", words)
    from torchvision.datasets import ImageFolder

    return ImageFolder
