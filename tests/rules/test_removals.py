"""Whole kernels of the corpus with one of their fences, waits or commits removed."""

from __future__ import annotations

import re
from functools import cache

import pytest

from ptxkit import Severity, lint
from ptxkit.diagnostics import Verdict
from tests.corpus.support import CORPUS, kernels

_WAIT = re.compile(r"mbarrier\.(try|test)_wait")
_BRANCH = re.compile(r"\s*@!?%\w+\s+bra")

#: (kernel, prefix of the removed line, which one of those lines, the code of the resulting finding).
REMOVALS = (
    ("bulk_add_one.sm_90", "mbarrier.init", 0, "PTX501"),
    ("bulk_add_one.sm_90", "bar.sync", 0, "PTX501"),
    ("bulk_add_one.sm_90", "mbarrier.arrive.expect_tx", 0, "PTX503"),
    ("bulk_add_one.sm_90", "fence.proxy.async", 0, "PTX401"),
    ("bulk_add_one.sm_90", "bar.sync", 1, "PTX401"),
    ("bulk_add_one.sm_90", "cp.async.bulk.commit_group", 0, "PTX301"),
    ("bulk_add_one.sm_90", "cp.async.bulk.wait_group", 0, "PTX303"),
    ("bulk_add_one_issuer_fence.sm_90", "fence.proxy.async", 0, "PTX401"),
    ("bulk_persistent.sm_90a", "cp.async.bulk.wait_group.read", 0, "PTX303"),
    ("bulk_persistent.sm_90a", "bar.sync", 1, "PTX303"),
    ("bulk_persistent.sm_90a", "fence.proxy.async", 0, "PTX401"),
    ("bulk_reduce_add.sm_90", "cp.async.bulk.wait_group.read", 0, "PTX303"),
    ("bulk_reduce_add.sm_90", "fence.proxy.async", 1, "PTX401"),
    ("bulk_reduce_add.sm_90", "cp.async.bulk.commit_group", 0, "PTX303"),
    ("bulk_rows.sm_90a", "mbarrier.arrive.expect_tx", 0, "PTX503"),
    ("bulk_store_signal.sm_90", "cp.async.bulk.commit_group", 0, "PTX301"),
    ("cluster_launch_control.sm_100a", "bar.sync", 0, "PTX501"),
    ("cp_async_four_stages.sm_80", "cp.async.wait_group", 0, "PTX302"),
    ("cp_async_mbarrier.sm_80", "cp.async.mbarrier.arrive", 0, "PTX302"),
    ("cp_async_mbarrier_noinc.sm_80", "bar.sync", 1, "PTX621"),
    ("cp_async_one_stage.sm_80", "cp.async.wait_group", 0, "PTX302"),
    ("cp_async_one_stage.sm_80", "cp.async.commit_group", 4, "PTX301"),
    ("cp_async_three_stages.sm_80", "bar.sync", 0, "PTX302"),
    ("cp_async_two_stages.sm_80", "cp.async.wait_group", 0, "PTX302"),
    ("ring_two_producers.sm_90a", "bar.sync", 0, "PTX501"),
    ("st_async_exchange.sm_90", "barrier.cluster.wait", 0, "PTX501"),
    ("stmatrix_tma_store.sm_90a", "fence.proxy.async", 0, "PTX401"),
    ("stmatrix_tma_store.sm_90a", "cp.async.bulk.wait_group.read", 0, "PTX303"),
    ("tcgen05_product.sm_100a", "mbarrier.arrive.expect_tx", 0, "PTX503"),
    ("tensor_copies.sm_90a", "mbarrier.arrive.expect_tx", 0, "PTX503"),
    ("wgmma_st_shared.sm_90a", "fence.proxy.async", 0, "PTX401"),
    ("wgmma_st_shared.sm_90a", "wgmma.commit_group", 0, "PTX301"),
)


#: (kernel, which of its waits on an mbarrier): each is in a polling loop, and its data are read after it.
LOOPS = (
    ("bulk_add_one.sm_90", 0),
    ("bulk_persistent.sm_90a", 0),
    ("bulk_rows.sm_90a", 0),
    ("elected_leader.sm_90", 0),
    ("hand_bulk_tile.sm_90", 0),
    ("hand_generic_addresses.sm_90", 0),
    ("ring_one_producer.sm_90a", 1),
    ("ring_two_producers.sm_90a", 1),
    ("wgmma_tma.sm_90a", 0),
)

