"""Finds the kernel parameters that are handles of textures, samplers and surfaces, and their uses."""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.dataflow.pointer_params import parameter_values
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.fast_dataclasses import dataclass
from ptxkit.syntax.tree import Address, Name

_KINDS = ("texture", "surface", "sampler")
_BITS = 8
_FORMATTED_TYPE = "b32"
"""The type of formatted stores, whose opcode has no other."""


@dataclass(frozen=True, slots=True)
class ImageUse:
    """The use of the object of a parameter.

    kind: `texture`, `surface` or `sampler`. geometry: for example `2d`. type: the type of an element that is read or
    written, for example `f32`. count: the number of elements of one access.
    """

    kind: str
    geometry: str = ""
    type: str = ""
    count: int = 1

    @property
    def access_bytes(self) -> int:
        """The number of bytes that one access reads or writes."""
        return int(self.type.lstrip("bufs")) // _BITS * self.count


def image_parameters(program: Program) -> dict[str, ImageUse]:
    """Returns the parameters that are such handles, by name, according to the first use of each."""
    found: dict[str, ImageUse] = {}
    uses = [each for step in program.steps for each in _uses(step)]
    if not uses:
        return found
    values = parameter_values(program)
    for register, use in uses:
        name, offset = values.get(register, ("", 0))
        if name and not offset:
            found.setdefault(name, use)
    return found


def _uses(step: Step) -> Iterator[tuple[str, ImageUse]]:
    """Yields the registers whose objects a step reads or writes, and how; queries need no geometry."""
    match = step.match
    geometry = match.modifiers.get("geom") if match is not None else None
    if match is None or geometry is None:
        return
    for form in (each for outer in match.operands for each in (outer, *outer.elements)):
        kind = form.object or form.kind
        if kind not in _KINDS:
            continue
        type_ = match.modifiers.get("dt") or match.modifiers.get("ct") or _FORMATTED_TYPE
        count = (match.modifiers.get("vec") or "v1") if kind == "surface" else "v1"
        operand = step.operand(form.role)
        base = operand.base if isinstance(operand, Address) else operand
        if isinstance(base, Name):
            use = ImageUse(kind) if kind == "sampler" else ImageUse(kind, geometry, type_, int(count[1:]))
            yield step.scope.register_name(base.text), use
