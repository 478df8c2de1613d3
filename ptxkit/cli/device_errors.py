"""Prints the errors of compiling, linking and launching, those of a compiler with their lines of the PTX."""

from __future__ import annotations

import re

from ptxkit.cli.refusals import PROGRAM, write_refusal
from ptxkit.device.errors import CompileError, Complaint, DeviceError, LinkError, MissingLibraryError
from ptxkit.elf import ElfError
from ptxkit.exit_status import ExitStatus
from ptxkit.syntax.tree import Module

_LOGGED_ERROR = re.compile(r"^ *(?:ptxas )?(?:error|fatal) *: *(.+)$", re.MULTILINE)
"""An error in the log of ptxas or nvJitLink."""
_REPEATS = re.compile("aborted due to errors")
_LINK_REMEDY = "name all files that define what is used, and each definition once"


def write_device_error(error: DeviceError | ElfError, remedy: str, module: Module | None = None) -> int:
    """Prints an error. Returns the exit status.

    remedy: for errors that do not state one. module: the only PTX, whose lines a compiler names.
    """
    if isinstance(error, CompileError) and not error.undefined_names:
        for each in error.complaints:
            write_refusal(_message(each.message), remedy, _place(each, module))
        return ExitStatus.COULD_NOT_RUN
    message = _message(str(error))
    if isinstance(error, CompileError):
        message, remedy = f"no file defines {', '.join(f'`{each}`' for each in error.undefined_names)}", _LINK_REMEDY
    elif isinstance(error, MissingLibraryError):
        message, remedy = error.message, error.remedy
    elif isinstance(error, LinkError):
        remedy = _LINK_REMEDY
    elif isinstance(error, ElfError):
        remedy = error.remedy
    return write_refusal(message, remedy)


def _message(text: str) -> str:
    """The errors in the text of a compiler, or the whole text, as one line."""
    errors = [each for each in _LOGGED_ERROR.findall(text) if not _REPEATS.search(each)]
    return "; ".join(errors or text.splitlines())


def _place(complaint: Complaint, module: Module | None) -> str:
    """The line of a complaint in the file. The compiler may have read another text: padding is inserted."""
    source = module.source if module is not None else None
    if source is None or complaint.line is None:
        return source.path if source is not None else PROGRAM
    lines = source.text.splitlines()
    is_same = complaint.line <= len(lines) and lines[complaint.line - 1].strip() == complaint.ptx
    return f"{source.path}:{complaint.line}" if is_same else source.path
