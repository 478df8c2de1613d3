"""Diagnostics: the data that every verifier reports, and the catalogue of all codes.

`ptxkit.diagnostics.catalogue` holds each code once, with its name, its default severity, the titles of the manual's
sections, the templates of its messages and the types of its payloads. Rules, the validator, the emulator, fixes and the
documentation use its constants; no other module writes a code out. This package imports nothing of ptxkit but sources
and dataclasses.
"""

from ptxkit.diagnostics.code import DiagnosticCode, Severity
from ptxkit.diagnostics.message import LabelLine, Message, MessageTemplate, OpenLinesText, TextTemplate
from ptxkit.diagnostics.model import Diagnostic, DiagnosticTexts, Edit, Fix, Label, Place, Undecided, Verdict

__all__ = [
    "Diagnostic",
    "DiagnosticCode",
    "DiagnosticTexts",
    "Edit",
    "Fix",
    "Label",
    "LabelLine",
    "Message",
    "MessageTemplate",
    "OpenLinesText",
    "Place",
    "Severity",
    "TextTemplate",
    "Undecided",
    "Verdict",
]
