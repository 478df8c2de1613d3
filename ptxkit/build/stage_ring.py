"""Where a thread is in a ring of stages: which one comes next, and the parity of its mbarrier's phase.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier: Phase of the mbarrier object".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxkit.build.errors import BuildValueError
from ptxkit.build.registers import Register, Variable
from ptxkit.build.scalar_types import u32

if TYPE_CHECKING:
    from ptxkit.build.control_flow import ControlFlowBuilder


class Ring:
    """A place in a ring of `stages`. stage: the number of the one at hand. parity: that of its round, 0 at first."""

    def __init__(self, flow: ControlFlowBuilder, stages: int) -> None:
        if isinstance(stages, bool) or not isinstance(stages, int) or stages < 1:
            raise BuildValueError(f"a ring has a whole number of stages, at least 1, not {stages!r}")
        self._flow = flow
        self.stages = stages
        self.stage: Variable[u32] | int = 0 if stages == 1 else flow.variable(u32, 0)
        self.parity: Variable[u32] = flow.variable(u32, 0)

    def opposite(self) -> Register[u32]:
        """The other parity: a wait for it on a fresh mbarrier returns at once, so producers begin with it."""
        return self.parity ^ 1

    def advance(self) -> None:
        """Goes on to the next stage; behind the last one comes the first, with the other parity."""
        if isinstance(self.stage, int):
            self.parity.set(self.parity ^ 1)
            return
        flow, following = self._flow, self.stage + 1
        last = following == self.stages
        self.stage.set(flow.selected(0, following, last))
        self.parity.set(flow.selected(self.parity ^ 1, self.parity, last))
