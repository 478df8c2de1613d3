"""Warnings: kernels that were never used and copies that nothing waits for, and none for correct kernels."""

from __future__ import annotations

import gc
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from ptxkit import parse
from ptxkit.build import (
    Assembled,
    Barrier,
    BuildWarning,
    FindingWarning,
    Function,
    Global,
    Kernel,
    NeverWaitedWarning,
    Register,
    UnusedWarning,
    f32,
    u32,
    verify_assembled,
)
from tests.build.support import marked_line


@pytest.fixture(autouse=True)
def collect_garbage() -> None:
    """The warnings of other tests are discarded."""
    gc.collect()


def collect_warnings(action: Callable[[], object]) -> list[warnings.WarningMessage]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        action()
        gc.collect()
    return [each for each in caught if issubclass(each.category, BuildWarning)]


# ---------------------------------------------------------------------------------------------- never used


def write_kernel(name: str = "left") -> Kernel:
    k = Kernel(name)  # the kernel
    k.param(Global[f32], "out").store(1.0)
    return k


def test_an_unused_kernel_is_reported_at_its_line() -> None:
    (found,) = collect_warnings(lambda: write_kernel() and None)
    assert found.category is UnusedWarning
    assert str(found.message) == "Kernel('left') was built and never used: print, verify, compile or launch it"
    assert (found.filename, found.lineno) == (marked_line("the kernel").file, marked_line("the kernel").line)


@pytest.mark.parametrize("use", [str, Kernel.module, Kernel.verify, Kernel.assemble])
def test_a_used_kernel_is_not_reported(use: Callable[[Kernel], object]) -> None:
    assert collect_warnings(lambda: use(write_kernel()) and None) == []


def test_an_empty_kernel_is_not_reported() -> None:
    assert collect_warnings(lambda: Kernel("empty") and None) == []


def test_a_function_is_used_when_it_is_called() -> None:
    def build(*, call: bool) -> None:
        function = Function("f")
        function.cta_sync()
        k = Kernel("k")
        if call:
            function(k)
        str(k)

    assert collect_warnings(lambda: build(call=True)) == []
    (found,) = collect_warnings(lambda: build(call=False))
    assert "Function('f') was built and never used" in str(found.message)


def test_a_kernel_that_an_error_interrupted_is_not_reported() -> None:
    def refuse_copy() -> None:
        k = write_kernel()
        with pytest.raises(TypeError):
            k.tid.x + k.register(f32)  # type: ignore[arg-type]

    def raise_error() -> None:
        k = write_kernel()
        with pytest.raises(KeyError), k.if_(k.tid.x < 3):
            raise KeyError

    assert collect_warnings(refuse_copy) == []
    assert collect_warnings(raise_error) == []


PROGRAM = """
from ptxkit.build import Kernel
{imports}
k = Kernel("left")
k.cta_sync()
{more}
"""


@pytest.mark.parametrize(
    ("more", "expected"), [("", True), ("str(k)", False), ("raise ValueError", False), ("del k", True)]
)
def test_at_the_programs_end_its_own_kernels_are_reported(more: str, expected: bool, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(imports="", more=more))
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False)
    assert (f"{program}:4: UnusedWarning" in done.stderr) is expected, done.stderr


def test_at_the_programs_end_kernels_of_imported_modules_are_not_reported(tmp_path: Path) -> None:
    (tmp_path / "offers.py").write_text(PROGRAM.format(imports="", more=""))
    program = tmp_path / "program.py"
    program.write_text("import offers\n")
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True)
    assert done.stderr == ""


# ------------------------------------------------------------------------------------------ never waited for


class Copying:
    """A kernel with a tile, a source, and a barrier for one thread."""

    def __init__(self) -> None:
        self.k = k = Kernel("k", threads=1)
        self.source, self.tile = k.param(Global[f32], "source", align=16), k.shared(f32, 64, align=16)
        self.full = k.mbarrier("full", 2)
        self.full.init(1)

    def bulk(self, barrier: Barrier) -> None:
        barrier.arrive_expect_tx(16)  # bytes are expected
        self.k.cp_async_bulk(self.tile, self.source, 16, barrier)


def groups(c: Copying, *, wait: bool) -> None:
    c.k.cp_async_cg(c.tile, c.source, 16)
    c.k.cp_async_commit_group()
    if wait:
        c.k.cp_async_wait_group(0)


def thread_pipeline(c: Copying, *, wait: bool) -> None:
    pipe = c.k.thread_pipeline(2)
    c.k.copy_async(c.tile, c.source)
    pipe.commit()
    if wait:
        pipe.wait(0)


