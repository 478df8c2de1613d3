"""What is wrong with one instruction or declaration, before its place in the text is known."""

from __future__ import annotations

from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.forms import Form
from ptxkit.validate.scopes import NameBinding


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong. operand: the index of the operand to point at, None for the opcode or the whole statement.

    certain: an assembler refuses it; otherwise it is a warning. typed: the form is known, and a register or constant
    of the wrong type stands in it. related: the declaration that a reader wants to see beside it, and what it is.
    """

    code: str
    message: str
    operand: int | None = None
    form: Form | None = None
    help: str | None = None
    certain: bool = True
    has_known_form: bool = False
    related: tuple[NameBinding, str] | None = None
    section: str | None = None
