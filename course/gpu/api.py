"""The public words of `course.gpu`: torch.cuda's own where there is a GPU, else ours."""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import AbstractContextManager, suppress
from typing import TYPE_CHECKING, Any, Self

import torch

from course.gpu.availability import switched_on
from course.gpu.simulator.memory_functions import Where

if TYPE_CHECKING:
    from course.gpu.simulator.module import DeviceModule

OutOfMemoryError = torch.OutOfMemoryError


def is_available() -> bool:
    """Return True: there is always a device, `is_simulated` says of which kind."""
    return True


def is_simulated() -> bool:
    """Return whether the device is simulated, because this machine has no CUDA device."""
    return not torch.cuda.is_available()


def device_in_words() -> str:
    """Return which device `gpu.device()` gives here, as a sentence; asking switches nothing on.

    On Colab a GPU is there after *Runtime → Change runtime type*.
    """
    if is_simulated():
        return (
            "This notebook runs on a simulated device: PyTorch sees no CUDA device here. "
            "The exercises and their checks are the same."
        )
    name, memory = torch.cuda.get_device_name(), torch.cuda.get_device_properties().total_memory
    return f"This notebook runs on cuda: {name} with {memory / 2**30:.0f} GiB of memory."


def device(index: int | None = None) -> torch.device:
    """Return the device to compute on: `cuda` where there is one, else the simulated one.

    The first call switches the simulated device type on.

    Args:
        index: The device's number, from 0; None for the device type alone, which means the current
            one.

    Raises:
        NoSimulationError: this version of PyTorch cannot have one.
    """
    if not is_simulated():
        return torch.device("cuda") if index is None else torch.device("cuda", index)
    name = switched_on()
    return torch.device(name) if index is None else torch.device(name, index)


def device_count() -> int:
    """Return how many devices there are."""
    return _words().device_count()


def set_device_count(count: int) -> None:
    """Let there be `count` devices: `device(0)`, `device(1)` and so on.

    Simulated devices come and go; real ones only can be too few.

    Args:
        count: 1 or more; more than there are makes simulated ones, fewer takes the last ones away.

    Raises:
        ValueError: Simulated: `count` is below 1, or memory is in use on a device that would go.
        RuntimeError: There are fewer real devices.
    """
    if is_simulated():
        from course.gpu.simulator.devices import simulation

        simulation().set_count(count)
    elif count > torch.cuda.device_count():
        raise RuntimeError(f"{count} devices are asked for, {torch.cuda.device_count()} are here")


def devices(count: int) -> Devices:
    """Let there be `count` devices and return them; on CUDA the first `count` ones.

    ```python
    first, second = gpu.devices(2)
    with gpu.devices(2) as (first, second): ...  # afterwards as many as before
    ```

    Args:
        count: 1 or more.

    Returns:
        The devices with their indices, as a tuple that may head a `with` block. After the block
        simulated devices go again, unless tensors are left on them.

    Raises:
        ValueError: `count` is below 1, or memory is in use on a simulated device that would go.
        RuntimeError: There are fewer real ones.
    """
    if count < 1:
        raise ValueError(f"devices({count}): ask for one or more")
    before = device_count()
    set_device_count(count)
    return Devices((device(index) for index in range(count)), before)


class Devices(tuple[torch.device, ...]):
    """The devices that `devices` gave; a `with` block over them gives the others back."""

    _before: int

    def __new__(cls, found: Iterable[torch.device], before: int) -> Self:
        """Make the tuple; `before` devices will be there after a `with` block."""
        made = super().__new__(cls, found)
        made._before = before
        return made

    def __enter__(self) -> Self:
        """Return the devices."""
        return self

    def __exit__(self, *raised: object) -> None:
        """Let there be as many as before; a device with tensors on it stays."""
        if is_simulated():
            with suppress(ValueError):
                set_device_count(self._before)


def current_device() -> int:
    """Return the index of the device that `device()` means now."""
    return _words().current_device()


def use(device: Where) -> AbstractContextManager[None]:
    """Make a device the current one in a `with` block, as `torch.cuda.device` does.

    Args:
        device: A device, its name or its index.
    """
    return _words().device(device)


def memory_allocated(device: Where = None) -> int:
    """Return the bytes of the blocks that tensors occupy now.

    Args:
        device: A device, its name or its index; None for the current one.
    """
    return _words().memory_allocated(device)


def max_memory_allocated(device: Where = None) -> int:
    """Return the most bytes that tensors occupied since the peak was reset.

    Args:
        device: A device, its name or its index; None for the current one.
    """
    return _words().max_memory_allocated(device)


def memory_reserved(device: Where = None) -> int:
    """Return the bytes that the allocator has taken from the device, in use or cached.

    Args:
        device: A device, its name or its index; None for the current one.
    """
    return _words().memory_reserved(device)


def max_memory_reserved(device: Where = None) -> int:
    """Return the most bytes that the allocator held since the peak was reset.

    Args:
        device: A device, its name or its index; None for the current one.
    """
    return _words().max_memory_reserved(device)


def reset_peak_memory_stats(device: Where = None) -> None:
    """Let the peaks start again from the values of now.

    Args:
        device: A device, its name or its index; None for the current one.
    """
    _words().reset_peak_memory_stats(device)


def memory_stats(device: Where = None) -> dict[str, Any]:
    """Return all counters of the allocator under torch.cuda's names.

    Args:
        device: A device, its name or its index; None for the current one.

    Returns:
        Numbers by names such as "allocated_bytes.all.peak" (bytes) and "num_ooms" (a count).
    """
    return _words().memory_stats(device)


