"""Spills registers to local memory and loads them again, as compilers do where registers are scarce."""

from __future__ import annotations

from typing import ClassVar

from ptxkit.testing.rewriting.value_detour import DetourCode, DetourRoute, ValueDetour, from_word, to_word


class LocalSpill(ValueDetour):
    """Stores a register in a local variable and loads it again.

    Local memory is private to the thread, and nothing else accesses the new variable, so the value is the same.
    """

    name: ClassVar[str] = "spill-local"

    def detour(self, route: DetourRoute) -> DetourCode:
        bits, source, target, prefix = route.bits, route.source, route.target, route.prefix
        word = f"%{prefix}word"
        code, stored, wide = to_word(bits, source, word)
        offset = route.chance.choice((0, 8, 16))
        code += f" st.local.b{wide} [{prefix}slot+{offset}], {stored};"
        code += f" ld.local.b{wide} {word}, [{prefix}slot+{offset}]; {from_word(bits, word, target)}"
        return DetourCode(code, f".local .align 8 .b8 {prefix}slot[32]; .reg .b{wide} {word};")
