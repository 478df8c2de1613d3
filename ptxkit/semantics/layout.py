"""Computes the size and the alignment of declared variables, and the size of the unit that an index counts.

Each caller chooses the addresses itself: the analysis places variables apart from each other, the machine aligns them
no better than declared.

Source: PTX ISA, "Fundamental Types", "Texture Sampler and Surface Types", "Variables", "Alignment", "Array
Declarations", "Parameter State Space".
"""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.functions import bits, is_type
from ptxkit.syntax.tree import Declaration, Declarator, Vector

#: The number of bits of a handle of a texture, sampler or surface.
_HANDLE_BITS = 64
#: The linkages of variables that may be defined elsewhere.
_EXTERNAL_LINKAGES = frozenset({"extern", "common", "weak"})


@dataclass(frozen=True, slots=True)
class DeclaredVariable:
    """A declared variable (not a register) at an address.

    address: the address in its state space, as the caller assigns it. size: the number of bytes; 0 where its length is
    left open. element_size: the number of bytes between two elements of an array, as an index counts. is_open: whether
    its length is left open, so that the launch or another module decides it. is_external: whether another module may
    define it, also with a larger size (`.extern`, `.common`, `.weak`). is_in_frame: whether each call of its function
    has its own instance, so that the address is relative to a frame.
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
        """The size in bytes, where no launch and no other module can increase it; None otherwise."""
        return None if self.is_external or self.is_open else self.size

    @property
    def is_aggregate(self) -> bool:
        """Whether it has more than one element."""
        return self.size > self.element_size


def variable_of(declaration: Declaration, declarator: Declarator) -> DeclaredVariable:
    """Returns the variable of a declaration, at the address 0."""
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
    """Returns the size of a variable in bytes; None where its length is open.

    The initial values may determine the number of elements.
    """
    size = element_bytes(declaration)
    for position, length in enumerate(declarator.dimensions):
        initial = declarator.initialiser.elements if isinstance(declarator.initialiser, Vector) else ()
        count = length or (len(initial) if position == 0 else 0)
        if not count:
            return None
        size *= count
    return size


def scalar_bits(type_: str) -> int:
    """Returns the bits of a variable of a type; those of a handle where the type is not a number."""
    return bits(type_) if is_type(type_) else _HANDLE_BITS


def scalar_bytes(type_: str) -> int:
    """Returns the bytes of a variable of a type. An index counts these, in vectors and arrays of arrays as well."""
    return max(scalar_bits(type_) // 8, 1)


def lanes_of(declaration: Declaration) -> int:
    """Returns the number of elements of each declared vector; 1 for a variable that is not a vector."""
    return int(declaration.vector[1:]) if declaration.vector else 1


def element_bits(declaration: Declaration) -> int:
    """Returns the bits of one element of an array, which may be a vector."""
    return scalar_bits(declaration.type) * lanes_of(declaration)


def element_bytes(declaration: Declaration) -> int:
    """Returns the bytes of one element of an array, which may be a vector."""
    return scalar_bytes(declaration.type) * lanes_of(declaration)


def alignment_of(declaration: Declaration) -> int:
    """Returns the alignment of a variable in bytes: as declared, else the size of its element."""
    return declaration.alignment or element_bytes(declaration)


def align_up(value: int, alignment: int) -> int:
    """Returns the smallest multiple of an alignment that is not less than a value."""
    return -(-value // alignment) * alignment


def lay_out_parameters(parameters: Sequence[Declaration]) -> tuple[list[int], int]:
    """Returns the offsets of a kernel's parameters in the parameter block, and its size in bytes."""
    offsets = []
    size = 0
    for declaration in parameters:
        offsets.append(align_up(size, alignment_of(declaration)))
        size = offsets[-1] + (variable_bytes(declaration, declaration.declarators[0]) or 0)
    return offsets, size
