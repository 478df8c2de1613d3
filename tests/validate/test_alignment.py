"""Offsets from variables that no placement of the variable makes aligned."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.diagnostics import Severity
from tests.validate.modules import accepted_by_ptxas, diagnostics, whole

HEAD = """\
.global .align 16 .b8 g[64]; .shared .align 4 .b8 s[64]; .shared .b8 bytes[64]; .global .b64 wide[8];
.const .v4 .b32 c[4]; .shared .align 8 .b64 bar[2];
.entry k (.param .b64 q, .param .b32 p[4]) {
.reg .b16 %h<3>; .reg .b32 %r<5>; .reg .b64 %rd<5>; .local .align 8 .b8 l[64];
"""

PAIRS = [
    ("ld.global.b32 %r1, [g+4];", "ld.global.b32 %r1, [g+2];", "operand 2 of `ld.global.b32` is 2 bytes from `g`"),
    ("ld.global.b32 %r1, [g+-4];", "ld.global.b32 %r1, [g+-3];", "-3 bytes from `g`"),
    ("st.shared.b64 [s+4], %rd1;", "st.shared.b64 [s+6], %rd1;", "begins at a multiple of 4"),
    ("ld.shared.b64 %rd1, [bytes+3];", "ld.local.b64 %rd1, [l+4];", "aligned to 8 bytes"),
    ("ld.global.v2.b32 {%r1, %r2}, [g+8];", "ld.global.v2.b32 {%r1, %r2}, [g+4];", "aligned to 8 bytes"),
    ("ld.const.v4.b32 {%r1, %r2, %r3, %r4}, [c+16];", "ld.const.v4.b32 {%r1, %r2, %r3, %r4}, [c+8];", "`c`"),
    ("ld.param.b64 %rd1, [q];", "ld.param.b64 %rd1, [p+2];", "2 bytes from `p`"),
    ("atom.global.add.u32 %r1, [g+8], 1;", "atom.global.add.u32 %r1, [g+1], 1;", "narrower access"),
    ("ld.shared.b32 %r1, s[4];", "ld.shared.b32 %r1, s[3];", "3 bytes from `s`"),
    ("ld.global.v2.b64 {%rd1, %rd2}, wide[1];", "ld.global.b32 %r1, [wide+6];", "a multiple of 4"),
    ("ld.global.b32 %r1, [%rd1+2];", "st.global.b16 [g+5], %h1;", "a multiple of 2"),
]


@pytest.mark.parametrize(("right", "wrong", "words"), PAIRS, ids=[wrong for _, wrong, _ in PAIRS])
def test_an_offset_that_cannot_be_aligned_is_a_warning(right: str, wrong: str, words: str, tmp_path: Path) -> None:
    assert diagnostics(whole(f"{HEAD}{right}\nret;\n}}")) == ()
    text = whole(f"{HEAD}{wrong}\nret;\n}}")
    (found,) = diagnostics(text)
    assert (found.code, found.severity) == ("PTX204", Severity.WARNING)
    assert words in f"{found.message}; {found.help}"
    assert accepted_by_ptxas(text, tmp_path, 0)
