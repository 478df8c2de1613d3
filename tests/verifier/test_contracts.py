"""The launches that `verify` chooses satisfy the contract of the kernel."""

from __future__ import annotations

from itertools import islice

import pytest

from ptxkit.contract_survey import derive_kernel_contract
from ptxkit.emulator.engine.executable import Executable
from ptxkit.model.launch_contract import BlockLimits, LaunchCondition, LaunchContract, ParameterMultiple, ParameterPlace
from ptxkit.source import SourceFile
from ptxkit.syntax import parse
from ptxkit.verifier import VerifyRequest, verify_source
from ptxkit.verifier.argument_choice import ParameterUses, generate_runs
from ptxkit.verifier.integer_guesses import IntegerGuesses
from tests.analysis.contract.support import text_of
from tests.analysis.contract.test_conditions import MAPS, POINTER, ROLES, bulk_copy


def assumptions_of(text: str, schedules: int = 2) -> tuple[str, tuple[str, ...]]:
    """The launch and the arguments of a verification, in words."""
    result = verify_source(SourceFile("k.ptx", text), VerifyRequest(schedules=schedules))
    assert [str(each.message) for each in result.diagnostics] == []
    [run] = result.runs
    assert run.runs == run.whole == schedules
    return run.launch, run.arguments


def test_an_integer_has_the_remainder_that_the_contract_names() -> None:
    size = "ld.param.u32 %r6, [n]; and.b32 %r6, %r6, 63; sub.u32 %r5, %r6, 4;"
    text = bulk_copy(size=size, parameters=f"{POINTER}, .param .u32 n")
    masked = [each for each in assumptions_of(text.replace("and.b32 %r6, %r6, 63;", ""))[1] if each.startswith("n=")]
    assert masked == ["n=20", "n=68"]


@pytest.mark.parametrize(("divisor", "remainder"), [(16, 0), (16, 12), (64, 0)])
def test_the_default_runs_reach_the_smallest_numbers_that_the_contract_allows(divisor: int, remainder: int) -> None:
    """The two smallest numbers are among the first runs, and so is a larger one."""
    module = parse(bulk_copy(size="ld.param.u32 %r5, [n];", parameters=f"{POINTER}, .param .u32 n"), "k.ptx")
    [kernel] = module.functions()
    program = Executable(module, kernel.name, 0)
    program.decode_function(kernel.name)
    wanted = ParameterMultiple(ParameterPlace("n", "n", 1), divisor, remainder)
    contract = LaunchContract(kernel.name, (LaunchCondition(wanted, 1),))
    request = VerifyRequest()
    runs = generate_runs(program, ParameterUses(frozenset({("p", 0)})), request, {}, IntegerGuesses(), contract)
    numbers = {run.arguments[1] for run in islice(runs, request.schedules)}
    assert {number % divisor for number in numbers} == {remainder}
    assert sorted(numbers)[:2] == [remainder, remainder + divisor]
    assert max(numbers) > 512


def test_a_kernel_with_a_limit_runs_with_its_largest_block() -> None:
    text = text_of("ret;", bounds=".maxntid 96", parameters="")
    assert "block 96" in assumptions_of(text)[0]


def test_a_block_is_one_without_a_known_error() -> None:
    assert assumptions_of(text_of(ROLES, bounds=""))[0].startswith("grid 2, block 64")
    assert assumptions_of(text_of(ROLES, bounds=".maxntid 256"))[0].startswith("grid 2, block 64")


def test_boxes_of_several_maps_have_the_bytes_that_their_phases_expect() -> None:
    addresses = "mov.u64 %rd1, map; cvta.param.u64 %rd1, %rd1; mov.u64 %rd2, other; cvta.param.u64 %rd2, %rd2;"
    both = MAPS.replace("tile[2048]", "tile[6144]").replace("mov.u64 %rd1, map; cvta.param.u64 %rd1, %rd1;", addresses)
    both = both.replace(".b64 bar;", ".b64 bar; .shared .align 8 .b64 more;").replace(
        "$wait: bar.sync 0;",
        """
        mov.u32 %r6, more; mbarrier.init.shared::cta.b64 [%r6], 1; fence.proxy.async.shared::cta;
        add.u32 %r7, %r3, 2048;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r6], 4096;
        cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r7], [%rd2, {%r4, %r4}], [%r6];
        $wait: bar.sync 0; mov.u32 %r6, more;
        $more: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r6], 0;
        @!%p3 bra $more;
        """,
    )
    maps = ".param .align 64 .b8 map[128], .param .align 64 .b8 other[128]"
    arguments = assumptions_of(text_of(both, parameters=maps))[1]
    assert len(arguments) == 2
    assert "box" in arguments[0]
    assert arguments[0].split("=", 1)[1] != arguments[1].split("=", 1)[1]


@pytest.mark.parametrize(
    ("sizes", "failing"),
    [(None, {32, 96, 128, 192, 256, 512, 1024}), ([128, 64, 32], {128}), ([64, 128], set()), ([], set())],
)
def test_given_block_sizes_are_tried_until_one_is_possible(sizes: list[int] | None, failing: set[int]) -> None:
    module = parse(text_of(ROLES, bounds=""), "k.ptx")
    [kernel] = module.functions()
    contract = derive_kernel_contract(module, kernel, sizes=sizes)
    limits = [each.requirement for each in contract.conditions if isinstance(each.requirement, BlockLimits)]
    assert {size for each in limits for size in each.failing} == failing


ROWS = """.shared .align 4 .b8 rows[4224]; mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, rows;
mad.lo.u32 %r3, %r2, 132, %r3; mad.lo.u32 %r3, %r1, 4, %r3; st.shared.u32 [%r3], %r1;"""


def test_a_block_of_rows_has_at_most_as_many_threads_as_are_declared() -> None:
    assert "block 16x16" in assumptions_of(text_of(f"{ROWS} ret;", bounds=".maxntid 256", parameters=""))[0]
    assert "block 32x4" in assumptions_of(text_of(f"{ROWS} ret;", bounds=".maxntid 128", parameters=""))[0]
