"""Exploration: the threads and sizes that are tried, the steps that are reached, and those that remain missed."""

from __future__ import annotations

import pytest

from ptxkit.analysis.context.writer_threads import MAX_ADDED_THREADS, find_writer_threads
from ptxkit.analysis.ir import budget
from ptxkit.analysis.limits import MAX_IDLE_SAMPLES
from ptxkit.analysis.symexec import explorer
from ptxkit.analysis.symexec.exploration import Exploration
from ptxkit.analysis.symexec.explorer import Explorer
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.analysis.values.scenario import FEW_TILES, MORE_SAMPLES, ODD_TILES, SAMPLES, SMALL_SIZE, Scenario
from ptxkit.isa.effects import Barrier
from tests.analysis.support import explorer_of, kernel_of, module_of, opcodes

PARAMETERS = ".param .u64 in, .param .u32 n"
LOADED = "ld.param.u64 %rd1, [in]; ld.param.u32 %r6, [n]; ld.global.u32 %r7, [%rd1];"


def samples(body: str) -> list[int]:
    explorer = explorer_of(module_of(LOADED + body, parameters=PARAMETERS))
    return [exploration.scenario.sample for exploration in explorer.explorations]


def missed_steps(body: str) -> set[str]:
    return opcodes(explorer_of(module_of(LOADED + body, parameters=PARAMETERS)).unreached_steps)


def test_two_sizes_are_enough_where_they_reach_everything() -> None:
    body = "setp.eq.u32 %p1, %r6, 5; @%p1 bra end; nanosleep.u32 0; end: cp.async.wait_group 0;"
    assert samples(body) == list(SAMPLES)


def test_further_sizes_are_tried_for_code_that_the_first_did_not_reach() -> None:
    body = f"setp.ne.u32 %p1, %r6, {MORE_SAMPLES[0]}; @%p1 bra end; cp.async.wait_group 0; end: nanosleep.u32 0;"
    assert samples(body) == [*SAMPLES, MORE_SAMPLES[0]]
    assert missed_steps(body) == set()


@pytest.mark.parametrize("test", ["setp.lt.u32 %p1, %r6, 1029;", "setp.le.s32 %p1, %r6, 1028;"])
def test_large_sizes_in_comparisons_are_tried(test: str) -> None:
    body = f"{test} @%p1 bra end; cp.async.wait_group 0; end: nanosleep.u32 0;"
    assert samples(body)[-1] == 1029
    assert missed_steps(body) == set()


