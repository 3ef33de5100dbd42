"""`torch.sim`: the module that torch asks about the device type, with the names of torch.cuda."""

from __future__ import annotations

from types import TracebackType

import torch

from course.gpu.simulator.devices import simulation
from course.gpu.simulator.memory_functions import MemoryWords, Where, device_of, index_of


class DeviceModule(MemoryWords):
    """What torch looks for in `torch.sim`."""

    _initialized = True  # or torch.utils.checkpoint would not keep the generators' states

    class device:
        """Make a device the current one for the length of a `with` block."""

        def __init__(self, device: Where) -> None:
            self._index = index_of(device)
            self._before = 0

        def __enter__(self) -> None:
            """Make the device current; raises AcceleratorError where it is not there."""
            self._before = simulation().current
            simulation().current = simulation().device(self._index).index

        def __exit__(
            self,
            kind: type[BaseException] | None,
            error: BaseException | None,
            traceback: TracebackType | None,
        ) -> None:
            """Make the earlier one current again."""
            simulation().current = self._before

    def is_available(self) -> bool:
        """Return True."""
        return True

    def is_initialized(self) -> bool:
        """Return True."""
        return True

    def device_count(self) -> int:
        """Return how many simulated devices there are."""
        return len(simulation().devices)

    def current_device(self) -> int:
        """Return the index of the current device."""
        return simulation().current

    def set_device(self, device: Where) -> None:
        """Make a device the current one."""
        simulation().current = device_of(device).index

    def synchronize(self, device: Where = None) -> None:
        """Wait for the device: report what a kernel left behind."""
        device_of(device).check(synchronizes=True)

    def manual_seed(self, seed: int) -> None:
        """Seed the generator of the current device."""
        device_of(None).generator.manual_seed(seed)

    def manual_seed_all(self, seed: int) -> None:
        """Seed the generators of all devices."""
        simulation().seed(seed)

    def get_rng_state(self, device: Where = None) -> torch.Tensor:
        """Return the state of a device's generator as a CPU tensor of bytes."""
        return device_of(device).generator.get_state()

    def set_rng_state(self, new_state: torch.Tensor, device: Where = None) -> None:
        """Set the state of a device's generator."""
        device_of(device).generator.set_state(new_state)

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        """Return the dtypes that autocast may choose, as CUDA's do."""
        return [torch.float16, torch.bfloat16]

    def _is_in_bad_fork(self) -> bool:
        return simulation().forked

    def _lazy_init(self) -> None:
        simulation().device()
