"""All codes of the catalogue."""

from __future__ import annotations

from ptxkit.diagnostics.catalogue import (
    contract_words,
    declaration_helps,
    directive_helps,
    fix_titles,
    memory_words,
    notes,
    obligation_words,
    operand_reasons,
    ptx1xx,
    ptx2xx,
    ptx3xx,
    ptx4xx,
    ptx5xx,
    ptx6xx,
    ptx7xx,
    ptx8xx,
    ptx9xx,
    syntax_errors,
)
from ptxkit.diagnostics.code import DiagnosticCode
from ptxkit.diagnostics.message import MessageTemplate, TextTemplate

GROUPS = (ptx1xx, ptx2xx, ptx3xx, ptx4xx, ptx5xx, ptx6xx, ptx7xx, ptx8xx, ptx9xx)
"""The modules that define codes."""

CODES: tuple[DiagnosticCode, ...] = tuple(
    each for group in GROUPS for each in vars(group).values() if isinstance(each, DiagnosticCode)
)
"""Every code, in the order of their numbers."""

_TEXTS = (
    operand_reasons,
    directive_helps,
    declaration_helps,
    syntax_errors,
    fix_titles,
    notes,
    obligation_words,
    contract_words,
    memory_words,
)
"""The modules that define texts of no single code."""

TEMPLATES: dict[tuple[str, str], MessageTemplate | TextTemplate] = {
    (module.__name__.rpartition(".")[2], name): each
    for module in (*GROUPS, *_TEXTS)
    for name, each in vars(module).items()
    if isinstance(each, MessageTemplate | TextTemplate)
}
"""Every template, by its module and its name."""
