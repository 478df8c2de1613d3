"""Reads from a cubin, and from the compiler's log, how much of a multiprocessor each kernel uses.

Only the log states spills: the machine code does not distinguish them from other local memory.

Source: CUDA Binary Utilities, "cuobjdump"; the attributes are those that `cuobjdump -elf` prints (EIATTR_REGCOUNT,
EIATTR_MIN_STACK_SIZE, EIATTR_NUM_BARRIERS). CUDA C++ Programming Guide, "Compute Capabilities": the shared memory that
the system reserves in each CTA.
"""

from __future__ import annotations

import re
import struct

from ptxkit.device.compiler import Cubin
from ptxkit.device.cubin_reader import iterate_records
from ptxkit.device.limits import RESERVED_SHARED_BYTES
from ptxkit.elf import STT_FUNC, ElfError, ElfFile
from ptxkit.model.machine_code import FunctionResources, MachineCode

_EIATTR_REGCOUNT, _EIATTR_MIN_STACK_SIZE, _EIATTR_NUM_BARRIERS = 0x2F, 0x12, 0x4C
_RESERVES_SHARED = ".nv.reservedSmem."
"""The prefix of the symbols of cubins whose shared memory begins with what the system reserves."""
_SPILLS = re.compile(
    r"Function properties for '?(?P<name>[\w$.]+)'?\n(?:ptxas +\.)? *(?P<stack>\d+) bytes stack frame, "
    r"(?P<stores>\d+) bytes spill stores, (?P<loads>\d+) bytes spill loads"
)


def read_resources(cubin: Cubin) -> MachineCode:
    """Returns the resources of the kernels of a cubin, and of the functions that its log names.

    The log has them if the cubin was compiled with `-verbose`. Raises `ElfError` for damaged bytes.
    """
    file = ElfFile(cubin.code)
    sections = {each.name: each for each in file.sections()}
    sizes = {name: each.size for name, each in sections.items()}
    symbols = list(file.symbols())
    numbers = {each.name: number for number, each in enumerate(symbols) if each.type == STT_FUNC}
    reserved = RESERVED_SHARED_BYTES if any(each.name.startswith(_RESERVES_SHARED) for each in symbols) else 0
    logged = {found["name"]: found for found in _SPILLS.finditer(cubin.log)}

    def records(section: str) -> list[tuple[int, bytes]]:
        return list(iterate_records(file.contents(sections[section]))) if section in sections else []

    by_symbol = {
        (attribute, struct.unpack("<II", data)[0]): struct.unpack("<II", data)[1]
        for attribute, data in records(".nv.info")
        if attribute in (_EIATTR_REGCOUNT, _EIATTR_MIN_STACK_SIZE) and len(data) == 8
    }
    functions = []
    for name in (each.name for each in cubin.kernels):
        if name not in numbers:
            raise ElfError(f"a cubin without the code of kernel {name!r}")
        own = dict(records(f".nv.info.{name}"))
        spilled = logged.pop(name, None)
        functions.append(
            FunctionResources(
                name,
                is_kernel=True,
                registers=by_symbol.get((_EIATTR_REGCOUNT, numbers[name])),
                barriers=int.from_bytes(own.get(_EIATTR_NUM_BARRIERS, b""), "little"),
                shared=max(sizes.get(f".nv.shared.{name}", 0) - reserved, 0),
                stack=by_symbol.get((_EIATTR_MIN_STACK_SIZE, numbers[name])),
                spill_stores=int(spilled["stores"]) if spilled else None,
                spill_loads=int(spilled["loads"]) if spilled else None,
                constant=sizes.get(f".nv.constant0.{name}", 0),
            )
        )
    functions += [
        FunctionResources(
            name,
            is_kernel=False,
            stack=int(found["stack"]),
            spill_stores=int(found["stores"]),
            spill_loads=int(found["loads"]),
        )
        for name, found in logged.items()
    ]
    globals_ = sum(sizes.get(each, 0) for each in (".nv.global", ".nv.global.init"))
    return MachineCode(cubin.target, cubin.compiler, tuple(functions), sizes.get(".nv.constant3", 0), globals_)
