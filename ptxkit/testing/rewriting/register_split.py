"""Renames registers by chains of moves."""

from __future__ import annotations

from typing import ClassVar

from ptxkit.testing.rewriting.value_detour import DetourCode, DetourRoute, ValueDetour, register_class


class RegisterSplit(ValueDetour):
    """Copies a register through others. A move assigns the same bits, a double negation the same truth value."""

    name: ClassVar[str] = "split-register"

    def detour(self, route: DetourRoute) -> DetourCode:
        bits, source, target, prefix = route.bits, route.source, route.target, route.prefix
        first, second = f"%{prefix}first", f"%{prefix}second"
        kind = register_class(bits)
        code = f"mov.{kind} {first}, {source}; mov.{kind} {second}, {first}; mov.{kind} {target}, {second};"
        if kind == "pred" and route.chance.random() < 0.5:
            code = f"not.pred {first}, {source}; and.pred {second}, {first}, {first}; not.pred {target}, {second};"
        return DetourCode(code, f".reg .{kind} {first}, {second};")
