"""Passes registers through shared memory that belongs to the thread."""

from __future__ import annotations

from math import prod
from typing import ClassVar

from ptxkit.syntax.launch_extents import BLOCK_DIRECTIVES, launch_extents
from ptxkit.testing.limits import MAX_REWRITTEN_BLOCK_THREADS, MAX_REWRITTEN_SHARED_BYTES
from ptxkit.testing.mutation.function_analysis import FunctionAnalysis
from ptxkit.testing.rewriting.value_detour import DetourCode, DetourRoute, ValueDetour, from_word, to_word

_SLOT_BYTES = 8


class SharedSpill(ValueDetour):
    """Stores a register in shared memory and loads it again.

    The variable is new and has a slot for each thread of the CTA, by the linear index of the thread, so no thread
    accesses the slot of another one, and the value is the same. Shared memory keeps below the size that each target
    has for static variables.
    """

    name: ClassVar[str] = "spill-shared"

    def is_possible(self, function: FunctionAnalysis) -> bool:
        program = function.program
        used = sum(each.size for each in program.variables if each.space == "shared")
        return program.is_kernel and used + _slots_bytes(function) <= MAX_REWRITTEN_SHARED_BYTES

    def detour(self, route: DetourRoute) -> DetourCode:
        bits, source, target, prefix = route.bits, route.source, route.target, route.prefix
        word, slot, extent = f"%{prefix}word", f"%{prefix}slot", f"%{prefix}extent"
        base = f"{prefix}slots"
        code, stored, wide = to_word(bits, source, word)
        code += f" mov.u32 {slot}, %tid.x; {_other_dimensions(route.function, slot, extent)}"
        code += (
            f" shl.b32 {slot}, {slot}, 3; mov.u32 {extent}, {base}; add.u32 {slot}, {slot}, {extent};"
            f" st.shared.b{wide} [{slot}], {stored}; ld.shared.b{wide} {word}, [{slot}];"
            f" {from_word(bits, word, target)}"
        )
        declarations = f".shared .align 8 .b8 {base}[{_slots_bytes(route.function)}];"
        declarations += f" .reg .b{wide} {word}; .reg .b32 {slot}, {extent};"
        return DetourCode(code, declarations)


def _other_dimensions(function: FunctionAnalysis, slot: str, extent: str) -> str:
    """Returns instructions that add the other dimensions of the thread's index, unless the CTA has only one."""
    extents = launch_extents(function.program.function, *BLOCK_DIRECTIVES)
    if extents is not None and extents[1:] == (1, 1):
        return ""
    row = f"{extent}_row"
    return (
        f".reg .b32 {row}; mov.u32 {row}, %tid.z; mov.u32 {extent}, %ntid.y; mul.lo.u32 {row}, {row}, {extent};"
        f" mov.u32 {extent}, %tid.y; add.u32 {row}, {row}, {extent}; mov.u32 {extent}, %ntid.x;"
        f" mad.lo.u32 {slot}, {row}, {extent}, {slot};"
    )


def _slots_bytes(function: FunctionAnalysis) -> int:
    """Returns the bytes of the slots of all threads of a CTA, of the largest one if the kernel states no size."""
    extents = launch_extents(function.program.function, *BLOCK_DIRECTIVES)
    return _SLOT_BYTES * (prod(extents) if extents is not None else MAX_REWRITTEN_BLOCK_THREADS)
