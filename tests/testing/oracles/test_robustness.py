"""Whether ptxkit terminates: crashes, long checks and excessive memory are reported."""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path
from threading import Semaphore

import pytest

from ptxkit import linter
from ptxkit.results import FileResult
from ptxkit.source import SourceFile
from ptxkit.testing.oracles import assertions, robustness
from tests.testing.oracles.test_assertions import DOUBLE


@pytest.mark.parametrize("text", [DOUBLE, DOUBLE[:200], "", "}", DOUBLE.replace("u32", "x32")])
def test_any_text_is_handled(text: str) -> None:
    assert robustness.find_robustness_fault(text) == ""


RULES = Path(__file__).parents[3] / "corpus" / "rules"

ONCE_TOO_MUCH = {
    "a header with three thousand directives": ".reqntid 128, 1, 1\n" * 3000,
    "blocks of 2^38 threads": ".reqntid 128, 1, 0x7fffffff",
    "blocks of at most 2^38 threads": ".maxntid 128, 1, 0x7fffffff",
}
"""After `.entry kernel()`: texts at which changed files hung, or which filled the memory."""


@pytest.mark.parametrize("bounds", ONCE_TOO_MUCH.values(), ids=ONCE_TOO_MUCH.keys())
def test_texts_that_once_took_too_much_memory_are_handled(bounds: str) -> None:
    assert (
        robustness.find_robustness_fault(f".version 8.6\n.target sm_90\n.entry kernel()\n{bounds}\n{{ ret; }}\n") == ""
    )


MANY = 100
BODIES_ONCE_TOO_LONG = {
    "an arrival that fills very many phases": """
        mov.u32 %r, bar; mbarrier.init.shared.b64 [%r], 1; bar.sync 0; mbarrier.arrive.shared.b64 _, [%r], 1048575;""",
    "waits for many phases at which none of very many arrivals arrives": "".join(
        (
            "mbarrier.arrive.shared.b64 _, [bar];\n" * MANY,
            *(
                f"WAIT{each}: mbarrier.try_wait.parity.shared.b64 %p, [bar+{8 * each}], 0; @!%p bra WAIT{each};\n"
                for each in range(1, MANY)
            ),
        )
    ),
    "thousands of products without a fence": 10
    * MANY
    * "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%f0, %f1, %f2, %f3}, %rd, %rd, 1, 1, 1;\n",
}
"""In a kernel of a thousand threads: code at which changed or generated files hung."""


@pytest.mark.parametrize("body", BODIES_ONCE_TOO_LONG.values(), ids=BODIES_ONCE_TOO_LONG.keys())
def test_texts_that_once_took_too_long_are_handled(body: str) -> None:
    declared = f".shared .b64 bar[{MANY}]; .reg .b32 %r; .reg .b64 %rd; .reg .pred %p; .reg .f32 %f<4>;"
    head = ".version 8.6\n.target sm_90a\n.address_size 64\n.entry kernel()\n.reqntid 1024, 1, 1\n"
    assert robustness.find_robustness_fault(f"{head}{{ {declared}\n{body}\nret; }}\n") == ""


@pytest.mark.parametrize("ctas", ["2, 0, 1", "2, 1, 0x7fffffff"])
def test_an_impossible_cluster_is_executed_as_one_cta(ctas: str) -> None:
    text = (RULES / "PTX506_ok_count_without_data.ptx").read_text()
    changed = re.sub(r"(\.reqnctapercluster )[^\n{]*", rf"\g<1>{ctas}", text)
    assert changed != text
    assert robustness.find_robustness_fault(changed) == ""


def test_a_crash_in_the_linter_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(source: SourceFile) -> FileResult:
        return linter.crash_result(source.path, KeyError("x"))

    monkeypatch.setattr(robustness, "lint_source", breaks)
    with pytest.raises(AssertionError, match="the analysis of this file broke: KeyError: 'x'"):
        assertions.assert_survives(DOUBLE)


def test_a_long_check_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(source: SourceFile) -> FileResult:
        end = time.thread_time() + robustness.SECONDS + 0.3
        while time.thread_time() < end:
            pass
        return linter.lint_source(source)

    monkeypatch.setattr(robustness, "lint_source", slow)
    monkeypatch.setattr(robustness, "SECONDS", 0.2)
    monkeypatch.setattr(robustness, "_measure_slowdown", lambda: 1.0)
    assert robustness.find_robustness_fault(DOUBLE).startswith("takes too long: ")
    monkeypatch.setattr(robustness, "_measure_slowdown", lambda: 100.0)
    assert robustness.find_robustness_fault(DOUBLE) == ""


def test_a_small_module_has_one_second_and_a_large_file_has_one_for_each_of_its_parts() -> None:
    assert robustness.time_limit(DOUBLE) == robustness.time_limit(".entry" * 1000) == 1.0
    assert robustness.time_limit("x" * 3 * robustness.SMALL_TEXT) == 3.0


@pytest.mark.skipif(sys.platform != "linux", reason="the system does not report memory")
@pytest.mark.parametrize(("megabytes", "reported"), [(20, ""), (200, "takes too much memory: ")])
def test_excessive_memory_is_reported(megabytes: int, reported: str, monkeypatch: pytest.MonkeyPatch) -> None:
    robustness._warm_up()  # lints a text once in a process, without a sampler
    measure, samples = robustness._address_space, Semaphore(0)

    def sample() -> int:
        size = measure()
        samples.release()
        return size

    def large(source: SourceFile) -> FileResult:
        held = bytearray(megabytes * 1_000_000)
        while samples.acquire(blocking=False):
            pass
        for _ in range(2):  # the first of two samples may have begun before the memory was allocated
            samples.acquire()
        samples.acquire()  # the sampler stores a size before it takes the next sample
        del held
        return linter.lint_source(source)

    monkeypatch.setattr(robustness, "_address_space", sample)
    monkeypatch.setattr(robustness, "lint_source", large)
    assert robustness.find_robustness_fault(DOUBLE)[:23] == reported


def test_another_text_after_printing_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        robustness, "format_source", lambda source: DOUBLE.replace("shl.b32 %r2, %r1, 1", "mov.u32 %r2, 0")
    )
    assert robustness.find_robustness_fault(DOUBLE) == "formatted it is another module"
