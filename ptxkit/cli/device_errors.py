"""Prints the errors of compiling, linking and launching, those of a compiler with their lines of the PTX."""

from __future__ import annotations

from ptxkit.cli.refusals import PROGRAM, write_refusal
from ptxkit.device.errors import CompileError, Complaint, DeviceError, LinkError, MissingLibraryError, NoDeviceError
from ptxkit.elf import ElfError
from ptxkit.exit_status import ExitStatus
from ptxkit.syntax.tree import Module

_COMPILE_REMEDY = "correct the PTX, or compile for another target by `--target`"
_LINK_REMEDY = "name all files that define what is used, and each definition once"


def write_device_error(error: DeviceError | ElfError, module: Module | None = None) -> int:
    """Prints an error. Returns the exit status. module: the only PTX, whose lines a compiler names."""
    if isinstance(error, CompileError) and error.undefined_names:
        names = ", ".join(f"`{each}`" for each in error.undefined_names)
        return write_refusal(f"no file defines {names}", _LINK_REMEDY)
    if isinstance(error, CompileError):
        for each in error.complaints:
            write_refusal("; ".join(each.message.splitlines()), _COMPILE_REMEDY, _place(each, module))
        return ExitStatus.COULD_NOT_RUN
    if isinstance(error, MissingLibraryError):
        return write_refusal(error.message, error.remedy)
    remedy = _LINK_REMEDY if isinstance(error, LinkError) else "`ptxkit compile --help` describes the arguments"
    if isinstance(error, NoDeviceError):
        remedy = "run the kernel on the reference machine: leave out `--on`"
    if isinstance(error, ElfError):
        remedy = error.remedy
    for line in str(error).splitlines():
        write_refusal(line, remedy)
    return ExitStatus.COULD_NOT_RUN


def _place(complaint: Complaint, module: Module | None) -> str:
    """The line of a complaint in the file. The compiler may have read another text: padding is inserted."""
    source = module.source if module is not None else None
    if source is None or complaint.line is None:
        return source.path if source is not None else PROGRAM
    lines = source.text.splitlines()
    is_same = complaint.line <= len(lines) and lines[complaint.line - 1].strip() == complaint.ptx
    return f"{source.path}:{complaint.line}" if is_same else source.path
