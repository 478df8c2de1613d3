"""Attention: right on the reference machine, accepted without spills, and rejected where a fence or wait is removed."""

from __future__ import annotations

import math
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ptxkit import Severity
from ptxkit.build import BuildValueError, VerificationError, verify_assembled
from ptxkit.device import ArgumentError
from ptxkit.emulator import TensorMapArgument
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.kernels import attention, attention_softmax, scaled_dot_product
from ptxkit.kernels.attention_config import AttentionConfig
from ptxkit.kernels.attention_schedule import encode_tiles
from ptxkit.kernels.attention_softmax import RESCALE_THRESHOLD
from ptxkit.kernels.scaled_dot_product import Attention, choose_config
from tests.build.programs import as_bits
from tests.build.support import opcodes, ptxas
from tests.kernels.removal import positions, without

SMALL = AttentionConfig(head=64, keys=32)
VARIANTS = [
    *(choose_config("bf16", head, keys) for head, keys in ((64, 64), (128, 128), (128, 1 << 14), (256, 64))),
    choose_config("f16", 128, 1 << 14),
]
ERROR_OF_ROUNDING = {"bf16": 2.0**-8, "f16": 2.0**-11}
"""The relative error of rounding a result once. P is rounded, too, whose errors are partly averaged."""


@dataclass(frozen=True, slots=True)
class Problem:
    """The lengths of sequences, and the heads of Q and of K."""

    lengths: tuple[tuple[int, int], ...]
    heads: int = 1
    key_heads: int = 1
    causal: bool = False
    top_left: bool = False


PROBLEMS = [
    (SMALL, Problem(((100, 70),))),
    (SMALL, Problem(((150, 150),), heads=2, causal=True)),
    (SMALL, Problem(((40, 90), (70, 20), (130, 64)), causal=True)),
    (SMALL, Problem(((90, 40),), causal=True, top_left=True)),
    (replace(SMALL, slots=2), Problem(((100, 150),), heads=2, key_heads=2)),
    (replace(SMALL, slots=3), Problem(((100, 100),))),
    (replace(SMALL, warpgroups=3), Problem(((200, 65),), causal=True)),
    (AttentionConfig("f16", head=128, keys=48, slots=3), Problem(((100, 100),), causal=True)),
    (AttentionConfig("f16", head=256, keys=16), Problem(((70, 40),))),
]


def attend_exactly(q: Any, k: Any, v: Any, problem: Problem) -> tuple[Any, Any]:
    """Returns the output of one head in float64, and the logarithms of the sums of exponentials."""
    scores = q @ k.T / math.sqrt(q.shape[1])
    if problem.causal:
        diagonal = 0 if problem.top_left else len(k) - len(q)
        scores[np.arange(len(k)) > np.arange(len(q))[:, None] + diagonal] = -np.inf
    greatest = np.maximum(scores.max(1, keepdims=True), -1e300)
    powers = np.exp(scores - greatest)
    sums = powers.sum(1, keepdims=True)
    with np.errstate(divide="ignore"):
        return powers @ v / np.maximum(sums, 1e-300), (np.log(sums) + greatest)[:, 0]


@pytest.mark.parametrize(("config", "problem"), PROBLEMS, ids=str)
def test_attention_is_correct_on_the_reference_machine(config: AttentionConfig, problem: Problem) -> None:
    queries, keys = (sum(each) for each in zip(*problem.lengths, strict=True))
    plan = Attention(
        1,
        queries,
        problem.heads,
        config.head,
        keys=keys,
        key_heads=problem.key_heads,
        lengths=problem.lengths,
        causal=problem.causal,
        top_left=problem.top_left,
        config=config,
    )
    random = np.random.default_rng(3)
    q = random.integers(-8, 9, (1, queries, problem.heads, config.head)) / 4
    k, v = random.integers(-8, 9, (2, 1, keys, problem.key_heads, config.head)) / 4
    found, lse = emulate(plan, q, k, v)
    for sequence in plan.sequences:
        rows = slice(sequence.query, sequence.query + sequence.queries)
        columns = slice(sequence.key, sequence.key + sequence.keys)
        for head in range(problem.heads):
            shared = head * problem.key_heads // problem.heads
            exact, logarithms = attend_exactly(q[0, rows, head], k[0, columns, shared], v[0, columns, shared], problem)
            error = np.abs(found[0, rows, head] - exact).max()
            assert error <= 2 * np.abs(v).max() * ERROR_OF_ROUNDING[config.element]
            np.testing.assert_allclose(lse[0, head, rows], logarithms, rtol=1e-4, atol=1e-4)


