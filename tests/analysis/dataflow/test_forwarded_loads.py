"""The loads from shared and local memory that return a register which the thread has just stored."""

from __future__ import annotations

import pytest

from ptxkit.analysis.abstract_interpretation.register_values import AbstractRegisters
from ptxkit.analysis.dataflow.forwarded_loads import forwarded_loads
from ptxkit.linter import lint
from tests.analysis.support import module_of, program_of
from tests.rules.support import Case

SLOT = ".shared .align 8 .b8 slots[1024]; mov.u32 %r1, slots; "


def loads_of(body: str) -> list[tuple[str, str]]:
    """Returns (opcode, register that it returns) of the forwarded loads of a kernel."""
    found = forwarded_loads(program_of(module_of(SLOT + body)))
    return [(step.instruction.opcode, register.text) for step, register in found.items()]


@pytest.mark.parametrize(
    "body",
    [
        "st.shared.b32 [%r1], %r5; ld.shared.b32 %r6, [%r1];",
        "st.shared.b32 [%r1+8], %r5; mov.u32 %r2, 7; ld.global.b32 %r3, [%rd1]; ld.shared.b32 %r6, [%r1+8];",
        "st.shared.b32 [%r1], %r5; ld.shared.b32 %r7, [%r2]; ld.shared.b32 %r6, [%r1];",
        "@%p1 st.shared.b32 [%r1], %r5; @%p1 ld.shared.b32 %r6, [%r1];",
        "st.shared.b32 [slots], %r5; ld.shared.b32 %r6, [slots];",
    ],
)
def test_a_load_of_what_the_thread_stored_is_found(body: str) -> None:
    assert loads_of(body) == [("ld.shared.b32", "%r5")]


LOCAL = ".local .align 8 .b8 own[32]; "


def test_a_load_from_local_memory_is_found() -> None:
    assert loads_of(f"{LOCAL}st.local.b32 [own+8], %r5; ld.local.b32 %r6, [own+8];") == [("ld.local.b32", "%r5")]
    assert loads_of(f"{LOCAL}st.local.b32 [own], %r5; st.shared.b32 [%r1], %r7; ld.local.b32 %r6, [own];") != []


@pytest.mark.parametrize("between", ["st.local.b32 [own+4], %r7;", "st.b32 [%rd2], %r7;", "add.u32 %r5, %r5, 4;"])
def test_a_load_from_local_memory_that_may_have_changed_is_not_found(between: str) -> None:
    assert loads_of(f"{LOCAL}st.local.b32 [own], %r5; {between} ld.local.b32 %r6, [own];") == []


def test_a_spilled_address_remains_in_its_space() -> None:
    spill = f"{LOCAL}st.local.b32 [own], %r1; ld.local.b32 %r6, [own]; add.u32 %r6, %r6, 4; ld.shared.b32 %r7, [%r6];"
    program = program_of(module_of(SLOT + spill))
    (load,) = program.definitions["%r7"]
    spaces = AbstractRegisters(program).spaces_of(load, load.instruction.operands[1])
    assert spaces == {"shared"}


@pytest.mark.parametrize(
    "between",
    [
        "bar.sync 0;",
        "bar.warp.sync -1;",
        "fence.proxy.async;",
        "membar.cta;",
        "atom.shared.add.u32 %r7, [%r2], 1;",
        "ld.acquire.cta.shared.b32 %r7, [%r2];",
        "cp.async.wait_all;",
        "st.shared.b32 [%r2], %r7;",
        "st.b32 [%rd2], %r7;",
        "add.u32 %r1, %r1, 4;",
        "add.u32 %r5, %r5, 4;",
        "place: setp.eq.u32 %p1, %r7, 0;",
        "@%p1 bra place; place:",
    ],
)
def test_a_load_is_not_forwarded_where_the_memory_or_a_register_may_have_changed(between: str) -> None:
    assert loads_of(f"st.shared.b32 [%r1], %r5; {between} ld.shared.b32 %r6, [%r1];") == []


@pytest.mark.parametrize(
    "body",
    [
        "st.shared.b32 [%r1], %r5; ld.shared.b32 %r6, [%r1+4];",
        "st.shared.b32 [%r1], %r5; ld.shared.b16 %h1, [%r1];",
        "st.shared.b32 [%r1], %rd5; ld.shared.b32 %rd6, [%r1];",
        "st.volatile.shared.b32 [%r1], %r5; ld.volatile.shared.b32 %r6, [%r1];",
        "@%p1 st.shared.b32 [%r1], %r5; ld.shared.b32 %r6, [%r1];",
        "@%p1 st.shared.b32 [%r1], %r5; @!%p1 ld.shared.b32 %r6, [%r1];",
        "@%p1 st.shared.b32 [%r1], %r5; setp.eq.u32 %p1, %r7, 0; @%p1 ld.shared.b32 %r6, [%r1];",
        "st.shared.v2.b32 [%r1], {%r5, %r7}; ld.shared.v2.b32 {%r6, %r8}, [%r1];",
    ],
)
def test_other_loads_are_not_forwarded(body: str) -> None:
    assert loads_of(body) == []


def test_an_address_that_is_spilled_to_shared_memory_keeps_its_error() -> None:
    body = """mov.u64 %rd3, tile; st.shared.b64 [%r9], %rd3; ld.shared.b64 %rd4, [%r9];
ld.global.b32 %r10, [%rd4];"""
    assert [each.code for each in lint(Case("a spilled address", body).text).diagnostics] == ["PTX208"]
