"""Special registers: `k.tid.x`, `k.ctaid.y`, `k.laneid`, ...

The module has only special registers whose value does not change within a thread; each is read once, in the prologue.
Registers that change (`%clock64`) must be read explicitly: `k.emit("mov.u64", d, tree.Name("%clock64"))`.

Source: PTX ISA, "Special Registers".
"""

from __future__ import annotations

from ptxkit.build.errors import BuildValueError
from ptxkit.build.instructions import InstructionBuilder
from ptxkit.build.recorder import PrologueContext
from ptxkit.build.registers import Register
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa import table
from ptxkit.isa.forms import Gate
from ptxkit.kernel_model.scalar_types import SCALARS, u32
from ptxkit.syntax import tree


@dataclass(frozen=True, slots=True)
class Dim3Register:
    """A special register with the components `.x`, `.y` and `.z`."""

    builder: InstructionBuilder
    name: str

    @property
    def x(self) -> Register[u32]:
        return read_special(self.builder, f"{self.name}.x")

    @property
    def y(self) -> Register[u32]:
        return read_special(self.builder, f"{self.name}.y")

    @property
    def z(self) -> Register[u32]:
        return read_special(self.builder, f"{self.name}.z")


def special(k: InstructionBuilder, name: str) -> Register[u32]:
    """Returns a 32-bit special register that does not change within a thread, by its PTX name: `%smid`, `%lanemask_lt`.

    Raises `BuildValueError` if there is no such register with this name.
    """
    from difflib import get_close_matches

    found = table().special(name) if name.startswith("%") else None
    if found is None or found.vector != ("." in name) or SCALARS[found.type].bits != u32.bits:
        near = get_close_matches(name, [each.name for each in table().specials], n=1)
        parts = f"; use {name}.x" if found is not None and found.vector and "." not in name else ""
        wide = f"; it has {SCALARS[found.type].bits} bits" if found is not None and not parts else ""
        hint = f"; did you mean {near[0]!r}?" if near and found is None else ""
        raise BuildValueError(f"no special register of 32 bits is called {name!r}{parts}{wide}{hint}")
    if found.requirements and name not in k.specials:
        k.raw_gates.append(Gate(name, found.requirements))
    return read_special(k, name)


def read_special(k: InstructionBuilder, name: str) -> Register[u32]:
    """Returns a special register by a name that is known to be valid."""
    known = k.specials.get(name)
    if known is None:
        known = k.specials[name] = k.register(u32)
        with PrologueContext(k.recorder):
            k.append("mov.u32", (tree.Name(known.name), tree.Name(name)))
    return known


def constant_register(k: InstructionBuilder, value: int) -> Register[u32]:
    """Returns a 32-bit constant in a register that the prologue writes, for operands that cannot be constants."""
    key = f"#{value & 0xFFFFFFFF}"
    known = k.specials.get(key)
    if known is None:
        known = k.specials[key] = k.register(u32)
        with PrologueContext(k.recorder):
            constant = tree.Integer(value & 0xFFFFFFFF, str(value & 0xFFFFFFFF))
            k.append("mov.u32", (tree.Name(known.name), constant))
    return known
