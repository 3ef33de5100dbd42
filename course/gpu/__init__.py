"""One GPU for everyone: CUDA where there is one, a simulated device elsewhere.

```python
from course import gpu

device = gpu.device()                      # cuda, or sim
model = torch.nn.Linear(1000, 1000).to(device)
gpu.memory_allocated()                     # 4_004_352
```

The words are torch.cuda's. Where there is a GPU, each is torch.cuda's own function; elsewhere the
simulation answers: the CPU computes, and a model of CUDA's caching allocator keeps the books.
There may be several: `first, second = gpu.devices(2)`.
Nothing in torch changes before the first call of `device()`.
"""

from course.gpu.api import (
    Generator,
    OutOfMemoryError,
    current_device,
    device,
    device_count,
    device_in_words,
    devices,
    empty_cache,
    failed_assertion,
    is_available,
    is_simulated,
    manual_seed,
    max_memory_allocated,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_reserved,
    memory_snapshot,
    memory_stats,
    memory_summary,
    record_memory_history,
    reset_peak_memory_stats,
    restart,
    set_capacity,
    set_device_count,
    set_launch_blocking,
    set_per_process_memory_fraction,
    snapshot,
    synchronize,
    use,
)
from course.gpu.availability import NoSimulationError
from course.gpu.simulator.allocator.caching import CachingAllocator, OutOfMemory
from course.gpu.simulator.allocator.snapshot import segments_of
from course.gpu.timeline import Timeline
from course.gpu.timeline_recorder import Recorder

__all__ = [
    "CachingAllocator",
    "Generator",
    "NoSimulationError",
    "OutOfMemory",
    "OutOfMemoryError",
    "Recorder",
    "Timeline",
    "current_device",
    "device",
    "device_count",
    "device_in_words",
    "devices",
    "empty_cache",
    "failed_assertion",
    "is_available",
    "is_simulated",
    "manual_seed",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "memory_snapshot",
    "memory_stats",
    "memory_summary",
    "record_memory_history",
    "reset_peak_memory_stats",
    "restart",
    "segments_of",
    "set_capacity",
    "set_device_count",
    "set_launch_blocking",
    "set_per_process_memory_fraction",
    "snapshot",
    "synchronize",
    "use",
]
