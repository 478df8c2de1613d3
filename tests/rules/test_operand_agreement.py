"""What a rule decides about an invalid operand is decided once for all threads that share the operand."""

from __future__ import annotations

from ptxkit.analysis.symexec.trace import OperandViolation
from ptxkit.diagnostics.catalogue import ptx2xx
from ptxkit.rules.model import Finding, Observation
from ptxkit.rules.operand_agreement import observe_operand_violations
from tests.analysis.support import kernel_of, module_of

PAST_END = ".shared .align 4 .b8 data[4]; mov.u32 %r1, 1; st.shared.b32 [data+4], %r1;"


def test_a_violation_of_several_threads_is_decided_once() -> None:
    kernel = kernel_of(module_of(PAST_END, bounds=".reqntid 128"))
    asked: list[OperandViolation] = []

    def is_wanted(misfit: OperandViolation) -> bool:
        asked.append(misfit)
        return True

    def finding(misfit: OperandViolation) -> Finding:
        return Finding(misfit.step, ptx2xx.LAST_THREADS_MAY_NOT_EXIST())

    found = list(observe_operand_violations(kernel, is_wanted, finding))
    assert len(kernel.scenarios[0].threads) > 1
    assert len(asked) == len(found) == 1
    assert isinstance(found[0], Observation)