#: (kernel, a wait, which one, the same wait that leaves one group more, the code of the resulting finding).
WEAKER = (
    ("cp_async_four_stages.sm_80", "cp.async.wait_group 3;", 0, "cp.async.wait_group 4;", "PTX302"),
    ("cp_async_three_stages.sm_80", "cp.async.wait_group 1;", 1, "cp.async.wait_group 2;", "PTX302"),
    ("cp_async_two_stages.sm_80", "cp.async.wait_group 1;", 0, "cp.async.wait_group 2;", "PTX302"),
    ("bulk_reduce_add.sm_90", "cp.async.bulk.wait_group.read 1;", 0, "cp.async.bulk.wait_group.read 2;", "PTX303"),
    ("stmatrix_tma_store.sm_90a", "cp.async.bulk.wait_group.read 1;", 0, "cp.async.bulk.wait_group.read 2;", "PTX303"),
    ("bulk_store_signal.sm_90", "fence.proxy.async.shared::cta;", 0, "fence.proxy.async.global;", "PTX401"),
    ("wgmma_st_shared.sm_90a", "fence.proxy.async.shared::cta;", 0, "fence.acq_rel.cta;", "PTX401"),
)


@cache
def kernel(name: str) -> str:
    return (CORPUS / "kernels" / f"{name}.ptx").read_text(encoding="utf-8")


def without(text: str, opcode: str, which: int) -> str:
    """Returns the text with that line as a comment, so that the others keep their numbers."""
    lines = text.splitlines()
    numbers = [number for number, line in enumerate(lines) if line.split("//")[0].strip().startswith(opcode)]
    lines[numbers[which]] = f"// {lines[numbers[which]]}"
    return "\n".join(lines)


def asked_once(text: str, which: int) -> str:
    """Returns the text without the branch that repeats a wait on an mbarrier."""
    lines = text.splitlines()
    waits = [number for number, line in enumerate(lines) if _WAIT.search(line.split("//")[0])]
    branch = next(number for number in range(waits[which], len(lines)) if _BRANCH.match(lines[number]))
    lines[branch] = f"// {lines[branch]}"
    return "\n".join(lines)


def replace_text(text: str, line: str, which: int, by: str) -> str:
    """Returns the text with that line replaced by another."""
    lines = text.splitlines()
    numbers = [number for number, each in enumerate(lines) if each.strip().startswith(line)]
    lines[numbers[which]] = by
    return "\n".join(lines)


def errors(verdict: Verdict) -> list[str]:
    return [found.code for found in verdict.diagnostics if found.severity is Severity.ERROR]


@pytest.mark.parametrize(("name", "opcode", "which", "code"), REMOVALS)
def test_a_kernel_without_one_of_its_lines_is_rejected(name: str, opcode: str, which: int, code: str) -> None:
    assert code in errors(lint(without(kernel(name), opcode, which)))


@pytest.mark.parametrize(("name", "which"), LOOPS)
def test_a_wait_that_is_polled_once_has_not_waited(name: str, which: int) -> None:
    assert "PTX302" in errors(lint(asked_once(kernel(name), which)))


@pytest.mark.parametrize(("name", "line", "which", "by", "code"), WEAKER)
def test_a_weaker_wait_or_fence_is_rejected(name: str, line: str, which: int, by: str, code: str) -> None:
    assert code in errors(lint(replace_text(kernel(name), line, which, by)))


def test_the_complete_kernels_are_in_the_clean_corpus() -> None:
    """In tests/corpus/test_compilers.py."""
    assert {name for name, *_ in (*REMOVALS, *LOOPS, *WEAKER)} <= {path.stem for path in kernels()}


def test_every_rule_about_order_is_broken_by_some_removal() -> None:
    assert {code for *_, code in REMOVALS} == {"PTX301", "PTX302", "PTX303", "PTX401", "PTX501", "PTX503", "PTX621"}
