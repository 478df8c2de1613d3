"""Names and values for the trace of a violation: variables with an index, typed values, lines of the program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from ptxkit.analysis.ir.source_lines import DebugLocations
from ptxkit.emulator import Violation, Witness
from ptxkit.emulator.state.memory_layout import element_text
from ptxkit.emulator.threads.machine_state import ProgramCode
from ptxkit.semantics.layout import scalar_bytes
from ptxkit.source import SourceLine
from ptxkit.syntax.tree import Module
from ptxkit.user_code import relative_line, user_frames
from ptxkit.verifier.limits import MAX_SHOWN_ELEMENTS


class TracePlaces:
    """The names and places in the source of the bytes and instructions of a run."""

    def __init__(self, program: ProgramCode, module: Module) -> None:
        self._program = program
        self._lines = DebugLocations(module)

    def place(self, space: str, start: int, type_: str | None) -> str:
        """Returns the variable, buffer or parameter at an address, with the index of the element of a type:
        `tile[32]`, `tile + 6 bytes`, `full`; nothing where none is known."""
        unit = scalar_bytes(type_) if type_ is not None else 1
        if space == "shared":
            return self._program.shared.element_at(start & RANK_MASK, unit)
        segment = self._program.memory.segments.get(space)
        allocations = segment.allocations if segment is not None else []
        held = next((each for each in allocations if each.start <= start < each.start + each.size), None)
        return "" if held is None else element_text(held.name, start - held.start, held.size, unit)

    def origin(self, offset: int) -> SourceLine | None:
        """Returns the line of the program that an instruction was compiled from; None where none is known."""
        frames = user_frames(self._lines.locations_at(offset)) if offset >= 0 else ()
        return frames[0] if frames else None

    def line_words(self, finding: Violation, others: Sequence[Witness]) -> list[str]:
        """Returns the lines of a violation and of other accesses for its message: those of the program, if known."""
        at = self.origin(finding.offset)
        if at is None:
            return [str(finding.line), *(str(each.line) for each in others)]
        places = [(each, self.origin(each.offset)) for each in others]
        words = (f"{each.line} of the PTX" if place is None else relative_line(place, at) for each, place in places)
        return [str(at.line), *words]


RANK_MASK = (1 << 24) - 1
"""Of an address in the shared memory of a cluster, the offset in that of its CTA."""


def format_value(digits: str | None, type_: str | None) -> str | None:
    """Returns bytes in a type: `0.5`, `-3`, `0x0300`, `1, 2, 3, 4`. digits: hexadecimal, from the lowest address, and
    `..` where there are more."""
    if digits is None:
        return None
    octets = bytes.fromhex(digits.rstrip("."))
    size = scalar_bytes(type_) if type_ is not None else 0
    if type_ is None or not size or len(octets) < size:
        return f"bytes {digits}"
    values = [_format_element(octets[at : at + size], type_) for at in range(0, len(octets) - size + 1, size)]
    more = ", \u2026" if len(values) > MAX_SHOWN_ELEMENTS or digits.endswith(".") else ""
    return ", ".join(values[:MAX_SHOWN_ELEMENTS]) + more


def _format_element(octets: bytes, type_: str) -> str:
    bits = int.from_bytes(octets, "little")
    width = 8 * len(octets)
    if type_ == "bf16":
        return _format_float(numpy.array([bits << 16], numpy.uint32).view(numpy.float32)[0])
    if type_ in ("f16", "f32", "f64"):
        return _format_float(numpy.frombuffer(octets, f"<f{len(octets)}")[0])
    if type_.startswith("s"):
        return str(bits - (bits >> (width - 1) << width))
    return str(bits) if type_.startswith("u") else f"0x{bits:0{2 * len(octets)}x}"


def _format_float(value: Any) -> str:
    return f"{float(value):.6g}"
