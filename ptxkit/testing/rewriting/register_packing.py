"""Packs registers into wider ones and unpacks them again, as code does that keeps two values in one register."""

from __future__ import annotations

from typing import ClassVar

from ptxkit.testing.rewriting.value_detour import DetourCode, DetourRoute, ValueDetour, from_word, to_word


class RegisterPacking(ValueDetour):
    """Moves a register into a half of a wider one, or its halves into a vector, and back.

    A move of a vector concatenates or splits bits and changes none of them.
    """

    name: ClassVar[str] = "pack-registers"

    def detour(self, route: DetourRoute) -> DetourCode:
        bits, source, target, prefix = route.bits, route.source, route.target, route.prefix
        word, low, high, wide = (f"%{prefix}{part}" for part in ("word", "low", "high", "wide"))
        if bits == 64:
            code = f"mov.b64 {{{low}, {high}}}, {source}; mov.b64 {target}, {{{low}, {high}}};"
            return DetourCode(code, f".reg .b32 {low}, {high};")
        code, packed, _ = to_word(bits, source, word)
        filling = route.chance.choice(("0", "-1", "%laneid", "%clock"))
        code += f" mov.u32 {high}, {filling};"
        pair = route.chance.choice((f"{packed}, {high}", f"{high}, {packed}"))
        again = f"{word}, {high}" if pair.startswith(packed) else f"{high}, {word}"
        code += f" mov.b64 {wide}, {{{pair}}}; mov.b64 {{{again}}}, {wide}; {from_word(bits, word, target)}"
        return DetourCode(code, f".reg .b32 {word}, {high}; .reg .b64 {wide};")