def test_only_the_largest_size_is_tried_after_those_that_reach_nothing_new(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []
    execute = Explorer.execute

    def note(self: Explorer, scenario: Scenario) -> Exploration:
        tried.append(scenario.sample)
        return execute(self, scenario)

    monkeypatch.setattr(Explorer, "execute", note)
    body = "setp.ne.u32 %p1, %r6, 77777; @%p1 bra end; cp.async.wait_group 0; end: nanosleep.u32 0;"
    assert samples(body) == list(SAMPLES)
    assert tried[:6] == [*SAMPLES, *MORE_SAMPLES[:MAX_IDLE_SAMPLES], max(MORE_SAMPLES)]
    assert missed_steps(body) == {"cp.async.wait_group"}


def test_nothing_is_executed_after_the_last_step_of_the_budget() -> None:
    program = explorer_of(module_of(LOADED, parameters=PARAMETERS)).program
    few = budget.AnalysisBudget(steps=1)
    explored = Explorer(program, few)
    explored.run()
    assert [each.scenario.sample for each in explored.explorations] == list(SAMPLES[:1])
    assert few.is_used_up


MIXED = """.reg .pred %q<3>; ld.param.u32 %r6, [m]; ld.param.u32 %r7, [n];
and.b32 %r8, %r6, 127; setp.eq.u32 %q0, %r8, 0; @%q0 bra whole; trap; whole:
shr.u32 %r9, %r7, 6; and.b32 %r9, %r9, 3; setp.eq.u32 %q1, %r9, 0; @%q1 bra end;
rest: cp.async.commit_group; sub.u32 %r9, %r9, 1; setp.ne.u32 %q2, %r9, 0; @%q2 bra rest; end: nanosleep.u32 0;"""


def test_one_size_has_a_remainder_where_another_one_must_be_whole() -> None:
    explorer = explorer_of(module_of(MIXED, parameters=".param .u32 m, .param .u32 n"))
    assert explorer.explorations[-1].scenario.overrides == ((("n", 0), ODD_TILES),)
    assert explorer.explorations[-1].scenario.arguments != explorer.explorations[0].scenario.arguments
    assert explorer.unreached_steps == []
    assert explorer.unrepeated_steps == []


def test_sizes_are_mixed_where_whole_tiles_in_all_dimensions_are_cut_short() -> None:
    body = """ld.param.u32 %r6, [m]; ld.param.u32 %r7, [n]; mul.lo.u32 %r9, %r7, 40;
next: cp.async.wait_group 0; sub.u32 %r9, %r9, 1; setp.ne.u32 %p2, %r9, 0; @%p2 bra next;
setp.lt.u32 %p1, %r6, 64; @%p1 bra end; cp.async.commit_group; end: nanosleep.u32 0;"""
    explorer = explorer_of(module_of(body, parameters=".param .u32 m, .param .u32 n"))
    assert explorer.explorations[-1].scenario.overrides == ((("m", 0), ODD_TILES),)
    assert explorer.unreached_steps == []


def test_sizes_are_not_mixed_where_nothing_is_missed() -> None:
    body = "cp.async.commit_group; " + MIXED.replace("cp.async.commit_group;", "")
    explorer = explorer_of(module_of(body, parameters=".param .u32 m, .param .u32 n"))
    assert not any(each.scenario.overrides for each in explorer.explorations)


def test_a_loop_over_the_rest_of_the_tiles_is_repeated() -> None:
    body = MIXED.replace("[m]", "[n]").replace("127", "63")
    explorer = explorer_of(module_of(body, parameters=".param .u32 n"))
    assert ODD_TILES in [each.scenario.sample for each in explorer.explorations]
    assert explorer.unrepeated_steps == []


@pytest.mark.parametrize(("rounds", "tried"), [(1, False), (150, True)])
def test_few_tiles_are_tried_where_many_are_cut_short(rounds: int, tried: bool) -> None:
    body = f"""add.u32 %r6, %r6, 127; shr.u32 %r8, %r6, 7; mul.lo.u32 %r9, %r8, {rounds};
next: cp.async.wait_group 0; sub.u32 %r9, %r9, 1; setp.ne.u32 %p2, %r9, 0; @%p2 bra next;
and.b32 %r8, %r8, 3; setp.ne.u32 %p1, %r8, 3; @%p1 bra end; cp.async.commit_group; end: nanosleep.u32 0;"""
    assert (FEW_TILES in samples(body)) == tried


@pytest.mark.parametrize(("first", "positions"), [(1, {0, 2}), (2, {0, 2}), (8, {0})])
def test_places_in_the_grid_are_tried_where_they_lead_to_missed_steps(first: int, positions: set[int]) -> None:
    body = f"""mov.u32 %r8, %ctaid.y; setp.lt.u32 %p1, %r8, {first}; @%p1 bra end; cp.async.wait_group 0;
end: nanosleep.u32 0;"""
    explorer = explorer_of(module_of(LOADED + body, parameters=PARAMETERS))
    assert {dict(each.scenario.overrides).get(("%ctaid.y", 0), 0) for each in explorer.explorations} == positions
    assert (explorer.unreached_steps == []) == (2 in positions)


@pytest.mark.parametrize(("after", "place"), [(1, (2, 3)), (3, (2, 5))])
def test_a_place_at_the_end_of_the_grid_is_tried_and_one_inside(after: int, place: tuple[int, int]) -> None:
    body = f"""mov.u32 %r8, %ctaid.y; setp.lt.u32 %p1, %r8, 2; @%p1 bra end; add.u32 %r8, %r8, {after};
mov.u32 %r9, %nctaid.y; setp.gt.u32 %p1, %r8, %r9; @%p1 bra end; cp.async.wait_group 0; end: nanosleep.u32 0;"""
    explorer = explorer_of(module_of(LOADED + body, parameters=PARAMETERS))
    assert explorer.unreached_steps == []
    chosen = dict(explorer.explorations[-1].scenario.overrides)
    assert (chosen["%ctaid.y", 0], chosen["%nctaid.y", 0]) == place


def test_unreachable_code_is_not_missed() -> None:
    assert missed_steps("bra.uni end; cp.async.wait_group 0; end: nanosleep.u32 0;") == set()
    assert (
        missed_steps("setp.eq.u32 %p1, %r6, 77777; @!%p1 bra end; cp.async.wait_group 0; end: nanosleep.u32 0;")
        != set()
    )


def test_the_remainder_of_an_unrolled_loop_is_reached() -> None:
    body = """sub.u32 %r8, %r6, 3; and.b32 %r8, %r8, 3; setp.eq.u32 %p1, %r8, 0; setp.eq.u32 %p2, %r6, 512;
    @%p1 bra end; @%p2 bra end; cp.async.wait_group 0;\nend: nanosleep.u32 0;"""
    assert missed_steps(body) == set()


def test_no_sizes_are_tried_for_conditions_on_data() -> None:
    assert samples(AFTER_A_BRANCH)[: len(SAMPLES) + 1] != [*SAMPLES, MORE_SAMPLES[0]]


AFTER_A_BRANCH = (
    "setp.eq.u32 %p1, %r7, 5; @%p1 bra there; bra.uni end; there: cp.async.wait_group 0; end: nanosleep.u32 0;"
)


def test_a_guess_is_inverted_for_the_code_after_it() -> None:
    assert missed_steps(AFTER_A_BRANCH) == set()
    assert len(samples(AFTER_A_BRANCH)) > len(samples(AFTER_A_BRANCH.replace("@%p1", "")))


def test_code_after_too_many_guesses_remains_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explorer, "MAX_DECISION_FLIPS", 0)
    monkeypatch.setattr(explorer, "MAX_ORDERING_FLIPS", 0)
    assert missed_steps(AFTER_A_BRANCH) == {"cp.async.wait_group"}


