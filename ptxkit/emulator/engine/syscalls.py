"""Functions that the system provides to kernels: `vprintf`, and the function that `assert` calls.

Source: CUDA Programming Guide, "Formatted Output", "Assertion"; PTX ISA, "Abstracting the ABI: Variadic Functions".
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.diagnostics.catalogue import memory_words
from ptxkit.emulator.core.findings import ExecutionFault
from ptxkit.emulator.core.lane_set import ThreadIndex
from ptxkit.emulator.core.semantics_registry import Bits
from ptxkit.emulator.limits import MAX_STRING_BYTES

if TYPE_CHECKING:
    from ptxkit.emulator.engine.calls import CallSite
    from ptxkit.emulator.threads.thread_groups import ThreadGroup

_FORMAT = re.compile(r"%([-+ #0]*)(\d+|\*)?(?:\.(\d+|\*))?(hh|h|ll|l|j|z|t|L)?([diouxXeEfFgGaAcspn%])")


def syscalls() -> Mapping[str, Callable[..., Any]]:
    """Returns the functions by name; each takes the executing group and the call site."""
    return {"vprintf": _vprintf, "__assertfail": _assert_failed}


def _arguments(group: ThreadGroup, site: CallSite, types: tuple[str, ...]) -> list[Bits]:
    cta, index = group.cta, group.lanes.index
    values = []
    for passed, type_ in zip(site.arguments, types, strict=False):
        if passed.symbol is None:
            values.append(passed.source(type_).read(group))
            continue
        address = group.registers[0][index] + numpy.uint64(passed.symbol.address)
        values.append(cta.load_local(index, address, int(type_[1:]) // 8))
    return values


def _read_c_string(group: ThreadGroup, address: int, thread: int) -> bytes:
    """Reads the bytes from a generic address up to the first zero byte."""
    found = bytearray()
    index: ThreadIndex = numpy.array([thread])
    while len(found) < MAX_STRING_BYTES:
        where = numpy.array([address + len(found)], numpy.uint64)
        pool, place = group.cta.machine.memory.locate(group.cta, "generic", where, 1, index)
        octet = int(pool.data[place][0])
        if not octet:
            break
        found.append(octet)
    return bytes(found)


def _vprintf(group: ThreadGroup, site: CallSite) -> None:
    """Prints the formatted text of each thread, in thread order."""
    formats, lists = _arguments(group, site, ("b64", "b64"))
    for position, thread in enumerate(group.lanes.index):
        text = _read_c_string(group, int(formats[position]), int(thread)).decode("utf-8", "replace")
        group.cta.machine.output.append(_format_printf(group, text, int(lists[position]), int(thread)))


def _format_printf(group: ThreadGroup, text: str, at: int, thread: int) -> str:
    """Formats a string with its arguments, which are stored in memory in order, each aligned to its size."""
    place = at

    def take(size: int) -> bytes:
        nonlocal place
        place = -(-place // size) * size
        where = numpy.array([place], numpy.uint64)
        pool, index = group.cta.machine.memory.locate(group.cta, "generic", where, size, numpy.array([thread]))
        place += size
        octets: bytes = pool.data[int(index[0]) : int(index[0]) + size].tobytes()
        return octets

    def format_match(match: re.Match[str]) -> str:
        flags, width, precision, length, kind = match.groups()
        if kind == "%":
            return "%"
        if width == "*":
            width = str(int.from_bytes(take(4), "little", signed=True))
        if precision == "*":
            precision = str(int.from_bytes(take(4), "little", signed=True))
        pattern = f"%{flags}{width or ''}{'.' + precision if precision is not None else ''}"
        size = 8 if length in ("l", "ll", "j", "z", "t") else 4
        if kind in "di":
            return (pattern + "d") % int.from_bytes(take(size), "little", signed=True)
        if kind in "ouxX":
            return (pattern + kind.replace("u", "d")) % int.from_bytes(take(size), "little")
        if kind in "eEfFgGaA":
            number = struct.unpack("<d", take(8))[0]
            return float.hex(number) if kind in "aA" else (pattern + kind) % number
        if kind == "c":
            return (pattern + "c") % chr(int.from_bytes(take(4), "little") & 255)
        value = int.from_bytes(take(8), "little")
        if kind == "s":
            return (pattern + "s") % _read_c_string(group, value, thread).decode("utf-8", "replace")
        return f"0x{value:x}"

    return _FORMAT.sub(format_match, text)


def _assert_failed(group: ThreadGroup, site: CallSite) -> None:
    message, file, line, function = _arguments(group, site, ("b64", "b64", "b32", "b64"))[:4]
    thread = int(group.lanes.index[0])
    what, where, name = (
        _read_c_string(group, int(each[0]), thread).decode("utf-8", "replace") for each in (message, file, function)
    )
    raise ExecutionFault(
        memory_words.ASSERTION_FAILED(file=where, line=int(line[0]), function=name, assertion=what),
        group.lanes.index,
    )
