"""What is wrong with text that is not PTX, and what to do (PTX101)."""

from __future__ import annotations

from ptxkit.diagnostics.catalogue.ptx1xx import SYNTAX_ERROR
from ptxkit.diagnostics.message import MessageTemplate

NUL_IN_FILE = MessageTemplate(SYNTAX_ERROR, "a NUL ends the text for an assembler, which takes none in a file")
REMOVE_NUL = MessageTemplate(SYNTAX_ERROR, "remove it; the size that NVRTC gives of a text counts the NUL after it")
REMOVE_EVERY_NUL = MessageTemplate(SYNTAX_ERROR, "remove every NUL")
BACKSLASH_BEFORE_CALL = MessageTemplate(SYNTAX_ERROR, "`\\` is not allowed in front of a call")
BACKSLASH_TOLERATED = MessageTemplate(SYNTAX_ERROR, "`\\` in front of `{name}` is tolerated: {reason}")
REMOVE_IT = MessageTemplate(SYNTAX_ERROR, "remove it")
REMOVE_BACKSLASH = MessageTemplate(SYNTAX_ERROR, "remove `\\`")