def test_code_that_is_not_asynchronous_need_not_be_reached() -> None:
    assert (
        missed_steps("setp.ne.u32 %p1, %r6, 77777; @%p1 bra end; st.global.u32 [%rd1], %r6; end: nanosleep.u32 0;")
        == set()
    )


def test_threads_split_where_a_branch_distinguishes_them_and_all_of_them_are_executed() -> None:
    body = """mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5; setp.ne.u32 %p1, %r2, 6; @%p1 bra end; cp.async.wait_group 0;
    end: nanosleep.u32 0;"""
    explorer = explorer_of(module_of(body, bounds=".reqntid 384, 1, 1"))
    assert explorer.unreached_steps == []
    groups = {group.tids: len(group.events) for group in explorer.explorations[0].groups}
    assert groups == {(*range(192), *range(224, 384)): 0, tuple(range(192, 224)): 1}


def test_a_guard_without_a_branch_does_not_split_threads() -> None:
    body = "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 3; @%p1 barrier.sync 1, 128; bar.sync 0;"
    (group,) = explorer_of(module_of(body)).explorations[0].groups
    assert len(group.tids) == 128
    assert [len(group.for_thread(tid).events) for tid in (0, 2, 3, 127)] == [2, 2, 1, 1]


def test_of_threads_that_split_too_often_only_some_are_executed(monkeypatch: pytest.MonkeyPatch) -> None:
    body = """mov.u32 %r1, %tid.x; more: setp.eq.u32 %p1, %r1, 0; @%p1 bra end; sub.u32 %r1, %r1, 1; bra more;
    end: cp.async.wait_group 0;"""
    monkeypatch.setattr("ptxkit.analysis.symexec.exploration.MAX_DIVERGED_GROUPS", 5)
    explored = explorer_of(module_of(body)).explorations[0]
    assert not explored.is_complete
    assert [group.tids for group in explored.groups][:2] == [(0,), (1,)]
    assert len(explored.groups) == 5