def stores(c: Copying, *, wait: bool) -> None:
    c.k.cp_async_bulk(c.source, c.tile, 16)
    c.k.tma_store_arrive()
    if wait:
        c.k.tma_store_wait()


def bulk(c: Copying, *, wait: bool) -> None:
    c.bulk(c.full[1])
    if wait:
        c.full[c.k.tid.x].wait(0)


def track_copy(c: Copying, *, wait: bool) -> None:
    c.k.copy_async(c.tile, c.source)
    c.full.track_cp_async()
    if wait:
        c.full.wait(token=c.full.arrive())


def far(c: Copying, *, wait: bool) -> None:
    c.tile.map_rank(1).store_async(1.0, c.full.map_rank(1))
    if wait:
        c.full.wait(0, scope="cluster")


def pipeline(c: Copying, *, wait: bool) -> None:
    pipe = c.k.pipeline(2, producers=1, consumers=1)
    pipe.init()
    producer = pipe.producer()
    producer.commit(producer.acquire())
    if wait:
        pipe.consumer().wait()


def raw(c: Copying, *, wait: bool) -> None:
    groups(c, wait=False)
    if wait:
        c.k.asm("{ cp.async.wait_all; }")


CASES = [groups, thread_pipeline, stores, bulk, track_copy, far, pipeline, raw]


@pytest.mark.parametrize("case", CASES)
def test_a_commit_without_a_wait_is_reported_once(case: Callable[..., None]) -> None:
    c = Copying()
    case(c, wait=False)
    found = collect_warnings(lambda: (c.k.assemble(), c.k.assemble()))
    assert [each.category for each in found] == [NeverWaitedWarning]
    assert found[0].filename == __file__


@pytest.mark.parametrize("case", CASES)
def test_a_commit_with_a_wait_is_not_reported(case: Callable[..., None]) -> None:
    c = Copying()
    case(c, wait=True)
    assert collect_warnings(c.k.assemble) == []


def test_the_line_is_that_of_the_commit() -> None:
    c = Copying()
    bulk(c, wait=False)
    (found,) = collect_warnings(c.k.assemble)
    assert found.lineno == marked_line("bytes are expected").line
    assert str(found.message) == "mbarrier `full` tracks the copies of this line, and no thread waits for it"


def test_printing_an_unfinished_kernel_reports_nothing() -> None:
    c = Copying()
    bulk(c, wait=False)
    assert collect_warnings(lambda: str(c.k)) == []


def by_function(c: Copying) -> None:
    function = Function("wait")
    function.param(Barrier, "bar").wait(0)
    c.bulk(c.full)
    function(c.k, c.full)


def by_address(c: Copying) -> None:
    c.bulk(c.full)
    address: Register[u32] = c.full.to_register()
    c.k.asm("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [{at}], 0; }", at=address)


def by_other_module(c: Copying) -> None:
    c.bulk(c.full)
    c.k.external("elsewhere")(c.k)


@pytest.mark.parametrize("case", [by_function, by_address, by_other_module])
def test_where_the_wait_may_be_elsewhere_nothing_is_reported(case: Callable[[Copying], None]) -> None:
    c = Copying()
    case(c)
    assert collect_warnings(c.k.assemble) == []


# ---------------------------------------------------------------------------------------- the verifier's warnings


def past_the_end(threads: int) -> Kernel:
    k = Kernel("past", threads=threads)
    tile = k.shared(f32, 64)
    tile[k.tid.x].store(1.0)  # each has its own
    return k


def test_a_warning_of_the_verifier_is_a_warning_at_the_users_line() -> None:
    [found] = collect_warnings(past_the_end(96).verify)
    assert found.category is FindingWarning
    assert str(found.message) == (
        "PTX207: uses 4 bytes from byte 380 on: begins 124 bytes after the end of `shared_0`, which has 256 bytes; "
        "keep the 4 bytes within `shared_0`, or declare it larger"
    )
    assert (found.filename, found.lineno) == (__file__, marked_line("each has its own").line)
    assert collect_warnings(past_the_end(64).verify) == []


def test_a_warning_for_a_text_is_at_its_own_line() -> None:
    text = str(past_the_end(96))
    place = text[: text.index("st.shared")].count("\n") + 1
    [found] = collect_warnings(lambda: verify_assembled(Assembled(parse(text, "k.ptx"), ()), "past"))
    assert (found.filename, found.lineno) == ("k.ptx", place)
