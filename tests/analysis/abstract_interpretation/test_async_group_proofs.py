"""What is proven about operations of groups on all paths, and that the evidence carries it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from ptxkit.analysis.abstract_interpretation import async_groups
from ptxkit.analysis.abstract_interpretation.async_group_proofs import AsyncGroupProofs
from ptxkit.analysis.ir.program import Program, Step, flatten
from ptxkit.isa.effects import Access, AsyncRegisters, CommitGroup, WaitGroup
from ptxkit.syntax import parse, statement_spans
from tests.analysis.abstract_interpretation.evidence_checker import EvidenceChecker
from tests.analysis.support import module_of, program_of

CORPUS = Path(__file__).resolve().parents[3] / "corpus"
COPY = "cp.async.cg.shared.global [%r1], [%rd1], 16;"
STORE = "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 16;"
COMMIT, WAIT, READ_WAIT = (f"cp.async.bulk.{each};" for each in ("commit_group", "wait_group 0", "wait_group.read 0"))


def starts(program: Program) -> list[Step]:
    """The steps that start operations of a group."""
    return [
        step
        for step in program.own_effectful_steps
        if any(
            isinstance(effect, AsyncRegisters)
            or (isinstance(effect, Access) and effect.completion in ("cp.async", "bulk", "wgmma"))
            for effect in step.effects
        )
    ]


def proves_commit(body: str, **given: str) -> list[bool]:
    """Whether each operation of a kernel is proven to be committed."""
    program = program_of(module_of(body, **given))
    proofs = AsyncGroupProofs(program)
    return [proofs.proof_of_commit(step) is not None for step in starts(program)]


def sources_read(body: str, **given: str) -> list[bool]:
    program = program_of(module_of(body, **given))
    proofs = AsyncGroupProofs(program)
    return [proofs.proof_of_read_sources(step) is not None for step in starts(program)]


def test_a_commit_on_each_path_is_required() -> None:
    assert proves_commit(f"{STORE} {COMMIT}") == [True]
    assert proves_commit(STORE) == [False]
    assert proves_commit(f"{STORE} @%p1 bra END; {COMMIT} END:") == [False]
    assert proves_commit(f"{STORE} @%p1 bra A; {COMMIT} bra END; A: {COMMIT} END:") == [True]
    assert proves_commit(f"{STORE} @%p1 ret; {COMMIT}") == [False]
    assert proves_commit(f"{STORE} @%p1 trap; {COMMIT}") == [True]
    assert proves_commit(f"{COPY} {COMMIT}") == [False]
    assert proves_commit(f"{COPY} cp.async.wait_all;") == [True]
    assert proves_commit(f"{COPY} cp.async.mbarrier.arrive.shared.b64 [%r2];") == [True]


def test_a_wait_must_leave_fewer_groups_than_were_committed_on_each_path() -> None:
    assert sources_read(f"{STORE} {COMMIT} {READ_WAIT}") == [True]
    assert sources_read(f"{STORE} {COMMIT} {WAIT}") == [True]
    assert sources_read(f"{STORE} {READ_WAIT} {COMMIT}") == [False]
    assert sources_read(f"{STORE} {COMMIT} cp.async.bulk.wait_group 1;") == [False]
    assert sources_read(f"{STORE} {COMMIT} {COMMIT} cp.async.bulk.wait_group 1;") == [True]
    assert sources_read(f"{STORE} {COMMIT} @%p1 bra A; {COMMIT} A: cp.async.bulk.wait_group 1;") == [False]
    assert sources_read(f"{STORE} {COMMIT} @%p1 {WAIT}") == [False]


def test_the_last_operation_of_a_loop_counts() -> None:
    loop = f"LOOP: {STORE} {COMMIT} cp.async.bulk.wait_group 1; @%p1 bra LOOP;"
    assert sources_read(loop) == [False]
    assert sources_read(f"{loop} {WAIT}") == [True]


@pytest.mark.parametrize(
    "guards",
    [
        "setp.eq.u32 %p1, %r3, 0;",
        "mov.u32 %r3, %tid.x; setp.eq.u32 %p1, %r3, 0; setp.eq.u32 %p2, %r3, 0;",
        "mov.u32 %r3, %tid.x; setp.eq.u32 %p1, %r3, 0; setp.ne.u32 %p3, %r3, 0; not.pred %p2, %p3;",
        "elect.sync _|%p1, -1; selp.b32 %r3, 1, 0, %p1; setp.ne.s32 %p2, %r3, 0;",
    ],
)
def test_equal_guards_exclude_the_paths_that_contradict_them(guards: str) -> None:
    other = "%p2" if "%p2" in guards else "%p1"
    body = f"{guards} @%p1 {STORE} bar.sync 0; @{other} {COMMIT} @{other} {READ_WAIT}"
    assert (proves_commit(body), sources_read(body)) == ([True], [True])
    branches = f"{guards} @!%p1 bra A; {STORE} A: bar.sync 0; @!{other} bra B; {COMMIT} {READ_WAIT} B: bar.sync 0;"
    assert (proves_commit(branches), sources_read(branches)) == ([True], [True])


@pytest.mark.parametrize(
    ("guards", "other"),
    [
        ("setp.eq.u32 %p1, %r3, 0; setp.eq.u32 %p2, %r3, 1;", "%p2"),
        ("setp.eq.u32 %p1, %r3, 0;", "!%p1"),
        ("setp.eq.u32 %p1, %r3, 0; @%p3 setp.eq.u32 %p1, %r4, 0;", "%p1"),
        ("ld.global.v2.u32 {%r3, %r4}, [%rd2]; setp.eq.u32 %p1, %r3, 0; setp.eq.u32 %p2, %r4, 0;", "%p2"),
        ("mov.u32 %r3, %clock; mov.u32 %r4, %clock; setp.eq.u32 %p1, %r3, 0; setp.eq.u32 %p2, %r4, 0;", "%p2"),
        ("elect.sync _|%p1, -1; elect.sync _|%p2, -1;", "%p2"),
        ("setp.ge.f32 %p1, %f1, %f2; setp.lt.f32 %p3, %f1, %f2; not.pred %p2, %p3;", "%p2"),
    ],
)  # fmt: skip
def test_guards_that_may_differ_exclude_nothing(guards: str, other: str) -> None:
    assert proves_commit(f"{guards} @%p1 {STORE} @{other} {COMMIT}") == [False]


def test_a_guard_that_a_loop_assigns_again_excludes_nothing() -> None:
    loop = f"LOOP: ld.global.u32 %r3, [%rd2]; setp.eq.u32 %p1, %r3, 0; @%p1 {COMMIT} @%p1 {STORE} @%p2 bra LOOP;"
    assert proves_commit(f"{loop} @%p1 {COMMIT}") == [False]
    outside = f"setp.eq.u32 %p1, %r3, 0; LOOP: @%p1 {COMMIT} @%p1 {STORE} @%p2 bra LOOP;"
    assert proves_commit(f"{outside} @%p1 {COMMIT}") == [True]


def test_code_that_may_end_the_thread_leaves_everything_open() -> None:
    before = ".extern .func unknown;\n.func plain { bar.sync 0; ret; }\n.func leaves { exit; }"
    assert proves_commit(f"{STORE} call plain; {COMMIT}", before=before) == [True]
    assert proves_commit(f"{STORE} call leaves; {COMMIT}", before=before) == [False]
    assert proves_commit(f"{STORE} call unknown; {COMMIT}", before=before) == [False]
    assert proves_commit(f"{STORE} {COMMIT} call unknown;", before=before) == [True]


def test_an_unknown_instruction_leaves_everything_open() -> None:
    assert proves_commit(f"{STORE} {COMMIT} unheard.of %r1;") == [False]


def test_more_work_than_the_limit_leaves_everything_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(async_groups, "MAX_GROUP_WORK", 20)
    assert proves_commit(f"{STORE} {COMMIT}") == [True]
    assert proves_commit(f"{STORE} {COMMIT} " * 5) == [False] * 5


def functions(text: str) -> list[Program]:
    module = parse(text)
    return [flatten(module, each, calls=True) for each in module.functions() if each.body is not None]


@cache
def texts() -> tuple[str, ...]:
    """The kernels with operations of groups."""
    paths = (*CORPUS.glob("kernels/*.ptx"), *CORPUS.glob("rules/PTX30[13]_*.ptx"), *CORPUS.glob("rules/PTX31*.ptx"))
    found = [path.read_text("utf-8") for path in sorted(paths)]
    return tuple(text for text in found if "commit_group" in text and len(text) < 20_000)


def proven(text: str) -> Iterator[tuple[Program, Step, str, tuple[Step, ...]]]:
    for program in functions(text):
        proofs = AsyncGroupProofs(program)
        for step in starts(program):
            for kind, proof in (
                ("committed", proofs.proof_of_commit(step)),
                ("read", proofs.proof_of_read_sources(step)),
            ):
                if proof is not None:
                    yield program, step, kind, proof


def test_each_proof_passes_a_checker_that_counts_only_what_it_names() -> None:
    checked = 0
    for text in texts():
        for program, step, kind, proof in proven(text):
            checker = EvidenceChecker(program)
            if kind == "committed":
                assert not checker.ends_unbound(step, proof)
            else:
                assert not checker.reaches_in_flight(step, proof, None)
            checked += 1
    assert checked > 100


def test_without_the_steps_of_its_evidence_nothing_passes_the_checker() -> None:
    rejected = 0
    for text in texts():
        for program, step, kind, proof in proven(text):
            checker = EvidenceChecker(program)
            if proof and kind == "committed":
                assert checker.ends_unbound(step, ())
                rejected += 1
    assert rejected > 50


def without(text: str, steps: list[Step]) -> str:
    """The text with blanks in place of some statements, so that all others keep their places."""
    source = parse(text).source
    assert source is not None
    for step in steps:
        span = statement_spans(source, step.start).statement
        text = text[: span.start] + " " * (span.end - span.start) + text[span.end :]
    return text


def test_without_a_commit_or_a_wait_no_verdict_is_better() -> None:
    deleted = turned = 0
    for text in texts():
        known = {(step.start, kind): {each.start for each in proof} for _, step, kind, proof in proven(text)}
        ordering = [
            step
            for program in functions(text)
            for step in program.own_effectful_steps
            if any(isinstance(effect, CommitGroup | WaitGroup) for effect in step.effects)
        ]
        for step in ordering:
            left = {
                (each.start, kind): {s.start for s in proof} for _, each, kind, proof in proven(without(text, [step]))
            }
            assert left.keys() <= known.keys()
            assert all(step.start not in rests for rests in left.values())
            deleted += 1
            turned += len(known) - len(left)
        assert not [kind for *_, kind, proof in proven(without(text, ordering)) if proof and kind == "read"]
    assert deleted > 100
    assert turned > 100