def emulate(plan: Attention, q: Any, k: Any, v: Any) -> tuple[Any, Any]:
    """Returns the output and the logarithms of two CTAs of the reference machine, which raises where it finds
    anything.
    """
    element = plan.config.element
    out, lse = np.full(q.shape, 0x7F81, np.uint16), np.full(plan.logarithm_shape, np.nan, np.float32)
    forms = [each.tensor for each in plan.kernel.parameters[:3]]
    maps = [
        TensorMapArgument.tiled(as_bits(each, element), box=form.box, swizzle=form.swizzle)
        for each, form in zip((q, k, v), forms, strict=True)
        if form is not None
    ]
    strides = [step // 2 for step in out.strides[:3]]
    run = plan.kernel.emulate(2)
    run(*maps, out, *strides, lse, encode_tiles(plan.tiles_of(2)).reshape(-1), plan.scale)
    return values_of(out, element), lse


def values_of(bits: Any, element: str) -> Any:
    """Returns the numbers with these 16 bits."""
    if element == "f16":
        return bits.view(np.float16).astype(np.float64)
    return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


GROWTHS = 0.0, 0.5, 0.75, 0.9375, 1.0, 1.0625, 2.0, 8.0, -1.0
"""How much the maximum of a query grows with each block, in units of the threshold, for eight queries each. Up to 1,
the output is not rescaled at once. The two rows of a thread, which are 8 apart, have different ones.
"""


def attend_with_growing_maxima(element: str, *, causal: bool) -> float:
    """Returns the largest error, relative to the largest value, where the scores grow from the last block to the first.

    The first element of a key has the score in base 2 of a query with the growth 1.
    """
    config = replace(SMALL, element=element)
    length = 5 * config.keys
    plan = Attention(1, length, 1, config.head, causal=causal, scale=math.log(2), config=config)
    assert plan.scale == 1.0
    place = np.arange(length)
    q, k = np.zeros((2, 1, length, 1, config.head))
    q[0, :, 0, 0] = np.resize(np.repeat(GROWTHS, 8), length)
    k[0, :, 0, 0] = RESCALE_THRESHOLD * (4 - place // config.keys) - place % 4
    v = np.random.default_rng(4).integers(-8, 9, k.shape) / 4
    found, lse = emulate(plan, q, k, v)
    weight = math.log(2) * math.sqrt(config.head)  # which turns the scores in base 2 into those of the exact result
    exact, logarithms = attend_exactly(q[0, :, 0] * weight, k[0, :, 0], v[0, :, 0], Problem((), causal=causal))
    np.testing.assert_allclose(lse[0, 0], logarithms, rtol=1e-4, atol=1e-4)
    return float(np.abs(found[0, :, 0] - exact).max() / np.abs(v).max())


@pytest.mark.parametrize(("element", "causal"), [("bf16", False), ("f16", False), ("f16", True)])
def test_maxima_that_grow_in_each_block_lose_no_accuracy(element: str, causal: bool) -> None:
    assert attend_with_growing_maxima(element, causal=causal) <= 2 * ERROR_OF_ROUNDING[element]


def test_without_the_bound_on_the_growth_the_probabilities_overflow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention_softmax, "RESCALE_THRESHOLD", 2 * RESCALE_THRESHOLD)
    monkeypatch.setattr(scaled_dot_product, "_build_kernel", attention)
    assert not math.isfinite(attend_with_growing_maxima("f16", causal=False))


@pytest.mark.parametrize("config", VARIANTS, ids=str)
def test_every_variant_has_its_registers_and_overlaps_its_multiplications(
    config: AttentionConfig, tmp_path: Path
) -> None:
    path = tmp_path / "attention.ptx"
    path.write_text(str(attention(config)))
    command = [str(ptxas()), "-v", "-arch=sm_90a", str(path), "-o", str(tmp_path / "attention.cubin")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert " 0 bytes spill stores, 0 bytes spill loads" in done.stderr
    assert "serialized" not in done.stderr
    assert "warning" not in done.stderr


def test_the_verifier_finds_nothing() -> None:
    assert attention(SMALL).verify().diagnostics == ()


REMOVALS = [
    ("mbarrier.init", 0, "PTX501"),
    ("mbarrier.init", -1, "PTX501"),
    ("wgmma.fence", 0, "PTX312"),
    ("wgmma.commit_group", 0, "PTX314"),
    ("wgmma.wait_group", 0, "PTX314"),
    ("setmaxnreg", 1, "PTX605"),
]


@pytest.mark.parametrize(("opcode", "number", "code"), REMOVALS)
def test_without_one_of_its_fences_or_waits_it_is_rejected(opcode: str, number: int, code: str) -> None:
    kernel = attention(SMALL)
    with pytest.raises(VerificationError) as caught:
        verify_assembled(without(kernel, positions(kernel, opcode)[number]), kernel.name)
    assert {found.code for found in caught.value.diagnostics} == {code}
    assert all(found.severity is Severity.ERROR for found in caught.value.diagnostics)


def test_the_tensor_cores_multiply_both_products_of_each_block() -> None:
    found = opcodes(attention(AttentionConfig(head=128, keys=192)).module())
    scores = "wgmma.mma_async.sync.aligned.m64n192k16.f32.bf16.bf16"
    output = "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16"
    assert found.count(scores) == 3 * 128 // 16  # the first block, those with a mask, and those without
    assert found.count(output) == 3 * 192 // 16


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"element": "e4m3"}, "element is bf16 or f16, not 'e4m3'"),
        ({"head": 96}, "head is 64 or 128 or 256, not 96"),
        ({"warpgroups": 4}, "warpgroups is 2 or 3, not 4"),
        ({"keys": 40}, "16 to 256 keys, a multiple of 16, not 40"),
        ({"slots": 1}, "need 2 slots, not 1"),
        ({"head": 128, "keys": 256}, "4 slots of 256 keys need 294912 bytes"),
    ],
)
def test_impossible_variants_are_rejected(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(BuildValueError, match=message):
        attention(replace(SMALL, **changes))


def test_heads_lengths_and_the_scale_must_fit() -> None:
    with pytest.raises(ArgumentError, match="6 heads of Q cannot share 4 heads of K"):
        Attention(1, 64, 6, 64, key_heads=4)
    with pytest.raises(ArgumentError, match="extents 64 and 64"):
        Attention(1, 64, 4, 64, lengths=[(32, 64), (33, 0)])
    with pytest.raises(ArgumentError, match="batch of 1"):
        Attention(2, 64, 4, 64, lengths=[(32, 32), (32, 32)])
    for batch, heads, keys, what in ((1 << 16, 1, 1, "sequences"), (1, 1 << 16, 1, "heads"), (1, 1, 1 << 23, "blocks")):
        with pytest.raises(ArgumentError, match=rf"at most 65535 {what}"):
            Attention(batch, 1, heads, 64, keys=keys)
    for scale in (-1.0, 0.0, math.inf, math.nan):
        with pytest.raises(ArgumentError, match="scale is positive and finite"):
            Attention(1, 64, 4, 64, scale=scale)


class _Shaped:
    def __init__(self, *shape: int) -> None:
        self.shape = shape


def test_a_plan_is_for_one_shape() -> None:
    plan = Attention(2, 100, 4, 64, keys=50, key_heads=2)
    with pytest.raises(ArgumentError, match=r"q has the shape \(2, 100, 4, 64\), not \(2, 4, 100, 64\)"):
        plan.arguments(_Shaped(2, 4, 100, 64), *[_Shaped(2, 50, 2, 64)] * 2, _Shaped(2, 100, 4, 64))
