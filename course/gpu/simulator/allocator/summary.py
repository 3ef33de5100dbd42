"""`memory_summary`: the counters as the table that torch.cuda prints.

The layout is that of `memory_summary` in torch/cuda/memory.py; a test feeds both the same counters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

_WIDTH = 75
_BYTES = ("B  ", "KiB", "MiB", "GiB", "TiB", "PiB")
_COUNTS = (" ", "K", "M")
_FIELDS = ("current", "peak", "allocated", "freed")


def _size(value: int, largest: int) -> str:
    """Return bytes in the unit that suits `largest`, so that a column has one unit."""
    unit = 0
    scale = float(largest)
    while scale >= 768 * 1024 and unit + 1 < len(_BYTES):
        value, scale, unit = value // 1024, scale / 1024, unit + 1
    return f"{value:6d} {_BYTES[unit]}"


def _count(value: int, largest: int) -> str:
    unit = 0
    scale = float(largest)
    while scale >= 750 * 1000 and unit + 1 < len(_COUNTS):
        value, scale, unit = value // 1000, scale / 1000, unit + 1
    return f"{value:7d} {_COUNTS[unit]} "


_Format = Callable[[int, int], str]
_ROWS: tuple[tuple[str, str, _Format], ...] = (
    ("allocated_bytes", "Allocated memory", _size),
    ("active_bytes", "Active memory", _size),
    ("requested_bytes", "Requested memory", _size),
    ("reserved_bytes", "GPU reserved memory", _size),
    ("inactive_split_bytes", "Non-releasable memory", _size),
    ("allocation", "Allocations", _count),
    ("active", "Active allocs", _count),
    ("segment", "GPU reserved segments", _count),
    ("inactive_split", "Non-releasable allocs", _count),
)
_OVERSIZE = (
    ("oversize_allocations", "Oversize allocations"),
    ("oversize_segments", "Oversize GPU segments"),
)


def summary_of(statistics: Mapping[str, int], index: int, *, abbreviated: bool = False) -> str:
    """Return the table for counters in the form of `memory_stats`."""
    rule, double = "-" * _WIDTH, "=" * _WIDTH
    ooms, retries = statistics["num_ooms"], statistics["num_alloc_retries"]
    lines = [
        double,
        f" {'':16} PyTorch CUDA memory summary, device ID {index:<17d} ",
        rule,
        f"  {'':9} CUDA OOMs: {ooms:<12d} | {'':6} cudaMalloc retries: {retries:<8d}  ",
        double,
        "        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  ",
    ]
    pools = ["all"] if abbreviated else ["all", "large_pool", "small_pool"]
    for name, title, form in _ROWS:
        lines.append(rule)
        whole = [statistics[f"{name}.all.{field}"] for field in _FIELDS]
        for pool in pools:
            label = title if pool == "all" else f"      from {pool.replace('_', ' ')}"
            values = [statistics[f"{name}.{pool}.{field}"] for field in _FIELDS]
            lines.append(_row(label, [form(v, w) for v, w in zip(values, whole, strict=True)]))
    for name, title in _OVERSIZE:
        values = [statistics[f"{name}.{field}"] for field in _FIELDS]
        lines += [rule, _row(title, [_count(value, value) for value in values])]
    lines.append(double)
    return "|" + "|\n|".join(lines) + "|\n"


def _row(label: str, cells: list[str]) -> str:
    return f" {label:<21} | {' | '.join(cells)} "
