"""The memory of a PTX litmus test: variables, their addresses, and the locations of accesses.

Each variable of a module, each parameter that is the address of one, and the shared memory of each CTA has a range of
addresses. A location is a variable with an offset and a size, as a scalar access uses it; copies are copies of the
locations that scalar accesses use. Its name is `x`, `x+4`, or `tile@1` in the shared memory of CTA 1,
if there are several.

Source: PTX ISA, "State Spaces", "Generic Addressing", "Memory Operations on Vector Data Types".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.memory_model.errors import LitmusError
from ptxkit.memory_model.events import Placement
from ptxkit.semantics.layout import DeclaredVariable, align_up, lay_out_parameters, variable_of
from ptxkit.syntax.tree import Declaration, Function

_GLOBAL_BASE, _GLOBAL_STEP = 0x7000_0000_0000, 1 << 32
_SHARED_WINDOW, _SHARED_STEP = 0x7F10_0000_0000, 1 << 24
_PARAMETER_WINDOW = 0x7E10_0000_0000
_RESERVED_SHARED = 1024
_ALIGNMENT = 128


@dataclass(frozen=True, slots=True)
class PtxLocation:
    """A location. variable: its name; cta: whose shared memory it is in, or None; offset, size: bytes."""

    variable: str
    cta: int | None
    offset: int
    size: int
    space: str

    @property
    def name(self) -> str:
        """Its name in conditions and drawings."""
        offset = f"+{self.offset}" if self.offset else ""
        return f"{self.variable}{offset}" + ("" if self.cta is None else f"@{self.cta}")


@dataclass(slots=True, eq=False)
class PtxMemory:
    """The variables of a kernel. places: of the threads. used: the locations of scalar accesses found so far."""

    places: Sequence[Placement]
    global_bases: dict[str, int] = field(default_factory=dict)
    shared_offsets: dict[str, DeclaredVariable] = field(default_factory=dict)
    parameter_values: dict[int, int] = field(default_factory=dict)
    parameter_offsets: dict[str, int] = field(default_factory=dict)
    used: set[PtxLocation] = field(default_factory=set)
    _shared_end: int = _RESERVED_SHARED

    def declare(self, declaration: Declaration) -> None:
        """Gives addresses to the variables of a declaration."""
        for declarator in declaration.declarators:
            if declaration.space == "shared":
                variable = variable_of(declaration, declarator)
                address = align_up(self._shared_end, max(variable.alignment, 1))
                self.shared_offsets[declarator.name] = _at(variable, address)
                self._shared_end = address + max(variable.size, _ALIGNMENT)
            elif declaration.space in ("global", "const"):
                self._add_global(declarator.name)

    def declare_parameters(self, function: Function) -> None:
        """Gives a variable in global memory to each parameter of 64 bits, which is its address."""
        offsets, _ = lay_out_parameters(function.parameters)
        for declaration, offset in zip(function.parameters, offsets, strict=True):
            name = declaration.declarators[0].name
            self.parameter_offsets[name] = offset
            if declaration.type in ("u64", "b64", "s64"):
                self.parameter_values[offset] = self._add_global(name)

    def _add_global(self, name: str) -> int:
        base = _GLOBAL_BASE + _GLOBAL_STEP * len(self.global_bases)
        return self.global_bases.setdefault(name, base)

    def rank_of(self, cta: int) -> int:
        """Returns the rank of a CTA in its cluster."""
        own = next(place.cluster for place in self.places if place.cta == cta)
        return sorted({place.cta for place in self.places if place.cluster == own}).index(cta)

    def home(self, cta: int) -> int | None:
        """Returns the CTA of a location in shared memory; None where the test has only one, which is not named."""
        return cta if len({place.cta for place in self.places}) > 1 else None

    def cta_of(self, rank: int, place: Placement) -> int:
        """Returns the CTA with a rank in the cluster of a thread. Raises LitmusError."""
        ctas = sorted({each.cta for each in self.places if each.cluster == place.cluster})
        if rank >= len(ctas):
            raise LitmusError(f"the cluster has no CTA of rank {rank}", "name one more thread, in this CTA")
        return ctas[rank]

    def address_of(self, name: str, place: Placement) -> int | None:
        """Returns the address of a variable in its state space; None if there is no such variable."""
        variable = self.shared_offsets.get(name)
        if variable is not None:
            return variable.address + _SHARED_STEP * self.rank_of(place.cta)
        if name in self.parameter_offsets:
            return self.parameter_offsets[name]
        return self.global_bases.get(name)

    def to_generic(self, space: str, address: int) -> int:
        """Returns the generic address of an address in a state space."""
        if space.startswith("shared"):
            return _SHARED_WINDOW + address
        return _PARAMETER_WINDOW + address if space.startswith("param") else address

    def from_generic(self, space: str, address: int) -> int:
        """Returns the address in a state space of a generic address."""
        if space.startswith("shared"):
            return address - _SHARED_WINDOW
        return address - _PARAMETER_WINDOW if space.startswith("param") else address

    def map_rank(self, space: str, address: int, rank: int) -> int:
        """Returns the same address in the shared memory of another CTA (`mapa`)."""
        start = _SHARED_WINDOW if space == "generic" else 0
        return start + (address - start) % _SHARED_STEP + rank * _SHARED_STEP

    def locate(self, space: str, address: int, size: int, place: Placement) -> PtxLocation:
        """Returns the location of an access. Raises LitmusError if it is in no variable."""
        if space == "generic" and address >= _SHARED_WINDOW:
            space, address = "shared::cluster", address - _SHARED_WINDOW
        if space.startswith("shared"):
            cta = self.home(self.cta_of(address // _SHARED_STEP, place))
            offset = address % _SHARED_STEP
            for variable in self.shared_offsets.values():
                if variable.address <= offset < variable.address + max(variable.size, _ALIGNMENT):
                    return PtxLocation(variable.name, cta, offset - variable.address, size, "shared")
        for name, base in self.global_bases.items():
            if base <= address < base + _GLOBAL_STEP:
                return PtxLocation(name, None, address - base, size, "global")
        raise LitmusError(f"an access to address {address:#x} of .{space} is in no variable", "give it one's address")

    def use(self, location: PtxLocation) -> PtxLocation:
        """Notes a scalar access. Raises LitmusError if it overlaps another one partially."""
        for other in self.used:
            same = (other.variable, other.cta) == (location.variable, location.cta)
            apart = other.offset + other.size <= location.offset or location.offset + location.size <= other.offset
            if same and not apart and other != location:
                raise LitmusError(
                    f"accesses of {other.size} and {location.size} bytes overlap at `{location.name}`",
                    "use one size for each location: the axioms do not cover mixed sizes",
                )
        self.used.add(location)
        return location

    def location_name(self, name: str) -> str:
        """Returns the name of a location in a condition: shared memory without a CTA is that of the only one. Raises
        LitmusError for an unknown variable.
        """
        base = name.partition("@")[0].partition("+")[0]
        if base in self.shared_offsets and "@" not in name:
            ctas = sorted({place.cta for place in self.places})
            if len(ctas) > 1:
                raise LitmusError(f"`{name}` is in the shared memory of each CTA", f"write `{name}@{ctas[0]}`")
        if base not in self.shared_offsets and base not in self.global_bases:
            raise LitmusError(f"`{name}` is no variable of the kernel", "write `P0:%r1` for a register")
        return name

    def copy_pairs(self, source: PtxLocation, target: PtxLocation) -> Iterator[tuple[PtxLocation, PtxLocation]]:
        """Yields the pairs of locations that a copy from one range of bytes to another concerns; the first word if no
        other access does.
        """
        pairs: dict[tuple[PtxLocation, PtxLocation], None] = {}
        for used in sorted(self.used, key=lambda each: (each.name, each.size)):
            for mine, theirs in ((source, target), (target, source)):
                if (used.variable, used.cta) != (mine.variable, mine.cta):
                    continue
                at = used.offset - mine.offset
                if at >= 0 and at + used.size <= mine.size:
                    other = PtxLocation(theirs.variable, theirs.cta, theirs.offset + at, used.size, theirs.space)
                    pairs[(used, other) if mine is source else (other, used)] = None
        if not pairs:
            size = min(4, source.size)
            first = (PtxLocation(each.variable, each.cta, each.offset, size, each.space) for each in (source, target))
            pairs[(next(first), next(first))] = None
        yield from pairs


def _at(variable: DeclaredVariable, address: int) -> DeclaredVariable:
    return DeclaredVariable(
        variable.name, variable.space, variable.type, variable.size, variable.alignment, variable.element_size, address
    )


def initial_values(memory: PtxMemory, given: Mapping[str, int]) -> dict[str, int]:
    """Returns the initial values by the names of locations. A name without a CTA is valid for each CTA's memory."""
    found: dict[str, int] = {}
    for name, value in given.items():
        base = name.partition("+")[0]
        if base in memory.shared_offsets and "@" not in name:
            homes = (memory.home(place.cta) for place in memory.places)
            found |= {name if home is None else f"{name}@{home}": value for home in homes}
        elif base.partition("@")[0] in (*memory.global_bases, *memory.shared_offsets):
            found[name] = value
        else:
            raise LitmusError(f"`{name}` is no variable of the kernel", "name a variable, or a parameter of 64 bits")
    return found
