"""The simulated devices of this process: their allocators, their memory, their faults."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from multiprocessing import current_process

import torch

from course.gpu.simulator import error_messages
from course.gpu.simulator.allocator.blocks import OutOfMemory
from course.gpu.simulator.allocator.caching import CachingAllocator
from course.gpu.simulator.allocator.sizes import GIB, MIB

NAME = "sim"
DEVICE_COUNT = 1  # until somebody asks for more; torch warns here and there about several

# A small card, so that filling it never fills the machine that simulates it.
TOTAL_NBYTES = 4 * GIB
# What a driver keeps of every process for itself (code, stacks). It differs with GPU and driver;
# nvidia-smi counts it, PyTorch does not. This value is set, not measured.
CONTEXT_NBYTES = 256 * MIB

# Device addresses start where no process has memory of its own, one terabyte a device apart.
_FIRST_ADDRESS = 0x7000_0000_0000
_ADDRESSES = 1 << 40


class Holder:
    """Keeps a block in use for as long as the storage that holds this object lives."""

    __slots__ = ("_device", "address")

    def __init__(self, device: SimulatedDevice, address: int) -> None:
        self._device = device
        self.address = address

    def __del__(self) -> None:
        """Give the block back. The last reference may go in any thread, even inside `allocate`."""
        self._device.give_back(self.address)


@dataclass
class Fault:
    """A kernel failed: `seen` turns true when a call has reported it."""

    cause: str
    seen: bool = False


class SimulatedDevice:
    """One simulated device: an allocator, the bytes behind its addresses, a generator, a fault."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.allocator = CachingAllocator(
            TOTAL_NBYTES,
            context_nbytes=CONTEXT_NBYTES,
            base=_FIRST_ADDRESS + index * _ADDRESSES,
        )
        self.generator = torch.Generator()
        self.fault: Fault | None = None
        # Copies that the host does not wait for: into the device, done before its next kernel, and
        # out of it, done when the host waits.
        self.copies_in: list[Copy] = []
        self.copies_out: list[Copy] = []
        self._host: dict[int, torch.UntypedStorage] = {}
        self._returned: deque[int] = deque()
        self._lock = threading.Lock()

    def host_of(self, address: int) -> torch.UntypedStorage:
        """Return the CPU storage that holds the bytes of the block at `address`."""
        return self._host[address]

    def take(self, host: torch.UntypedStorage) -> int:
        """Return the address of a new block for the bytes of `host`, or raise OutOfMemoryError."""
        with self._lock:
            self._free_returned()
            try:
                address = self.allocator.allocate(host.nbytes()).address
            except OutOfMemory as full:
                message = error_messages.out_of_memory(full.shortage, self.index)
                raise torch.OutOfMemoryError(message) from None
            self._host[address] = host
            return address

    def give_back(self, address: int) -> None:
        """Free the block at `address`, now or at the end of the call that holds the lock."""
        self._returned.append(address)
        # Without waiting: the garbage collector may call this in the middle of `take`.
        while self._returned and self._lock.acquire(blocking=False):
            try:
                self._free_returned()
            finally:
                self._lock.release()

    def settled(self) -> CachingAllocator:
        """Return the allocator with everything freed that was given back."""
        with self._lock:
            self._free_returned()
        return self.allocator

    @contextmanager
    def held(self) -> Iterator[CachingAllocator]:
        """The allocator, settled, in which nothing moves while the block runs.

        The garbage collector may free a tensor in the middle of a walk through segments or
        history; what comes back meanwhile is freed after it.
        """
        with self._lock:
            self._free_returned()
            yield self.allocator
        self.settled()

    def fail(self, cause: str) -> None:
        """Note that a kernel failed; the first failure is the one that counts."""
        self.fault = self.fault or Fault(cause)

    def check(self, *, synchronizes: bool) -> None:
        """Bring the copies up to date, and raise what a failed kernel left behind, as CUDA would.

        The first call that waits for the device reports a failure. From then on every call does:
        the CUDA context is lost until the process ends.
        """
        _finish(self.copies_in)
        if synchronizes:
            _finish(self.copies_out)
        if self.fault is not None and (synchronizes or self.fault.seen):
            self.fault.seen = True
            blocking = simulation().launch_blocking
            raise torch.AcceleratorError(error_messages.device_assert(blocking=blocking))

    def _free_returned(self) -> None:
        while self._returned:
            address = self._returned.popleft()
            self._host.pop(address, None)
            self.allocator.free(address)


Copy = Callable[[], object]


def _finish(copies: list[Copy]) -> None:
    while copies:
        copies.pop(0)()


class Simulation:
    """All simulated devices of this process, and which one is current."""

    def __init__(self, count: int) -> None:
        self.devices = [SimulatedDevice(index) for index in range(count)]
        self._of_thread = threading.local()  # as on CUDA: each thread has a current device
        self.launch_blocking = os.environ.get("CUDA_LAUNCH_BLOCKING") == "1"
        self._process = current_process()

    @property
    def current(self) -> int:
        """The index of the device that is current in this thread, 0 at first."""
        return min(getattr(self._of_thread, "index", 0), len(self.devices) - 1)

    @current.setter
    def current(self, index: int) -> None:
        self._of_thread.index = index

    @property
    def forked(self) -> bool:
        """Return whether this is a forked worker, where CUDA could not be used.

        The grader forks a whole submission with `os.fork`, books and tensors and all; that is
        none of a notebook's doing, so only the workers of multiprocessing count.
        """
        return current_process() is not self._process

    def device(self, index: int | None = None) -> SimulatedDevice:
        """Return the device of that index, or the current one for None or -1."""
        if self.forked:
            raise RuntimeError(error_messages.bad_fork())
        if index is None or index < 0:
            index = self.current
        if index >= len(self.devices):
            raise torch.AcceleratorError(error_messages.invalid_ordinal())
        return self.devices[index]

    def set_count(self, count: int) -> None:
        """Let there be `count` devices; one with memory in use cannot go."""
        if count < 1 or any(device.settled().allocated for device in self.devices[count:]):
            used = [d.index for d in self.devices if d.allocator.allocated]
            raise ValueError(f"cannot have {count} devices: memory is in use on {used}")
        self.devices[count:] = [SimulatedDevice(i) for i in range(len(self.devices), count)]

    def restart(self) -> None:
        """Forget every failure and every limit, as a new process would."""
        for device in self.devices:
            device.fault = None
            device.allocator.limit_nbytes = None

    def seed(self, seed: int) -> None:
        """Seed the generators of all devices."""
        for device in self.devices:
            device.generator.manual_seed(seed)


@cache
def simulation() -> Simulation:
    """Return the one simulation of this process; torch can register a device type only once."""
    return Simulation(DEVICE_COUNT)
