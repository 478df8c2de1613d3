"""Builds a condition of legality, `ptx>=8.6 sm_100a`, from its parse tree."""

from __future__ import annotations

from lark import Token

from ptxkit.isa.expression_builder import ErrorFactory
from ptxkit.isa.forms import Requirement
from ptxkit.isa.notation import Node


def requirement_of(node: Node, fail: ErrorFactory) -> Requirement:
    """Returns the requirement of a node. Raises the error of `fail` for a word that is not a target."""
    version, minimum, families = (1, 0), 0, []
    before: tuple[int, int] | None = None
    below: int | None = None
    texmode = ""
    for part in node.children:
        if isinstance(part, Token):
            if part.startswith("texmode_"):
                texmode = part.removeprefix("texmode_")
                continue
            if not part.startswith("sm_"):
                raise fail(f"{part} is no target; write sm_90a, sm_100f or sm>=90", part)
            families.append(str(part))
            continue
        bound, value = part.children
        if part.data == "version":
            major, minor = str(value).split(".")
            if bound == "<":
                before = int(major), int(minor)
            else:
                version = int(major), int(minor)
        elif bound == "<":
            below = int(value)
        else:
            minimum = int(value)
    return Requirement(version, minimum, tuple(families), before, below, str(texmode))