def test_two_ranks_of_a_cluster_are_explored() -> None:
    bounds = ".reqntid 32 .explicitcluster .reqnctapercluster 2, 1, 1"
    ranks = [e.scenario.rank for e in explorer_of(module_of("bar.sync 0;", bounds=bounds)).explorations]
    assert set(ranks) == {0, 1}
    assert {e.scenario.rank for e in explorer_of(module_of("bar.sync 0;")).explorations} == {0}


def test_the_steps_of_all_executions_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "MAX_TOTAL_STEPS", 100)
    body = """mov.u32 %r2, %tid.x; setp.ge.u32 %p2, %r2, 32; @%p2 bra end; mov.u32 %r1, 0; more: add.u32 %r1, %r1, 1;
    setp.lt.u32 %p1, %r1, 200; @%p1 bra more; end: cp.async.wait_group 0;"""
    executed = [(len(e.groups), e.is_complete) for e in explorer_of(module_of(body)).explorations]
    assert executed[0] == (1, False)


def test_a_lane_reads_by_shuffle_the_value_of_lane_zero() -> None:
    body = "mov.u32 %r1, %tid.x; add.u32 %r2, %r1, 100; shfl.sync.idx.b32 %r9, %r2, 0, 31, -1; bar.sync %r9;"
    explorer = explorer_of(module_of(body.replace("bar.sync %r9", "and.b32 %r9, %r9, 15; barrier.sync %r9, 128")))
    for exploration in explorer.explorations:
        (group,) = exploration.groups
        amounts = [
            event.amount
            for tid in (0, 1, 32)
            for event in group.for_thread(tid).events
            if isinstance(event, TraceEvent)
        ]
        assert amounts == [100 & 15, 100 & 15, 132 & 15]


@pytest.mark.parametrize(
    ("mode", "operand", "clamp", "sources"),
    [
        ("idx", 3, 31, {0: 3, 40: 35}),
        ("up", 1, 0, {0: 0, 5: 4, 32: 32}),
        ("down", 2, 31, {0: 2, 31: 31, 40: 42}),
        ("bfly", 16, 31, {0: 16, 20: 4, 33: 49}),
        ("idx", 9, 0x1807, {10: 9, 17: 17}),
    ],
)
def test_a_shuffle_gives_the_value_of_the_source_lane(
    mode: str, operand: int, clamp: int, sources: dict[int, int]
) -> None:
    body = f"""mov.u32 %r1, %tid.x; shfl.sync.{mode}.b32 %r9, %r1, {operand}, {clamp}, -1;
    .shared .b8 tile[256]; mov.u32 %r2, tile; add.u32 %r2, %r2, %r9; st.shared.b8 [%r2], 0;"""
    (group,) = explorer_of(module_of(body)).explorations[0].groups
    base = 1024
    for tid, source in sources.items():
        (event,) = group.for_thread(tid).events
        assert isinstance(event, TraceEvent)
        assert event.address == base + source, tid


@pytest.mark.parametrize(
    ("operation", "members", "expected"),
    [
        ("or.b32", "-1", {0: 31, 32: 63}),
        ("and.b32", "-1", {0: 0, 32: 32}),
        ("max.u32", "0xff", {0: 7, 32: 39}),
        ("min.s32", "-1", {0: 0, 40: 32}),
        ("add.u32", "-1", {0: 31 * 16, 32: 31 * 16 + 32 * 32}),
    ],
)
def test_a_reduction_over_a_warp_combines_the_values_of_its_lanes(
    operation: str, members: str, expected: dict[int, int]
) -> None:
    body = f"""mov.u32 %r1, %tid.x; redux.sync.{operation} %r9, %r1, {members};
    .shared .b8 tile[2048]; mov.u32 %r2, tile; add.u32 %r2, %r2, %r9; st.shared.b8 [%r2], 0;"""
    (group,) = explorer_of(module_of(body)).explorations[0].groups
    for tid, value in expected.items():
        (event,) = group.for_thread(tid).events
        assert isinstance(event, TraceEvent)
        assert event.address == 1024 + value, tid


