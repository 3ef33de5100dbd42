"""What the simulation takes from torch's experimental interfaces. A failure here names what moved.

Each test stands for one thing that `course/gpu/simulator/_backend.py` relies on, so that the first
red line after an update of torch says which.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest
import torch
from torch.utils import backend_registration

from course import gpu, observe
from course.gpu.simulator import _backend, _guard
from course.gpu.simulator.operators.composites import WHOLE_ON_CPU

simulated = pytest.mark.skipif(torch.cuda.is_available(), reason="the device here is a real one")


def test_torch_registers_a_device_written_in_python() -> None:
    assert callable(backend_registration._setup_privateuseone_for_python_backend)
    assert hasattr(torch._C._acc, "PrivateUse1Hooks")
    assert hasattr(torch._C._acc, "DeviceGuard")


@simulated
def test_dlpack_gives_a_tensor_at_an_address_of_our_choice(device: torch.device) -> None:
    flat = _backend.storage_at(0x7000_0000_0400, 64, 1)
    assert (flat.device, flat.data_ptr()) == (torch.device("sim", 1), 0x7000_0000_0400)
    assert flat.untyped_storage().nbytes() == 64


@simulated
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.bool, torch.complex64])
def test_a_tensor_of_any_dtype_shares_the_storage_it_is_made_in(
    device: torch.device, dtype: torch.dtype
) -> None:
    flat = _backend.storage_at(0x7000_0000_0000, 64, 0)
    found = _backend.tensor_in(flat, dtype, (2, 2), (1, 2), 1)
    assert (found.dtype, found.stride(), found.storage_offset()) == (dtype, (1, 2), 1)
    assert found.untyped_storage()._cdata == flat.untyped_storage()._cdata


@simulated
@pytest.mark.parametrize("operator", sorted(map(str, _backend.METADATA_ONLY)))
def test_the_cpus_kernels_for_sizes_and_strides_accept_another_device(operator: str) -> None:
    name, overload = operator.removeprefix("aten.").rsplit(".", 1)
    found = getattr(getattr(torch.ops.aten, name), overload)
    assert torch._C._dispatch_has_kernel_for_dispatch_key(found.name(), "CPU")
    assert hasattr(found, "redispatch")


@simulated
def test_a_holder_lives_as_long_as_the_storage_and_no_longer(device: torch.device) -> None:
    tensor = torch.ones(4, device=device)
    assert _backend.holder_of(tensor) is not None
    view = tensor.view(2, 2)
    del tensor
    assert gpu.memory_allocated() == 512
    del view
    assert gpu.memory_allocated() == 0


@simulated
def test_the_fallback_sees_every_operator(device: torch.device) -> None:
    for missing in ("convolution_overrideable", "_thnn_fused_lstm_cell", "_to_copy"):
        assert torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{missing}", "PrivateUse1")
    assert torch.arange(6.0, device=device).cumsum(0).tolist() == [0, 1, 3, 6, 10, 15]


def test_no_further_operator_is_composed_where_the_cpu_has_a_kernel() -> None:
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    composed = ("CompositeExplicitAutograd", "CompositeImplicitAutograd")
    names = [name for name in torch._C._dispatch_get_all_op_names() if name.startswith("aten::")]
    found = {n for n in names if has(n, "CPU") and any(has(n, key) for key in composed)}
    composed_on_cuda_as_well = ("_stack", "_stack.out", "linalg__powsum")
    known = {f"aten::{name}" for name in (*WHOLE_ON_CPU, *composed_on_cuda_as_well)}
    # Once switched on, our own kernels for pinned memory count among the CPU's.
    assert found - {"aten::_pin_memory", "aten::is_pinned"} <= known


def test_the_header_of_the_device_guard_lists_its_functions() -> None:
    order = _guard.order_of_functions()
    assert order[:3] == ["type", "exchangeDevice", "getDevice"]
    assert order[-1] == "~DeviceGuardImplInterface"


@simulated
@pytest.mark.skipif(sys.platform == "win32", reason="the table of functions is laid out otherwise")
def test_the_guard_of_a_python_device_can_be_kept_from_calling_python(
    device: torch.device,
) -> None:
    assert _guard.stop_calling_python(_backend.Guard())


@pytest.mark.exhaustive("programs on the simulated GPU")
@simulated
@pytest.mark.parametrize("where", ["hook", "unpack", "kernel"])
def test_an_exception_in_backward_does_not_end_the_process(
    where: str, run: Callable[..., str]
) -> None:
    script = f"""
        import torch
        from course import gpu
        def fail(_): raise ValueError("mine")
        x = torch.ones(3 << 20, device=gpu.device(), requires_grad=True)
        hooks = torch.autograd.graph.saved_tensors_hooks(lambda t: t, fail)
        with hooks if "{where}" == "unpack" else torch.enable_grad():
            y = (x * x).sum()
        if "{where}" == "hook": x.register_hook(fail)
        if "{where}" == "kernel": gpu.empty_cache(); gpu.set_capacity(gpu.memory_reserved())
        try: y.backward()
        except (ValueError, gpu.OutOfMemoryError) as error: print(type(error).__name__)
    """
    assert run(script).strip() in ("ValueError", "OutOfMemoryError")


@simulated
def test_one_module_alone_knows_the_names_of_the_experimental_interface() -> None:
    folder = _backend.__file__.rsplit("/", 1)[0]
    from pathlib import Path

    for path in Path(folder).glob("*.py"):
        text = path.read_text()
        if path.name not in ("_backend.py", "_guard.py"):
            assert "backend_registration" not in text, path.name
            assert "redispatch" not in text, path.name
            assert "_C._acc" not in text, path.name


def test_a_tensor_of_numbers_is_made_on_the_device_while_it_is_observed(
    device: torch.device,
) -> None:
    seen = observe(lambda: torch.tensor([0.5, 2], device=device, requires_grad=True).sum().item())
    assert (seen.error, seen.result.plain) == (None, 2.5)
    leaf = torch.tensor([1.0], device=device, requires_grad=True)
    assert (leaf.is_leaf, leaf.device.type) == (True, device.type)
