"""Shared by the tests of the table: instructions from text, matches, and small tables."""

from __future__ import annotations

from ptxkit.isa import table
from ptxkit.isa.effects import Effect
from ptxkit.isa.forms import Match
from ptxkit.isa.loader import load_texts
from ptxkit.isa.table import InstructionTable
from ptxkit.syntax import parse
from ptxkit.syntax.tree import Instruction


def instruction(text: str) -> Instruction:
    """Returns the instruction in a line of PTX."""
    module = parse(f".version 9.4 .target sm_100a .address_size 64 .entry k() {{ {text} }}")
    body = module.function("k").body
    assert body is not None
    found = body.statements[0]
    assert isinstance(found, Instruction)
    return found


def match(text: str) -> Match:
    """Returns the match of a line of PTX in the project's table."""
    found = table().match(instruction(text))
    assert isinstance(found, Match), found
    return found


def effects(text: str) -> tuple[Effect, ...]:
    """Returns the effects of a line of PTX."""
    return match(text).effects


def small_table(text: str) -> InstructionTable:
    """Returns a separate table from a text in the notation."""
    return InstructionTable(load_texts({"small.isa": text}))
