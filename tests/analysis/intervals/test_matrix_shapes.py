"""The bytes of matrices whose shape an argument of the kernel determines."""

from __future__ import annotations

import pytest

from ptxkit.diagnostics.obligation import ObligationVerdict
from tests.rules.cases_tensor import _BEGIN
from tests.rules.support import Case
from tests.rules.test_obligations import judge_text

MULTIPLY = (
    "tcgen05.mma.cta_group::1.kind::f16 [%r10], %rd6, %rd7, %r13, %p4;"
    " tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bars]; issued:"
)


@pytest.mark.parametrize(("store", "is_proven"), [("", True), ("st.shared.u32 [tile], %r1; bar.sync 0;", False)])
def test_the_largest_matrix_counts_where_an_argument_determines_the_shape(store: str, is_proven: bool) -> None:
    body = f"{_BEGIN} ld.param.u32 %r13, [n]; {store} @!%p1 bra issued; {MULTIPLY}"
    found = judge_text(Case("case", body, target="sm_100a").text).obligations or ()
    matrices = [each.verdict for each in found if each.code == "PTX401"]
    assert len(matrices) == 2
    assert (matrices == [ObligationVerdict.DISCHARGED] * 2) is is_proven
