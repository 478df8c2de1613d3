"""Detects bytes that a pipeline stage expects and that no copy transfers.

`stage(bytes=...)` and `commit(bytes=...)` expect at the stage's mbarrier the number of bytes that its phase waits
for, for copies without an expect-tx. `memcpy_async` expects the bytes of its own copy. If no other instruction
transfers bytes to the mbarriers of the pipeline, the additional bytes that a stage expects are never transferred, and
the phase never completes.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions: expect-tx operation, complete-tx operation".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxkit.build.build_warnings import iterate_effects
from ptxkit.build.errors import BuildError
from ptxkit.isa.effects import MbarrierComplete

if TYPE_CHECKING:
    from ptxkit.build.instructions import InstructionBuilder


def check_expected_bytes(routine: InstructionBuilder) -> None:
    """Raises `BuildError` at the line of a `memcpy_async` whose bytes the stage that it fills expects, too."""
    uses = routine.barrier_uses
    for name, expected in uses.expected_bytes_locations.items():
        own = [each for each in uses.self_expecting_copies if each.variable == name]
        if not own or name in uses.escaped:
            continue
        statements = {id(each) for copy in own for each in copy.statements}
        bringing = (each for each in iterate_effects(routine) if isinstance(each.effect, MbarrierComplete))
        others = (each for each in bringing if id(each.statement) not in statements)
        if all(uses.find_origin_variable(each.base) not in (name, None) for each in others):
            raise BuildError(
                f"memcpy_async expects the bytes of this copy itself, and the stage expects bytes, too "
                f"({expected}), which no copy transfers: the phase never completes; leave out `bytes=` there",
                own[0].location,
            )
