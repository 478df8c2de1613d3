"""Reads a PTX kernel with a header (`ptx_header`) as a litmus test."""

from __future__ import annotations

from ptxkit.memory_model.conditions import parse_condition
from ptxkit.memory_model.errors import LitmusError
from ptxkit.memory_model.litmus_test import LitmusTest, LitmusThread
from ptxkit.memory_model.ptx_events import EventMaker
from ptxkit.memory_model.ptx_header import read_header
from ptxkit.memory_model.ptx_memory import PtxMemory, initial_values
from ptxkit.memory_model.ptx_threads import PtxCode, decorate
from ptxkit.memory_model.ptx_values import PtxOperandReader, special_values
from ptxkit.memory_model.traces import enumerate_traces
from ptxkit.semantics.linear_code import linearize
from ptxkit.semantics.symbols import NameScope
from ptxkit.syntax import PTXSyntaxError, parse
from ptxkit.syntax.tree import Declaration, Function

_ROUNDS = 8
"""Rounds in which the locations of copies are found: one for each copy in a chain."""


def parse_ptx_test(text: str) -> LitmusTest:
    """Returns the test of a module with one kernel. Raises LitmusError."""
    header = read_header(text)
    try:
        module = parse(text)
    except PTXSyntaxError as error:
        raise LitmusError(f"the module cannot be parsed: {error}", "`ptxkit lint` shows the place") from error
    kernels = [each for each in module.functions() if each.kind == "entry" and each.body is not None]
    if len(kernels) != 1 or kernels[0].body is None:
        raise LitmusError(f"a test has one kernel, and this module has {len(kernels)}", "write one `.entry`")
    kernel, scope, memory = kernels[0], NameScope(), PtxMemory(header.places)
    for item in module.items:
        if isinstance(item, Declaration | Function):
            scope.enter(item)
        if isinstance(item, Declaration):
            memory.declare(item)
    memory.declare_parameters(kernel)
    inner = scope.make_nested()
    inner.enter_parameters(kernel)
    code = linearize(kernels[0].body, inner)
    for declaration, _ in code.variables:
        memory.declare(declaration)
    steps = decorate(code)
    threads = []
    for at, place in enumerate(header.places):
        reader = PtxOperandReader(memory, place, special_values(memory, place))
        threads.append(LitmusThread(f"P{at}", place, PtxCode(steps, reader, EventMaker(memory, place, reader))))
    test = LitmusTest(
        header.title or kernel.name,
        tuple(threads),
        initial_values(memory, header.initial),
        header.query,
        parse_condition(header.condition, memory.location_name) if header.query != "race" else None,
        expected=header.verdict,
        sections=header.sections,
    )
    for _ in range(_ROUNDS):
        before = len(memory.used)
        enumerate_traces(test)
        if len(memory.used) == before:
            break
    return test
