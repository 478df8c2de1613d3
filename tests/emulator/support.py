"""Shared by the tests of the machine: kernels of a few lines of PTX."""

from __future__ import annotations

from typing import Any

import numpy

from ptxkit.emulator import RunResult, run

HEAD = """.version 8.6
.target sm_100a
.address_size 64
"""

REGISTERS = """ .reg .pred %p<16>; .reg .b16 %h<16>; .reg .b32 %r<32>; .reg .b64 %d<32>;
 .reg .f32 %f<16>; .reg .f64 %e<8>; .reg .b128 %q<4>;
"""


def kernel(body: str, parameters: str = "", outside: str = "") -> str:
    """Returns a module with one kernel `k`, in which registers %p %h %r %d %f %e %q are declared."""
    return f"{HEAD}{outside}\n.visible .entry k({parameters})\n{{\n{REGISTERS}{body}\n ret;\n}}\n"


def compute_line(
    body: str, threads: int = 32, *, inputs: Any = None, words: int = 1, outside: str = "", **launch: Any
) -> Any:
    """Returns the values of each thread in %r0 (and %r1...: `words` registers), as an array (threads, words) of uint32.

    `%r31` is the thread's number, `%d31` the address of `inputs` where these are given.
    """
    parameters = ".param .u64 out" + (", .param .u64 in" if inputs is not None else "")
    before = " mov.u32 %r31, %tid.x;\n" + (" ld.param.u64 %d31, [in];\n" if inputs is not None else "")
    store = "".join(f" st.global.u32 [%d30+{4 * word}], %r{word};\n" for word in range(words))
    after = f"\n ld.param.u64 %d30, [out];\n mad.wide.u32 %d30, %r31, {4 * words}, %d30;\n{store}"
    out = numpy.zeros((threads, words), numpy.uint32)
    arguments = [out] if inputs is None else [out, inputs]
    text = kernel(before + body + after, parameters, outside)
    found = run(text, "k", block=threads, arguments=arguments, **launch)
    assert not found.unsupported_reason, found.unsupported_reason
    assert not found.incomplete_reason, found.incomplete_reason
    assert not found.findings, found.findings
    return found.outputs[0] if words > 1 else found.outputs[0][:, 0]


def outcome(body: str, threads: int = 32, *, parameters: str = "", outside: str = "", **launch: Any) -> RunResult:
    """Runs a kernel with this body and returns its findings."""
    return run(kernel(body, parameters, outside), "k", block=threads, **launch)
