"""What is proven about addresses and numbers in registers, on which instructions it rests, and what is needed."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from ptxkit.analysis.ir.program import flatten
from ptxkit.diagnostics.obligation import JudgedObligation, LaunchNeed, ObligationVerdict
from ptxkit.rules import RULES
from ptxkit.rules.function_proofs import FunctionProofs
from ptxkit.rules.model import Evidence
from ptxkit.syntax import parse, statement_spans
from tests.rules.test_obligations import judge_text

KERNELS = Path(__file__).resolve().parents[2] / "corpus" / "kernels"
ADDRESSES = ("PTX201", "PTX202", "PTX205", "PTX206", "PTX207", "PTX208", "PTX209", "PTX210")
TID = "mov.u32 %r1, %tid.x;"


def kernel(body: str, parameters: str = ".param .u64 p, .param .u32 n", *, variables: str = "") -> str:
    return f"""
.version 9.0
.target sm_90a
.address_size 64
.extern .shared .align 16 .b8 dynamic[];
.visible .entry k({parameters})
.reqntid 64, 1, 1
{{
.reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<20>; .reg .b64 %rd<20>;
.shared .align 16 .b8 tile[1024]; .local .align 4 .b8 own[64]; {variables}
{body}
ret;
}}
"""


def verdicts(body: str, code: str, **given: str) -> list[JudgedObligation]:
    return verdicts_on(kernel(body, **given), code)


def verdicts_on(text: str, code: str) -> list[JudgedObligation]:
    found = judge_text(text).obligations
    assert found is not None
    return [each for each in found if each.code == code]


def verdict(body: str, code: str, **given: str) -> JudgedObligation:
    return verdicts(body, code, **given)[-1]


STRIDED = f"{TID} shl.b32 %r2, %r1, 4; mov.u32 %r3, tile; add.s32 %r4, %r3, %r2;"
GLOBAL = "ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd2, %rd1;"


@pytest.mark.parametrize(
    ("code", "body", "evidence", "words"),
    [
        ("PTX201", f"{STRIDED} ld.shared.u32 %r5, [%r4];", "base", "it is `tile` in .shared, or a part of it"),
        ("PTX208", f"{STRIDED} ld.shared.u32 %r5, [%r4];", "base", "it is `tile` in .shared, or a part of it"),
        ("PTX209", f"{STRIDED} ld.shared.u32 %r5, [%r4];", "base", "it is `tile` in .shared, or a part of it"),
        ("PTX205", f"{STRIDED} ld.shared.v4.u32 {{%r5, %r6, %r7, %r8}}, [%r4];", "aligned", "a multiple of 16"),
        (
            "PTX207",
            f"{STRIDED} ld.shared.v4.u32 {{%r5, %r6, %r7, %r8}}, [%r4];",
            "range",
            "16 bytes at offsets 0..1008 are inside `tile` of 1024 bytes",
        ),
        ("PTX202", "mov.u64 %rd1, tile; cvta.shared.u64 %rd2, %rd1; ld.u32 %r5, [%rd2];", "base", "generic address of"),
        ("PTX201", f"{GLOBAL} ld.global.u32 %r5, [%rd2];", "base", "the argument `p`, converted to .global"),
        ("PTX206", "mov.u32 %r2, 32; cp.async.bulk.prefetch.L2.global [%rd1], %r2;", "range", "32..32 by 0"),
    ],
)
def test_evidence_names_the_base_the_alignment_or_the_range(code: str, body: str, evidence: str, words: str) -> None:
    found = verdict(body, code)
    assert (found.verdict, found.evidence) == (ObligationVerdict.DISCHARGED, evidence)
    assert words in found.words


@pytest.mark.parametrize(
    ("code", "body", "needs"),
    [
        ("PTX205", f"{GLOBAL} ld.global.u64 %rd3, [%rd2+8];", (LaunchNeed("p", "multiple", 8),)),
        ("PTX201", "ld.param.u64 %rd1, [p]; ld.global.u32 %r5, [%rd1];", (LaunchNeed("p", "space", space="global"),)),
        ("PTX209", f"{GLOBAL} ld.global.u32 %r5, [%rd2];", (LaunchNeed("p", "space", space="global"),)),
        (
            "PTX207",
            f"{TID} shl.b32 %r2, %r1, 2; mov.u32 %r3, dynamic; add.s32 %r4, %r3, %r2; ld.shared.u32 %r5, [%r4];",
            (LaunchNeed("dynamic", "bytes", 256),),
        ),
    ],
)
def test_conditions_that_the_host_decides_are_needs(code: str, body: str, needs: tuple[LaunchNeed, ...]) -> None:
    found = verdict(body, code)
    assert (found.verdict, found.needs) == (ObligationVerdict.OPEN, needs)
    assert found.words.startswith("it depends on the launch, which needs: ")


def test_a_declared_pointer_needs_nothing() -> None:
    body = "ld.param.u64 %rd1, [q]; ld.global.u64 %rd3, [%rd1+8];"
    for code in ("PTX201", "PTX205", "PTX208"):
        found = verdict(body, code, parameters=".param .u64 .ptr .global .align 16 q")
        assert found.verdict is ObligationVerdict.DISCHARGED


@pytest.mark.parametrize(
    ("code", "body"),
    [
        ("PTX201", "ld.global.u64 %rd2, [%rd1]; ld.shared.u32 %r5, [%rd2];"),
        ("PTX201", "mov.u32 %r3, tile; ld.global.u32 %r2, [%rd1]; add.s32 %r4, %r3, %r2; ld.shared.u32 %r5, [%r4];"),
        ("PTX208", "mov.u32 %r3, tile; @%p1 mov.u32 %r3, own; ld.shared.u32 %r5, [%r3];"),
        ("PTX205", "mov.u32 %r3, tile; add.s32 %r4, %r3, %r2; ld.shared.u32 %r5, [%r4];"),
        ("PTX207", f"{STRIDED} ld.shared.v4.u32 {{%r5, %r6, %r7, %r8}}, [%r4+16];"),
        ("PTX207", f"{TID} shl.b32 %r2, %r1, 4; mov.u32 %r3, tile; sub.s32 %r4, %r3, %r2; ld.shared.u32 %r5, [%r4];"),
        ("PTX202", "mov.u64 %rd2, tile; @%p1 cvta.shared.u64 %rd2, %rd2; ld.u32 %r5, [%rd2];"),
        ("PTX209", "ld.global.u64 %rd1, [%rd2]; cvta.to.shared.u64 %rd3, %rd1; ld.shared.u32 %r5, [%rd3];"),
        ("PTX208", "mov.u32 %r3, tile; add.s32 %r4, %r3, 0x1000000; ld.shared.u32 %r5, [%r4];"),
        ("PTX206", "ld.global.u32 %r2, [%rd1]; cp.async.bulk.prefetch.L2.global [%rd1], %r2;"),
    ],
)
def test_an_operand_that_may_be_wrong_is_not_proven(code: str, body: str) -> None:
    assert verdict(body, code).verdict is not ObligationVerdict.DISCHARGED


@cache
def texts() -> tuple[str, ...]:
    found = [path.read_text("utf-8") for path in sorted(KERNELS.glob("*.ptx"))]
    return tuple(text for text in found if len(text) < 4_000)


def proofs(text: str) -> dict[tuple[str, int, str], Evidence]:
    """The evidence of the rules about addresses, by code, place and operand."""
    module = parse(text)
    found: dict[tuple[str, int, str], Evidence] = {}
    for function in module.functions():
        if function.kind != "entry" or function.body is None:
            continue
        program = flatten(module, function, calls=True)
        for each in program.functions:
            about = FunctionProofs(each)
            for rule in RULES:
                for site in rule.sites(program) if rule.code in ADDRESSES else ():
                    if site.step.index < len(each.steps) and each.steps[site.step.index] is site.step:
                        evidence = rule.prove(about, site) if rule.prove is not None else None
                        if isinstance(evidence, Evidence):
                            found[(rule.code, site.step.start, site.subject)] = evidence
    return found


def test_without_an_instruction_that_evidence_names_the_proof_rests_on_others() -> None:
    """The proofs are gone, or they rest on another fact, such as a later conversion or an earlier assignment."""
    deleted = gone = 0
    for text in texts():
        source = parse(text).source
        assert source is not None
        known = proofs(text)
        named = {step.start: step for evidence in known.values() for step in evidence.steps}
        for start in sorted(named)[:3]:
            span = statement_spans(source, start).statement
            left = proofs(text[: span.start] + " " * (span.end - span.start) + text[span.end :])
            resting = {place for place, each in known.items() if any(step.start == start for step in each.steps)}
            assert resting
            deleted += len(resting)
            gone += sum(each not in left or left[each].words != known[each].words for each in resting)
            assert all(step.start != start for each in left.values() for step in each.steps)
    assert deleted > 200
    assert gone > 0.9 * deleted


@pytest.mark.parametrize(("rounds", "verdict"), [(4, ObligationVerdict.DISCHARGED), (5, ObligationVerdict.VIOLATED)])
def test_a_pointer_that_a_loop_advances_is_followed_in_each_thread(rounds: int, verdict: ObligationVerdict) -> None:
    """The loop counts in another register, so that no comparison bounds the pointer; after `tile` is dynamic memory."""
    body = f"""mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, tile; add.u32 %r3, %r3, %r2;
mov.u32 %r4, {rounds};
again: st.shared.u32 [%r3], %r1; add.u32 %r3, %r3, 256; sub.u32 %r4, %r4, 1; setp.ne.u32 %p1, %r4, 0; @%p1 bra again;"""
    text = kernel(body)
    for each in (text, text.replace(".reqntid 64, 1, 1", ".reqntid 64, 1, 1 .reqnctapercluster 2, 1, 1")):
        assert [one.verdict for one in verdicts_on(each, "PTX207") if one.subject == "[%r3]"] == [verdict]
