"""The position of a thread in a ring of stages: the index of the stage, and the parity of its mbarrier's phase.

Source: PTX ISA, "Phases of the mbarrier object".
"""

from __future__ import annotations

from ptxkit.build.control_flow import variable
from ptxkit.build.errors import BuildValueError
from ptxkit.build.instructions import InstructionBuilder
from ptxkit.build.math_functions import where
from ptxkit.build.registers import Register, Variable
from ptxkit.kernel_model.scalar_types import u32


class Ring:
    """A position in a ring of `stages`: the index of the current stage, and the parity of the current round, initially
    0.
    """

    def __init__(self, flow: InstructionBuilder, stages: int) -> None:
        if isinstance(stages, bool) or not isinstance(stages, int) or stages < 1:
            raise BuildValueError(f"the number of stages of a ring is an integer of at least 1, not {stages!r}")
        self._flow = flow
        self.stages = stages
        self.stage: Variable[u32] | int = 0 if stages == 1 else variable(flow, u32, 0)
        self.parity: Variable[u32] = variable(flow, u32, 0)

    def opposite(self) -> Register[u32]:
        """Returns the opposite parity. A wait for it on a new mbarrier returns immediately, so producers begin with
        it.
        """
        return self.parity ^ 1

    def advance(self) -> None:
        """Advances to the next stage. After the last stage comes the first one, with the opposite parity."""
        if isinstance(self.stage, int):
            self.parity.set(self.parity ^ 1)
            return
        flow, following = self._flow, self.stage + 1
        last = following == self.stages
        self.stage.set(where(flow, last, 0, following))
        self.parity.set(where(flow, last, self.parity ^ 1, self.parity))