def test_a_reduction_of_unknown_values_is_the_same_for_all_lanes_of_a_warp() -> None:
    body = """mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2; ld.global.u32 %r3, [%rd3];
    redux.sync.or.b32 %r4, %r3, -1; setp.eq.u32 %p1, %r4, 0; @%p1 bra end; bar.sync 0; end: ret;"""
    for exploration in explorer_of(module_of(body)).explorations:
        sides = {}
        for group in exploration.groups:
            for tid in group.tids:
                sides.setdefault(tid // 32, set()).add(len(group.for_thread(tid).events))
        assert all(len(found) == 1 for found in sides.values())


# ----------------------------------------------------------------------------------------------- neighbors

COPY = """.shared .align 128 .b8 tile[4096]; mov.u32 %r2, tile; mov.u32 %r1, %tid.x; shl.b32 %r3, %r1, 4;
add.u32 %r4, %r2, %r3; cp.async.cg.shared.global [%r4], [%rd1], 16; cp.async.commit_group; cp.async.wait_group 0;"""


def test_the_thread_that_copied_the_bytes_that_another_reads_is_explored_too() -> None:
    body = f"{COPY} bar.sync 0; ld.shared.u32 %r9, [%r2+80];"
    scenarios = kernel_of(module_of(LOADED + body, parameters=PARAMETERS)).scenarios
    assert all(5 in facts.threads for facts in scenarios)


def test_no_neighbors_are_needed_where_threads_read_their_own_copies() -> None:
    body = f"{COPY} ld.shared.u32 %r9, [%r4];"
    facts = kernel_of(module_of(LOADED + body, parameters=PARAMETERS)).scenarios[0]
    assert find_writer_threads({tid: thread.trace for tid, thread in facts.threads.items()}, facts.groups) == []
    assert 5 not in facts.threads


def test_the_neighbors_of_a_scenario_are_few() -> None:
    reads = " ".join(f"ld.shared.u32 %r9, [%r2+{16 * n}];" for n in range(2, 30))
    more = kernel_of(module_of(f"{LOADED}{COPY} bar.sync 0; {reads}", parameters=PARAMETERS)).scenarios[0]
    plain = kernel_of(module_of(f"{LOADED}{COPY}", parameters=PARAMETERS)).scenarios[0]
    assert 0 < len(more.threads) - len(plain.threads) <= MAX_ADDED_THREADS


# ------------------------------------------------------------------------------------------ kernel, rewrites

BARS = """.shared .align 128 .b8 tile[4096]; .shared .align 8 .b64 bars[2]; mov.u32 %r2, tile; mov.u32 %r5, bars;
mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; ld.param.u64 %rd1, [in];"""
FILL = "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 512, [%r5];"


def test_all_threads_are_executed_on_demand_unless_they_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    module = module_of("bar.sync 0;", bounds=".reqntid 96, 1, 1")
    everyone = kernel_of(module).scenarios[0].all_threads(Barrier)
    assert everyone is not None
    assert [(thread.tid, len(thread.trace.events)) for thread in everyone] == [(tid, 1) for tid in range(96)]
    monkeypatch.setattr("ptxkit.analysis.context.all_threads.MAX_THREAD_EVENTS", 10)
    assert kernel_of(module).scenarios[0].all_threads(Barrier) is None


def test_a_scenario_without_guesses_is_exact_and_one_with_opaque_calls_is_opaque() -> None:
    plain = kernel_of(module_of("bar.sync 0;")).scenarios[0]
    assert (plain.is_exact, plain.has_unknown_call) == (True, False)
    guess = f"{LOADED} setp.eq.u32 %p1, %r7, 5; @%p1 bra end; fence.acq_rel.cta; end: bar.sync 0;"
    assert not kernel_of(module_of(guess, parameters=PARAMETERS)).scenarios[0].is_exact
    away = module_of("call.uni away;", before=".extern .func away;")
    assert kernel_of(away).scenarios[0].has_unknown_call


def test_bytes_are_rewritten_by_a_copy_that_was_started_or_waited_for_in_between() -> None:
    wait = "more: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r5], 0; @!%p3 bra more;"
    module = module_of(f"{BARS} bar.sync 0; {FILL} {wait} bar.sync 0;", parameters=PARAMETERS)
    facts = kernel_of(module).scenarios[0]
    start = facts.threads[0].async_writes[0][1].address
    assert isinstance(start, int)
    for tid in (0, 32):
        thread = facts.threads[tid]
        end = len(thread.trace.events)
        assert facts.async_overwrites.may_overwrite_between(thread, 0, end, (start, start + 4)), tid
        assert not facts.async_overwrites.may_overwrite_between(thread, 0, end, (start + 512, start + 516)), tid
        assert not facts.async_overwrites.may_overwrite_between(thread, end - 1, end, (start, start + 4)), tid


def test_of_many_executions_the_first_and_the_last_are_kept() -> None:
    body = """.shared .align 16 .b8 tile[64]; mov.u32 %r2, tile; mov.u32 %r7, 0; more: ld.shared.u32 %r9, [%r2];
    add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, 100; @%p1 bra more;"""
    visits = [event.visit for _, event in kernel_of(module_of(body)).scenarios[0].threads[0].accesses]
    assert visits[0] == 0
    assert visits[-1] == 99
    assert len(visits) < 30


def test_unread_samples_make_one_scenario() -> None:
    body = "cp.async.wait_group 0;"
    without = explorer_of(module_of(body))
    assert [(each.scenario.sample, each.scenario.sample_count) for each in without.explorations] == [(SAMPLES[0], 2)]
    # A value that nothing depends on is not read.
    unused = explorer_of(module_of("ld.param.u32 %r6, [n]; st.global.u32 [%rd1], %r6;" + body, parameters=PARAMETERS))
    assert len(unused.explorations) == 1
    # A third execution has the argument that leaves out the wait.
    assert samples("setp.eq.u32 %p1, %r6, 5; @%p1 bra end;" + body + "end: nanosleep.u32 0;") == [*SAMPLES, SAMPLES[0]]


ROUNDS = """.reg .b32 %n; ld.param.u32 %n, [n]; mov.u32 %r1, 0; more: add.u32 %r1, %r1, 1; {work}
setp.lt.u32 %p1, %r1, %n; @%p1 bra more;"""


@pytest.mark.parametrize(
    ("work", "samples"), [("add.u32 %r2, %r2, 1;" * 900, [*SAMPLES, SMALL_SIZE]), ("", [*SAMPLES])]
)
def test_a_few_iterations_of_a_cluster_are_executed_where_the_others_do_not_end(work: str, samples: list[int]) -> None:
    bounds = ".reqntid 32\n.reqnctapercluster 2, 1, 1"
    body = ROUNDS.format(work=work.replace("add", "cp.async.commit_group; add", 1))
    explorer = explorer_of(module_of(body, bounds=bounds, parameters=".param .u32 n"))
    assert [each.scenario.sample for each in explorer.explorations][::2] == samples
    assert {each.scenario.rank for each in explorer.explorations} == {0, 1}


def test_ctas_of_one_cluster_make_the_same_guesses() -> None:
    body = "ld.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra end; cp.async.commit_group; end:"
    bounds = ".reqntid 32\n.reqnctapercluster 4, 1, 1"
    explorer = explorer_of(module_of(body, bounds=bounds))
    clusters = {id(each.cluster): each.cluster for each in explorer.explorations}.values()
    assert {len(cluster) for cluster in clusters} == {4}
    for cluster in clusters:
        assert [each.scenario.rank for each in cluster] == [0, 1, 2, 3]
        assert len({len(each.groups[0].events) for each in cluster}) == 1
