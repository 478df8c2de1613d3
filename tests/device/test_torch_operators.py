"""Kernels as operators of PyTorch: the schema without it, and the operator itself with it and a GPU."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from typing import Any

import pytest

from ptxkit.build import Global, Kernel, bf16, f32, s64, u32
from ptxkit.device import DeviceError, MissingLibraryError, torch_op
from ptxkit.device.signature import Argument, make_kernel_signature
from ptxkit.device.torch_operators import make_plan

needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")


def build_scaling() -> Kernel:
    """out[i] = data[i] * factor"""
    k = Kernel("scaled", threads=128)
    data, out = k.param(Global[f32], "data"), k.param(Global[f32], "out")
    count, factor = k.param(u32, "count"), k.param(f32, "factor")
    i = k.ctaid.x * 128 + k.tid.x
    with k.if_(i < count):
        out[i].store(data[i].load() * factor)
    assert str(k)
    return k


def empty_like(data: Any) -> Any:
    return importlib.import_module("torch").empty_like(data)


def test_the_schema_comes_from_the_parameters() -> None:
    k = Kernel("k")
    k.param(Global[f32], "data")
    k.tensor_map("tiles", bf16, box=(64, 8))
    k.param(s64, "count")
    k.param(f32, "factor")
    k.param(Global[bf16], "out")
    arguments = make_kernel_signature(k).arguments
    written = make_plan("k", arguments, ["out", "data"], {}, [])
    assert written.schema == "(Tensor(a1!) data, Tensor tiles, SymInt count, float factor, Tensor(a0!) out) -> ()"
    made = make_plan("k", arguments, [], {"out": empty_like}, [])
    assert made.schema == "(Tensor data, Tensor tiles, SymInt count, float factor) -> Tensor"
    both = make_plan("k", arguments, [], {"out": empty_like, "tiles": empty_like}, [])
    assert both.schema == "(Tensor data, SymInt count, float factor) -> (Tensor, Tensor)"


def test_numbers_that_are_addresses_can_be_named() -> None:
    arguments = (Argument("parameter_0", "b64"), Argument("parameter_1", "b32"))
    plan = make_plan("k", arguments, ["parameter_0"], {}, ["parameter_0"])
    assert plan.schema == "(Tensor(a0!) parameter_0, SymInt parameter_1) -> ()"


def test_functions_receive_the_arguments_that_they_name() -> None:
    plan = make_plan(
        "k", make_kernel_signature(build_scaling()).arguments, [], {"out": lambda count, data: (count, data)}, []
    )
    values = plan.bind_arguments(("tensor", 7), {"factor": 1.5})
    assert values == {"data": "tensor", "count": 7, "factor": 1.5}
    assert plan.allocate_results(values) == {"out": (7, "tensor")}


DATA, COUNT = Argument("data", "u64", "global", "f32"), Argument("count", "u32")


@pytest.mark.parametrize(
    ("arguments", "writes", "makes", "message"),
    [
        ((DATA,), ["dta"], {}, "writes names 'dta', and kernel 'k' has no parameter 'dta'"),
        ((DATA, COUNT), ["count"], {}, "writes names 'count', and kernel 'k' takes no tensor for 'count'"),
        ((DATA, COUNT), [], {"count": len}, "makes names 'count', and kernel 'k' takes no tensor for 'count'"),
        ((DATA,), ["data"], {"data": len}, "'data' is made by the operator"),
        ((DATA,), [], {"data": len}, "has no tensor parameter, which would determine its GPU"),
        ((DATA,), [], {}, "changes nothing and makes nothing"),
        ((DATA, Argument("b", None, size=12)), ["data"], {}, "'b' of 'k' is a block of 12 bytes"),
        ((DATA, Argument("b", "bf16")), ["data"], {}, "'b' of 'k' is .bf16, which no argument of an operator is"),
    ],
)
def test_an_impossible_operator_is_reported(arguments: Any, writes: Any, makes: Any, message: str) -> None:
    with pytest.raises(DeviceError, match=message):
        make_plan("k", arguments, writes, makes, [])


def test_without_pytorch_the_error_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingLibraryError, match="torch_op makes an operator of PyTorch, which is not installed"):
        torch_op("ptxkit_tests::scaled", build_scaling(), grid=1, writes=["out"])


@needs_torch
@pytest.mark.device
def test_an_operator_creates_its_result_and_is_visible_to_the_compiler() -> None:
    torch: Any = importlib.import_module("torch")
    operator = torch_op(
        "ptxkit_tests::scaled", build_scaling(), grid=lambda count: -(-count // 128), makes={"out": empty_like}
    )
    operator.register_autograd(
        lambda context, gradient: (operator(gradient.contiguous(), context.count, context.factor), None, None),
        setup_context=lambda ctx, inputs, output: ctx.__dict__.update(count=inputs[1], factor=inputs[2]),
    )
    data = torch.randn(1000, device="cuda", requires_grad=True)
    torch.testing.assert_close(operator(data, 1000, 2.5), data * 2.5)
    torch.library.opcheck(operator, (data, 1000, 2.5))

    @torch.compile(fullgraph=True)
    def twice(values: Any) -> Any:
        return operator(operator(values, values.numel(), 2.0) + 1, values.numel(), 3.0)

    for size in (1000, 333):
        values = torch.randn(size, device="cuda", requires_grad=True)
        result = twice(values)
        torch.testing.assert_close(result, (values * 2 + 1) * 3)
        result.sum().backward()
        torch.testing.assert_close(values.grad, torch.full_like(values, 6.0))


@needs_torch
@pytest.mark.device
def test_an_operator_changes_its_tensors() -> None:
    torch: Any = importlib.import_module("torch")
    operator = torch_op("ptxkit_tests::scaled_to", build_scaling(), grid=8, writes=["out"])
    data, out = torch.randn(1000, device="cuda"), torch.zeros(1000, device="cuda")
    assert operator(data, out, 1000, factor=0.5) is None
    torch.testing.assert_close(out, data * 0.5)
    torch.library.opcheck(operator, (data, out, 1000, 0.5))

    @torch.compile(fullgraph=True)
    def step(values: Any, target: Any) -> Any:
        operator(values, target, values.numel(), 4.0)
        return target + 1

    torch.testing.assert_close(step(data, out), data * 4 + 1)
    torch.testing.assert_close(out, data * 4)
    with pytest.raises(NotImplementedError):
        operator(data.cpu(), out.cpu(), 1000, 0.5)
