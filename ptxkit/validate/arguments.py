"""Whether what a call passes agrees with a parameter, in size, alignment and kind.

Source: PTX ISA, "Control Flow Instructions: call", "Parameter State Space"; the rules are those of ptxas.
"""

from __future__ import annotations

from ptxkit.isa.functions import is_type, kind
from ptxkit.semantics.layout import element_bits
from ptxkit.syntax.tree import Declaration, Declarator
from ptxkit.validate.constants import INTEGER, INVALID


def argument_alignment(declaration: Declaration) -> int:
    """Bytes to which a variable is aligned: its own size, or more where `.align` says so."""
    return max(declaration.alignment or 1, element_bits(declaration) // 8)


def argument_mismatch(
    formal: Declaration,
    actual: tuple[Declaration, Declarator] | None = None,
    constant: str | None = None,
) -> str | None:
    """What keeps a variable, or a constant of that kind (`validate.constants.kind_of`), from being `formal`."""
    wanted = formal.declarators[0]
    if constant is not None:
        return _wrong_constant(formal, wanted, constant)
    assert actual is not None
    declaration, declarator = actual
    if wanted.dimensions[:1] == (None,):
        if not declarator.dimensions:
            return f"must be an array of .{formal.type}, and is a single .{declaration.type}"
    elif wanted.dimensions != declarator.dimensions or not _is_compatible(formal, declaration):
        return f"must be {_shape(formal, wanted)}, and is {_shape(declaration, declarator)}"
    need, have = argument_alignment(formal), argument_alignment(declaration)
    return None if need == have else f"must be aligned to {need} bytes, and is aligned to {have}"


def _shape(declaration: Declaration, declarator: Declarator) -> str:
    vector = f".{declaration.vector} " if declaration.vector else ""
    dimensions = "".join(f"[{'' if length is None else length}]" for length in declarator.dimensions)
    return f"a {vector}.{declaration.type}{dimensions}"


def _is_compatible(formal: Declaration, actual: Declaration) -> bool:
    if "pred" in (formal.type, actual.type):
        return formal.type == actual.type
    if element_bits(formal) != element_bits(actual):
        return False
    if formal.vector or actual.vector or not (is_type(formal.type) and is_type(actual.type)):
        return True
    kinds = {kind(formal.type), kind(actual.type)}
    return "b" in kinds or kinds <= {"u", "s"} or formal.type == actual.type or "f16x2" in (formal.type, actual.type)


def _wrong_constant(formal: Declaration, wanted: Declarator, constant: str) -> str | None:
    if constant == INVALID:
        return "is an expression that no assembler computes"
    if wanted.dimensions:
        return f"must be {_shape(formal, wanted)}, and is a constant"
    if not is_type(formal.type) or formal.vector:
        return None
    is_integer = constant == INTEGER
    if formal.type == "pred" or (kind(formal.type) == "f" and is_integer):
        return f"must be a .{formal.type}, and is {'an integer' if is_integer else 'a'} constant"
    if kind(formal.type) in ("u", "s") and not is_integer:
        return f"must be a .{formal.type}, and is a floating-point constant"
    return None
