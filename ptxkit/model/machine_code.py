"""What the functions of a cubin use of a multiprocessor: plain data for reports."""

from __future__ import annotations

from ptxkit.fast_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FunctionResources:
    """The resources of a kernel, or of a function that was not inlined.

    registers: of a thread. barriers: named barriers of a CTA. shared: bytes of static shared memory of a CTA, without
    what the system reserves. stack: bytes of local memory of a thread. spill_stores, spill_loads: bytes that a thread
    stores and loads because it has too few registers. constant: bytes of the bank with the parameters. None is a number
    that is not known: spills of code that was compiled before, and most numbers of a function.
    """

    name: str
    is_kernel: bool
    registers: int | None = None
    barriers: int | None = None
    shared: int | None = None
    stack: int | None = None
    spill_stores: int | None = None
    spill_loads: int | None = None
    constant: int | None = None


@dataclass(frozen=True, slots=True)
class MachineCode:
    """A cubin for reports.

    target: such as `sm_90a`. compiler: its name and release. constant_bytes: variables in constant memory.
    global_bytes: variables in global memory. listing: the disassembled code, if it was requested. path: the file, or
    None if none is written.
    """

    target: str
    compiler: str
    functions: tuple[FunctionResources, ...]
    constant_bytes: int = 0
    global_bytes: int = 0
    listing: str | None = None
    path: str | None = None
