"""The operands of the instruction that is being written, with the present one."""

from __future__ import annotations

import re

from lsprotocol import types

from ptxkit.isa import table
from ptxkit.isa.forms import Match, OperandForm
from ptxkit.isa.wording import describe_operand
from ptxkit.lsp.cursor_context import context_at
from ptxkit.lsp.documents import TextSnapshot
from ptxkit.lsp.limits import MAX_SIGNATURES, MAX_WORD_CHARS

SIGNATURE_TRIGGERS = [" ", ","]
"""Characters after which an editor requests the help automatically."""

_WORD = re.compile(r"[%$\w.]*\Z")
_BRACKETS = {"address": "[{}]", "vector": "{{{}}}", "arguments": "({})"}


def signature_help(text: TextSnapshot, position: types.Position) -> types.SignatureHelp | None:
    """Returns the forms of the instruction whose operands are being written, or None if none exists.

    The active form is the first one that has as many operands as are written.
    """
    offset = text.lines.offset(position)
    word = _WORD.search(text.text[max(0, offset - MAX_WORD_CHARS) : offset])
    written = context_at(text.text, offset - len(word.group()) if word is not None else offset)
    if written is None or written.kind != "operand":
        return None
    found = {shown.label: shown for shown in map(_signature, table().candidates(written.opcode)[:MAX_SIGNATURES])}
    signatures = list(found.values())
    if not signatures:
        return None
    counts = [len(each.parameters or ()) for each in signatures]
    active = next((index for index, count in enumerate(counts) if count > written.operand), 0)
    return types.SignatureHelp(signatures, active_signature=active, active_parameter=written.operand)


def _signature(match: Match) -> types.SignatureInformation:
    """Returns the canonical opcode with the roles of its operands, which the manual's text uses."""
    label = match.canonical
    parameters: list[types.ParameterInformation] = []
    for index, operand in enumerate(match.operands):
        label += ", " if index else " "
        start = len(label)
        label += _spell(operand)
        parameters.append(types.ParameterInformation((start, len(label)), describe_operand(operand)))
    return types.SignatureInformation(label, documentation=match.form.summary, parameters=parameters)


def _spell(operand: OperandForm) -> str:
    return _BRACKETS.get(operand.kind, "{}").format(operand.role)
