"""The kernel parameters that are handles of textures, samplers and surfaces, and their uses."""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.dataflow.pointer_params import parameter_values
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.fast_dataclasses import dataclass
from ptxkit.syntax.tree import Address, Name

_TEXTURES, _SURFACES = ("tex", "tld4"), ("suld", "sust", "sured")
_BITS = 8


@dataclass(frozen=True, slots=True)
class ImageUse:
    """How the object of a parameter is used. kind: `texture`, `surface` or `sampler`.

    geometry: such as `2d`. type: of what is read or written, such as `f32`; count: of these at once.
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
    """The parameters that are such handles, by name, according to the first use of each."""
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
    name, match = step.instruction.name, step.match
    if match is None or name not in (*_TEXTURES, *_SURFACES):
        return
    geometry = (match.modifiers.get("geom") or "").strip(".")
    if name in _TEXTURES:
        of = ImageUse("texture", geometry, (match.modifiers.get("dt") or "").strip("."))
    else:
        parts = step.instruction.opcode.split(".")
        type_ = next((each for each in reversed(parts) if each[:1] in "bus" and each[1:].isdigit()), "b32")
        of = ImageUse("surface", geometry, type_, next((int(each[1]) for each in parts if each in ("v2", "v4")), 1))
    for role, use in (("a", of), ("b", ImageUse("sampler"))):
        operand = step.operand(role)
        base = operand.base if isinstance(operand, Address) else operand
        if isinstance(base, Name):
            yield step.scope.register_name(base.text), use
