"""Prints the errors of compiling, linking and launching, those of a compiler with their lines of the PTX."""

from __future__ import annotations

from ptxkit.cli.refusals import PROGRAM, write_refusal
from ptxkit.device.errors import CompileError, Complaint, DeviceError, LinkError, MissingLibraryError
from ptxkit.elf import ElfError
from ptxkit.exit_status import ExitStatus
from ptxkit.syntax.tree import Module

_LINK_REMEDY = "name all files that define what is used, and each definition once"


def write_device_error(error: DeviceError | ElfError, remedy: str, module: Module | None = None) -> int:
    """Prints an error. Returns the exit status.

    remedy: for errors that do not state one. module: the only PTX, whose lines a compiler names.
    """
    if isinstance(error, CompileError) and not error.undefined_names:
        for each in error.complaints:
            write_refusal("; ".join(each.message.splitlines()), remedy, _place(each, module))
        return ExitStatus.COULD_NOT_RUN
    message = "; ".join(str(error).splitlines())
    if isinstance(error, CompileError):
        message, remedy = f"no file defines {', '.join(f'`{each}`' for each in error.undefined_names)}", _LINK_REMEDY
    elif isinstance(error, MissingLibraryError):
        message, remedy = error.message, error.remedy
    elif isinstance(error, LinkError):
        remedy = _LINK_REMEDY
    elif isinstance(error, ElfError):
        remedy = error.remedy
    return write_refusal(message, remedy)


def _place(complaint: Complaint, module: Module | None) -> str:
    """The line of a complaint in the file. The compiler may have read another text: padding is inserted."""
    source = module.source if module is not None else None
    if source is None or complaint.line is None:
        return source.path if source is not None else PROGRAM
    lines = source.text.splitlines()
    is_same = complaint.line <= len(lines) and lines[complaint.line - 1].strip() == complaint.ptx
    return f"{source.path}:{complaint.line}" if is_same else source.path
