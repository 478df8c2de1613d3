"""What a declared variable takes in memory: its size, its alignment, and the size of what an index counts.

Each user chooses the addresses itself: the analysis places variables apart from each other, the machine aligns them no
better than declared.

Source: PTX ISA, "Fundamental Types", "Texture Sampler and Surface Types", "Variables", "Alignment", "Array
Declarations", "Parameter State Space".
"""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.functions import bits, is_type
from ptxkit.syntax.tree import Declaration, Declarator, Vector

#: The bits of a handle of a texture, sampler or surface.
_HANDLE_BITS = 64
#: Linkages of variables that may be defined elsewhere.
_EXTERNAL_LINKAGES = frozenset({"extern", "common", "weak"})


@dataclass(frozen=True, slots=True)
class DeclaredVariable:
    """A declared variable (not a register) at an address.

    address: in its state space, as the user of the layout counts. size: bytes; 0 where its length is left open.
    element_size: bytes from one element of an array to the next, as an index counts. is_open: its length is left open,
    so that the launch or another module decides it. is_external: another module may define it, and larger (`.extern`,
    `.common`, `.weak`). is_in_frame: each call of its function has one of its own, and the address counts from there.
    """

    name: str
    space: str
    type: str
    size: int
    alignment: int
    element_size: int
    address: int = 0
    is_open: bool = False
    is_external: bool = False
    is_in_frame: bool = False

    @property
    def fixed_size(self) -> int | None:
        """Its bytes, where no launch and no other module can make them more."""
        return None if self.is_external or self.is_open else self.size

    @property
    def is_aggregate(self) -> bool:
        """Whether it has more than one element."""
        return self.size > self.element_size


def variable_of(declaration: Declaration, declarator: Declarator) -> DeclaredVariable:
    """The variable that a declaration declares, at the address 0."""
    size = variable_bytes(declaration, declarator)
    return DeclaredVariable(
        declarator.name,
        declaration.space,
        declaration.type,
        size or 0,
        alignment_of(declaration),
        scalar_bytes(declaration.type),
        is_open=size is None,
        is_external=not _EXTERNAL_LINKAGES.isdisjoint(declaration.linkage),
    )


def variable_bytes(declaration: Declaration, declarator: Declarator) -> int | None:
    """The bytes of a variable, of which the initial values may count the elements; None where the length is open."""
    size = element_bytes(declaration)
    for position, length in enumerate(declarator.dimensions):
        initial = declarator.initialiser.elements if isinstance(declarator.initialiser, Vector) else ()
        count = length or (len(initial) if position == 0 else 0)
        if not count:
            return None
        size *= count
    return size


def scalar_bits(type_: str) -> int:
    """The bits of a variable of a type; those of a handle where the type is none of numbers."""
    return bits(type_) if is_type(type_) else _HANDLE_BITS


def scalar_bytes(type_: str) -> int:
    """The bytes of a variable of a type, which are what an index counts, in vectors and arrays of arrays as well."""
    return max(scalar_bits(type_) // 8, 1)


def lanes_of(declaration: Declaration) -> int:
    """The elements of each vector that is declared; 1 where it is none."""
    return int(declaration.vector[1:]) if declaration.vector else 1


def element_bits(declaration: Declaration) -> int:
    """The bits of one element of an array, which may be a vector."""
    return scalar_bits(declaration.type) * lanes_of(declaration)


def element_bytes(declaration: Declaration) -> int:
    """The bytes of one element of an array, which may be a vector."""
    return scalar_bytes(declaration.type) * lanes_of(declaration)


def alignment_of(declaration: Declaration) -> int:
    """The alignment of a variable in bytes: as declared, else the size of its element."""
    return declaration.alignment or element_bytes(declaration)


def align_up(value: int, alignment: int) -> int:
    """The first multiple of an alignment that is not less."""
    return -(-value // alignment) * alignment


def lay_out_parameters(parameters: Sequence[Declaration]) -> tuple[list[int], int]:
    """The offsets of a kernel's parameters in the block that a launch passes, and the bytes of the block."""
    offsets = []
    size = 0
    for declaration in parameters:
        offsets.append(align_up(size, alignment_of(declaration)))
        size = offsets[-1] + (variable_bytes(declaration, declaration.declarators[0]) or 0)
    return offsets, size
