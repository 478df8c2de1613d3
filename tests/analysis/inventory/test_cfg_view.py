"""The contents of the picture of a function: blocks, edges, loops, facts of its head, and synchronization."""

from __future__ import annotations

import pytest

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.inventory.async_view import find_async_ops
from ptxkit.analysis.inventory.cfg_view import launch_facts_of, view_blocks, view_edges, view_loops
from ptxkit.analysis.ir.program import Program, Step, flatten
from ptxkit.model.view import AsyncOp, AsyncOpCategory, BlockView, ControlFlowEdge, EdgeKind, LoopView
from ptxkit.syntax import parse

HEAD = ".version 9.0\n.target sm_90a\n.address_size 64\n"
REGISTERS = ".reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.reg .pred %p<3>;\n"


def program(body: str, directives: str = "", before: str = "") -> tuple[Program, dict[Step, int]]:
    """Returns a kernel, and the lines of its steps, counted from the first line of its body."""
    text = f"{HEAD}{before}.visible .entry k(.param .u64 a, .param .u32 n) {directives}\n{{\n{REGISTERS}{body}\n}}\n"
    module = parse(text, "k.ptx")
    assert module.source is not None
    found = flatten(module, module.function("k"))
    start = text[: text.index(body)].count("\n")
    return found, {step: module.source.position(step.start)[0] - start for step in found.steps}


def draw_graph(body: str) -> tuple[tuple[BlockView, ...], tuple[ControlFlowEdge, ...], tuple[LoopView, ...]]:
    found, lines = program(body)
    flow = ControlFlowGraph(found)
    blocks = view_blocks(flow, found, lines)
    return blocks, view_edges(flow), view_loops(flow, blocks)


def async_ops_of(body: str) -> list[AsyncOp]:
    found, lines = program(body)
    return [each for _, each in find_async_ops(found, lines)]


def test_a_branch_with_a_predicate_has_two_labeled_edges() -> None:
    blocks, edges, loops = draw_graph("@!%p1 bra L;\nmov.u32 %r1, 1;\nL:\nret;")
    assert [(each.first, each.last, each.label, each.exit_kind) for each in blocks] == [
        (1, 1, "", ""),
        (2, 2, "", ""),
        (4, 4, "L", "return"),
    ]
    assert edges == (
        ControlFlowEdge(0, 1, EdgeKind.NEXT),
        ControlFlowEdge(0, 2, EdgeKind.TAKEN, "@!%p1"),
        ControlFlowEdge(1, 2, EdgeKind.NEXT),
    )
    assert loops == ()


def test_a_jump_and_the_targets_of_an_indexed_branch_are_separate_edges() -> None:
    _, edges, _ = draw_graph("T: .branchtargets A, B;\nbrx.idx %r1, T;\nA:\nbra B;\nmov.u32 %r1, 1;\nB:\nret;")
    assert {(each.source, each.target, each.kind) for each in edges} >= {
        (0, 1, EdgeKind.INDEXED),
        (0, 3, EdgeKind.INDEXED),
        (1, 3, EdgeKind.JUMP),
    }


def test_a_loop_has_its_blocks_and_lines() -> None:
    blocks, edges, loops = draw_graph("L:\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 9;\n@%p1 bra L;\nret;")
    assert loops == (LoopView((0,), 2, 4),)
    assert ControlFlowEdge(0, 0, EdgeKind.TAKEN, "@%p1") in edges
    assert blocks[0].steps == 3


def test_a_conditional_exit_has_a_successor_and_may_end() -> None:
    blocks, edges, _ = draw_graph("@%p1 exit;\ntrap;")
    assert [each.exit_kind for each in blocks] == ["exit", "trap"]
    assert edges == (ControlFlowEdge(0, 1, EdgeKind.NEXT),)


def test_the_first_of_several_labels_names_a_block_even_in_an_inner_scope() -> None:
    blocks, _, _ = draw_graph("bra A;\n{\nA:\nB:\nmov.u32 %r1, 1;\nbra A;\n}\nA:\nret;")
    assert [each.label for each in blocks] == ["", "A", "A"]


@pytest.mark.parametrize(
    ("instruction", "sort", "words"),
    [
        ("cp.async.ca.shared.global [%r1], [%rd1], 16;", AsyncOpCategory.ISSUE, ""),
        ("cp.async.commit_group;", AsyncOpCategory.COMMIT, "closes the cp.async group"),
        (
            "cp.async.wait_group 2;",
            AsyncOpCategory.WAIT,
            "waits until the cp.async groups are complete, all but the last 2",
        ),
        (
            "cp.async.wait_all;",
            AsyncOpCategory.WAIT,
            "closes its group and waits until the cp.async groups are complete",
        ),
        ("cp.async.bulk.wait_group.read 0;", AsyncOpCategory.WAIT, "waits until the bulk groups are read"),
        (
            "fence.proxy.async.shared::cta;",
            AsyncOpCategory.FENCE,
            "orders the generic and the async proxy: shared::cta",
        ),
        ("bar.sync 1, 64;", AsyncOpCategory.BARRIER, "cta barrier 1: sync, 64 threads"),
        (
            "mbarrier.init.shared.b64 [%r1], 3;",
            AsyncOpCategory.SETUP,
            "initializes mbarrier [%r1] for 3 arrivals a phase",
        ),
        (
            "mbarrier.arrive.expect_tx.shared.b64 %rd1, [%r1], 64;",
            AsyncOpCategory.ARRIVE,
            "arrives at mbarrier [%r1], which expects 64 bytes",
        ),
        (
            "mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0;",
            AsyncOpCategory.WAIT,
            "waits at mbarrier [%r1] for the phase of parity 0",
        ),
        (
            "cp.async.mbarrier.arrive.noinc.shared.b64 [%r1];",
            AsyncOpCategory.COMMIT,
            "makes mbarrier [%r1] track its copies",
        ),
        ("griddepcontrol.wait;", AsyncOpCategory.WAIT, "waits for the grids before"),
        ("wgmma.fence.sync.aligned;", AsyncOpCategory.FENCE, "orders registers before wgmma"),
    ],
)
def test_an_instruction_is_described_by_its_relation_to_others(
    instruction: str, sort: AsyncOpCategory, words: str
) -> None:
    (found,) = async_ops_of(f"{instruction}\nret;")
    assert (found.line, found.category, found.description) == (1, sort, words)


@pytest.mark.parametrize("instruction", ["add.u32 %r1, %r1, 1;", "shfl.sync.idx.b32 %r1, %r2, 0, 31, -1;", "ret;"])
def test_other_instructions_have_no_description(instruction: str) -> None:
    assert async_ops_of(f"{instruction}\nret;") == []


def test_the_head_shows_the_launch_and_the_requirements_of_a_kernel() -> None:
    variables = ".shared .align 16 .b8 used[64];\n.shared .align 16 .b8 unused[128];\n.extern .shared .b8 more[];\n"
    found, _ = program(
        "mov.u32 %r1, used;\nmov.u32 %r1, more;\nret;", ".reqntid 32, 2, 1 .explicitcluster .maxnreg 64", variables
    )
    assert dict(launch_facts_of(found)) == {
        ".reqntid": "threads of a block: 32 x 2 x 1",
        ".explicitcluster": "cluster: given at launch",
        ".maxnreg": "registers of a thread, at most: 64",
        "shared": "64 bytes and launch-sized memory",
        "parameters": "2 (12 bytes)",
        "registers used": "1 .b32",
    }
    plain, _ = program("ret;")
    assert "shared" not in dict(launch_facts_of(plain))