def memory_summary(device: Where = None, abbreviated: bool = False) -> str:
    """Return the counters of the allocator as a table to print.

    Args:
        device: A device, its name or its index; None for the current one.
        abbreviated: As in `torch.cuda.memory_summary`: True leaves rows out.
    """
    return _words().memory_summary(device, abbreviated)


def memory_snapshot() -> list[dict[str, Any]]:
    """Return all segments with their blocks, in the form of torch.cuda.memory_snapshot."""
    return list(_words().memory_snapshot())


def snapshot() -> dict[str, Any]:
    """Return segments and history, as https://docs.pytorch.org/memory_viz reads them.

    On CUDA the history is empty unless `record_memory_history` was called first.
    """
    if is_simulated():
        return _simulated().full_snapshot()
    return torch.cuda.memory._snapshot()


def record_memory_history(enabled: bool = True) -> None:
    """Write down from now on who asks for memory, or stop doing so.

    Args:
        enabled: False to stop.
    """
    if is_simulated():
        _simulated().record_frames(enabled)
    else:
        torch.cuda.memory._record_memory_history(enabled="all" if enabled else None)


def empty_cache() -> None:
    """Give the segments without a block in use back to the device."""
    _words().empty_cache()


def mem_get_info(device: Where = None) -> tuple[int, int]:
    """Return the bytes of the device that are free, and all of them.

    Args:
        device: A device, its name or its index; None for the current one.

    Returns:
        Free and total bytes, in this order.
    """
    return _words().mem_get_info(device)


def set_per_process_memory_fraction(fraction: float, device: Where = None) -> None:
    """Let the allocator take at most this part of the device's memory.

    Args:
        fraction: From 0 to 1, of the device's total memory.
        device: A device, its name or its index; None for the current one.

    Raises:
        ValueError: `fraction` is below 0 or above 1.
    """
    _words().set_per_process_memory_fraction(fraction, device)


def set_capacity(nbytes: int | None, device: Where = None) -> None:
    """Let the allocator take at most `nbytes` from the device; None takes the limit away.

    Beyond it a request raises OutOfMemoryError, as on a device of that size.

    Args:
        nbytes: From 0 to the device's total memory, in bytes; None for no limit.
        device: A device, its name or its index; None for the current one.

    Raises:
        ValueError: The device has fewer bytes, or `nbytes` is negative.
    """
    total = mem_get_info(device)[1]
    set_per_process_memory_fraction(_fraction(nbytes, total), device)
    if nbytes is None and is_simulated():
        from course.gpu.simulator.memory_functions import device_of

        device_of(device).allocator.limit_nbytes = None


def synchronize(device: Where = None) -> None:
    """Wait until the device has done what it was asked; a failed kernel is reported here.

    Args:
        device: A device, its name or its index; None for the current one.

    Raises:
        torch.AcceleratorError: A kernel has failed.
    """
    _words().synchronize(device)


def manual_seed(seed: int) -> None:
    """Seed the generator of the current device (`torch.manual_seed` seeds all of them).

    Args:
        seed: A whole number, as `torch.manual_seed` takes it.
    """
    _words().manual_seed(seed)


def Generator(device: Where = None) -> torch.Generator:  # torch's own name
    """Return a new generator for the `generator=` argument of operators on the device.

    `torch.Generator(device)` does the same on CUDA, but knows no device written in Python; the
    generator of a simulated device is the CPU's kind.

    Args:
        device: Where the operator computes; None for `cuda`. A simulated device needs no saying.
    """
    return torch.Generator() if is_simulated() else torch.Generator(device or "cuda")


def set_launch_blocking(enabled: bool) -> None:
    """Let every kernel be waited for, so that an error is raised where it happens.

    On CUDA only the environment can say so, before the first use of the device.

    Args:
        enabled: False goes back to kernels that are launched and not waited for.

    Raises:
        RuntimeError: `enabled` is True, and the device is a real one.
    """
    if is_simulated():
        from course.gpu.simulator.devices import simulation

        simulation().launch_blocking = enabled
    elif enabled:
        raise RuntimeError(
            "CUDA reads CUDA_LAUNCH_BLOCKING when the device is first used. Set it to 1 in the "
            "environment, before Python starts."
        )


def failed_assertion(device: Where = None) -> str | None:
    """Return the assertion that failed on the device, or None.

    CUDA prints it on stderr and returns nothing, so there it is always None.

    Args:
        device: A device, its name or its index; None for the current one.
    """
    if not is_simulated():
        return None
    from course.gpu.simulator.memory_functions import device_of

    fault = device_of(device).fault
    return None if fault is None else fault.cause


def restart() -> None:
    """Bring simulated devices back after a failed kernel; limits go as well.

    On CUDA only a new process can do that: restart the kernel of the notebook.

    Raises:
        RuntimeError: The device is a real one.
    """
    if not is_simulated():
        raise RuntimeError("A CUDA device comes back with a new process: restart the kernel.")
    from course.gpu.simulator.devices import simulation

    simulation().restart()


def _words() -> Any:
    return _simulated() if is_simulated() else torch.cuda


def _simulated() -> DeviceModule:
    from course.gpu.simulator.module import DeviceModule

    return DeviceModule()


def _fraction(nbytes: int | None, total: int) -> float:
    """Return the fraction of `total` that comes out as `nbytes` after torch has cut it."""
    if nbytes is None:
        return 1.0
    if not 0 <= nbytes <= total:
        raise ValueError(f"set_capacity({nbytes}): the device has {total} bytes; ask for a part")
    fraction = nbytes / total
    while int(fraction * total) < nbytes:
        fraction = math.nextafter(fraction, 2.0)
    return fraction
