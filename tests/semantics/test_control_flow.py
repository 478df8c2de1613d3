"""The successors of an instruction."""

from __future__ import annotations

import pytest

from ptxkit.isa import table
from ptxkit.isa.forms import Match
from ptxkit.semantics.control_flow import successors_of
from ptxkit.semantics.linear_code import linearize
from ptxkit.semantics.symbols import NameScope
from ptxkit.syntax import parse


@pytest.mark.parametrize(
    ("body", "following"),
    [
        ("mov.u32 %r1, 0;", (1,)),
        ("@%p1 mov.u32 %r1, 0;", (1,)),
        ("ret;", ()),
        ("@%p1 exit;", (1,)),
        ("trap;", ()),
        ("call f;", (1,)),
        ("bra on; ret; on: ret;", (2,)),
        ("@%p1 bra on; ret; on: ret;", (1, 2)),
        ("bra on; on:", (1,)),
        ("bra nowhere;", ()),
        ("list: .branchtargets on, off; brx.idx %r1, list; on: ret; off: ret;", (1, 2)),
        ("list: .branchtargets on<2>, off; brx.idx %r1, list; off: ret; on0: ret; on1: ret;", (2, 3, 1)),
        ("list: .branchtargets on<3>; brx.idx %r1, list; on0: ret; on1: ret;", ()),
        ("list: .branchtargets on, off; @!%p1 brx.idx %r1, list; off: ret; on: ret;", (1, 2, 1)),
        ("frobnicate.u32 %r1, %r2;", (1,)),
    ],
)
def test_control_continues_where_the_instruction_specifies(body: str, following: tuple[int, ...]) -> None:
    module = parse(f".version 8.0 .target sm_80 .address_size 64 .func f; .func g {{ {body} }}")
    found = module.function("g").body
    assert found is not None
    step = linearize(found, NameScope()).steps[0]
    match = table().match(step.instruction)
    assert successors_of(step, match.effects if isinstance(match, Match) else ()) == following
