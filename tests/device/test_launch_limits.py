"""Launches that break a condition of the kernel's contract are refused before anything runs."""

from __future__ import annotations

import pytest

from ptxkit import parse
from ptxkit.device import ArgumentError, LaunchError, Signature, compile  # noqa: A004
from ptxkit.device.geometry import make_geometry
from ptxkit.device.signature import make_module_signatures
from ptxkit.kernel_model.launch_limits import find_launch_limits
from ptxkit.kernel_model.source_lines import Assembled
from tests.analysis.contract.support import text_of
from tests.analysis.contract.test_conditions import DYNAMIC, NAMED, REMOTE, bulk_copy
from tests.device.test_arguments import Fake, kernel_arguments


def signature_of(text: str) -> Signature:
    module = parse(text, "k.ptx")
    [signature] = make_module_signatures(module)
    return signature.with_limits(find_launch_limits(Assembled(module, ()), "k")["k"])


def test_an_array_that_is_not_aligned_is_refused() -> None:
    signature = signature_of(bulk_copy())
    assert kernel_arguments(signature, (Fake(0x1010),)) == [0x1010]
    with pytest.raises(ArgumentError, match="'p' must be aligned to 16 bytes; this array begins at 0x1008"):
        kernel_arguments(signature, (Fake(0x1008),))


def test_a_block_of_a_failing_size_is_refused() -> None:
    signature = signature_of(text_of(NAMED, bounds=""))
    assert make_geometry(signature, 1, 64).block == (64, 1, 1)
    with pytest.raises(LaunchError, match=r"'k': The block must not have 32 threads, .* \(ptx:\d+\); the launch has "):
        make_geometry(signature, 1, 32)


def test_a_cluster_that_lacks_a_rank_is_refused() -> None:
    signature = signature_of(text_of(REMOTE.replace("RANK", "2")))
    assert make_geometry(signature, 4, cluster=4).cluster == (4, 1, 1)
    with pytest.raises(LaunchError, match="The cluster must have at least 3 CTAs"):
        make_geometry(signature, 4, cluster=2)
    with pytest.raises(LaunchError, match="The cluster must have at least 3 CTAs"):
        make_geometry(signature, 4)


def test_too_little_dynamic_shared_memory_is_refused() -> None:
    body = "mov.u32 %r2, smem; st.shared.u32 [%r2+512], %r2;"
    signature = signature_of(text_of(body, before=DYNAMIC))
    assert make_geometry(signature, 1, shared=516).shared == 516
    with pytest.raises(LaunchError, match=r"at least 516 bytes of dynamic shared memory .*, 512 bytes of launch-sized"):
        make_geometry(signature, 1, shared=512)


def test_a_compiled_kernel_has_the_limits() -> None:
    text = bulk_copy()
    compiled = compile(text, "sm_90a", cache=False).kernel()
    assert compiled.limits == signature_of(text).limits
    assert [kind for kind, *_ in compiled.limits] == ["alignment"]
    assert compile(text, "sm_90a", verify=False, cache=False).kernel().limits == ()


def test_a_condition_of_a_guarded_line_refuses_nothing() -> None:
    body = """
    ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; setp.eq.u32 %p1, %r1, 0; @%p1 bra $end;
    ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];
    $end:
    """
    signature = signature_of(text_of(body, parameters=".param .u64 p, .param .u32 n"))
    assert signature.limits == ()
    assert kernel_arguments(signature, (Fake(0x1008), 0))[0] == 0x1008
