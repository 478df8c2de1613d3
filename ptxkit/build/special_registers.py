"""Special registers: `k.tid.x`, `k.ctaid.y`, `k.laneid`, ...

Only those whose value a thread keeps are here; they are read once, in the prologue, however often they are named.
Those that change (`%clock64`) are read where it matters: `k.emit("mov.u64", d, tree.Name("%clock64"))`.

Source: PTX ISA, "Special Registers".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxkit.build.errors import BuildValueError
from ptxkit.build.instructions import InstructionBuilder
from ptxkit.build.recorder import PrologueContext
from ptxkit.build.registers import Register
from ptxkit.build.scalar_types import SCALARS, u32
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa import table
from ptxkit.isa.forms import Gate, Requirement
from ptxkit.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

CLUSTER_REQUIREMENTS = (Requirement((7, 8), 90),)


@dataclass(frozen=True, slots=True)
class Dim3Register:
    """A special register with the components `.x`, `.y` and `.z`."""

    builder: SpecialRegisterBuilder
    name: str

    @property
    def x(self) -> Register[u32]:
        return self.builder.read_special(f"{self.name}.x")

    @property
    def y(self) -> Register[u32]:
        return self.builder.read_special(f"{self.name}.y")

    @property
    def z(self) -> Register[u32]:
        return self.builder.read_special(f"{self.name}.z")


class SpecialRegisterBuilder(InstructionBuilder):
    """The special registers as attributes."""

    def special(self, name: str) -> Register[u32]:
        """A 32-bit special register that never changes within a thread, by its PTX name: `%smid`, `%lanemask_lt`.

        BuildValueError for a name that no such register has.
        """
        from difflib import get_close_matches

        found = table().special(name) if name.startswith("%") else None
        if found is None or found.vector != ("." in name) or SCALARS[found.type].bits != u32.bits:
            near = get_close_matches(name, [each.name for each in table().specials], n=1)
            parts = f"; say {name}.x" if found is not None and found.vector and "." not in name else ""
            wide = f"; it has {SCALARS[found.type].bits} bits" if found is not None and not parts else ""
            hint = f"; did you mean {near[0]!r}?" if near and found is None else ""
            raise BuildValueError(f"no special register of 32 bits is called {name!r}{parts}{wide}{hint}")
        if found.requirements and name not in self.specials:
            self.raw_gates.append(Gate(name, found.requirements))
        return self.read_special(name)

    def read_special(self, name: str) -> Register[u32]:
        """The same for a name that is known to be right."""
        known = self.specials.get(name)
        if known is None:
            known = self.specials[name] = self.register(u32)
            with PrologueContext(self):
                self._append("mov.u32", (tree.Name(known.name), tree.Name(name)))
        return known

    def constant_register(self, value: int) -> Register[u32]:
        """A 32-bit constant in a register, written once in the prologue: for operands that take no constants."""
        key = f"#{value & 0xFFFFFFFF}"
        known = self.specials.get(key)
        if known is None:
            known = self.specials[key] = self.register(u32)
            with PrologueContext(self):
                constant = tree.Integer(value & 0xFFFFFFFF, str(value & 0xFFFFFFFF))
                self._append("mov.u32", (tree.Name(known.name), constant))
        return known

    @property
    def tid(self) -> Dim3Register:
        """The thread's index within its CTA."""
        return Dim3Register(self, "%tid")

    @property
    def ntid(self) -> Dim3Register:
        """The shape of the CTA, in threads."""
        return Dim3Register(self, "%ntid")

    @property
    def ctaid(self) -> Dim3Register:
        """The CTA's index within the grid."""
        return Dim3Register(self, "%ctaid")

    @property
    def nctaid(self) -> Dim3Register:
        """The shape of the grid, in CTAs."""
        return Dim3Register(self, "%nctaid")

    @property
    def clusterid(self) -> Dim3Register:
        """The cluster's index within the grid."""
        return Dim3Register(self, "%clusterid")

    @property
    def cluster_ctaid(self) -> Dim3Register:
        """The CTA's index within its cluster."""
        return Dim3Register(self, "%cluster_ctaid")

    @property
    def cluster_ctarank(self) -> Register[u32]:
        """The CTA's rank within its cluster."""
        return self.read_special("%cluster_ctarank")

    @property
    def cluster_nctarank(self) -> Register[u32]:
        """The number of CTAs in the cluster."""
        return self.read_special("%cluster_nctarank")

    @property
    def laneid(self) -> Register[u32]:
        """The thread's lane within its warp."""
        return self.read_special("%laneid")

    @property
    def dynamic_smem_size(self) -> Register[u32]:
        """Bytes of shared memory that the launch asked for."""
        return self.read_special("%dynamic_smem_size")

    def special_gates(self) -> Iterator[Gate]:
        """What the special registers in use need, where that is above the builder's floor."""
        for name in self.specials:
            if name.startswith(("%cluster", "%ncluster", "%is_explicit_cluster")):
                yield Gate(name, CLUSTER_REQUIREMENTS)
