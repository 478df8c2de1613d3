"""Chains of integer operations whose result is their operand."""

from __future__ import annotations

from typing import ClassVar

from ptxkit.testing.rewriting.value_detour import (
    DetourCode,
    DetourRoute,
    ValueDetour,
    from_word,
    register_class,
    to_word,
)

_OPAQUE = ("%clock", "%laneid", "0x5bd1e995")
"""Values that are combined with the register and removed again; the analysis knows only some of them."""


class IdentityChain(ValueDetour):
    """Combines a register with another value by an operation, and removes that value by the inverse operation.

    Addition and exclusive or of integers are invertible modulo 2^32 and 2^64; a selection between equal values, a
    permutation that keeps the order of the bytes, and a shift by zero change nothing.
    """

    name: ClassVar[str] = "identity-chain"

    def detour(self, route: DetourRoute) -> DetourCode:
        bits, source, target, prefix = route.bits, route.source, route.target, route.prefix
        word, other, test = f"%{prefix}word", f"%{prefix}other", f"%{prefix}test"
        code, value, wide = to_word(bits, source, word)
        opaque = route.chance.choice(_OPAQUE)
        code += f" mov.u32 {other}32, {opaque};"
        code += f" mov.b32 {other}, {other}32;" if wide == 32 else f" cvt.u64.u32 {other}, {other}32;"
        links = [
            f"xor.b{wide} {word}, {value}, {other}; xor.b{wide} {word}, {other}, {word};",
            f"add.u{wide} {word}, {value}, {other}; sub.u{wide} {word}, {word}, {other};",
            f"setp.lt.u{wide} {test}, {other}, {value}; selp.b{wide} {word}, {value}, {value}, {test};",
            f"not.b{wide} {word}, {value}; not.b{wide} {word}, {word};",
        ]
        if wide == 32:
            links += [
                f"prmt.b32 {word}, {value}, {other}, 0x3210;",
                f"prmt.b32 {word}, {other}, {value}, 0x7654;",
                f"shf.l.wrap.b32 {word}, {other}, {value}, 0;",
            ]
        code += f" {route.chance.choice(links)} {from_word(bits, word, target)}"
        declarations = (
            f".reg .b{wide} {word}; .reg .b32 {other}32; .reg .{register_class(wide)} {other}; .reg .pred {test};"
        )
        return DetourCode(code, declarations)
