"""Statements about PTX that a test asserts, each with somebody else as the judge: ptxas, the GPU, the machine.

Each raises AssertionError with what differs, and a test is skipped, with the one reason, where the judge is not there
(no ptxas, no GPU).
"""

from __future__ import annotations

import atexit
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias
from unittest import SkipTest

import numpy as np

from ptxkit.device import NoDeviceError, assembler
from ptxkit.emulate import run
from ptxkit.source import SourceFile
from ptxkit.syntax import format_source, parse
from ptxkit.syntax.tree import Module
from ptxkit.testing.agreement import why_refused
from ptxkit.testing.device_process import DeviceLaunch, DeviceProcess
from ptxkit.testing.generated import GeneratedKernel
from ptxkit.testing.machine_code import LEVELS, cubin_of, launch_of
from ptxkit.testing.ptxas import Ptxas, oracle
from ptxkit.testing.strategies import Instruction

__all__ = [
    "LEVELS",
    "DeviceLaunch",
    "Source",
    "assert_machine_matches_device",
    "assert_optimisation_invariant",
    "assert_ptxas_agrees",
    "assert_round_trips",
    "assert_same_kernel",
    "cubin_of",
    "launch_of",
    "on_machine",
    "text_of",
]

Source: TypeAlias = GeneratedKernel | Instruction | Module | str


def assert_ptxas_agrees(source: Source) -> None:
    """ptxkit and ptxas both accept, or both refuse, an instruction, a module, or PTX text."""
    text = text_of(source)
    version, target = _aim(text)
    judge = _assembler()
    if not judge.knows(version, target):
        raise SkipTest(f"ptxas {judge.release} does not know PTX {version[0]}.{version[1]} for {target}")
    ours, theirs = why_refused(text), judge.refusal(text, target)
    if (ours is None) != (theirs is None):
        raise AssertionError(f"ptxkit: {ours or 'accepted'}\nptxas {judge.release}: {theirs or 'accepted'}\n{text}")


def assert_round_trips(source: Source) -> None:
    """What is printed of a module reads back as the same, printed or formatted, and is judged the same."""
    text = text_of(source)
    printed = str(parse(text))
    again = str(parse(printed))
    _same_text(printed, again, "a module that is printed, read and printed again")
    _same_text(
        printed, str(parse(format_source(SourceFile("module.ptx", text)))), "a module that is formatted and read"
    )
    _same_text(why_refused(text) or "", why_refused(printed) or "", "the verdict on what is printed")


def assert_machine_matches_device(source: Source, launch: DeviceLaunch | None = None, *, level: str = "3") -> None:
    """The reference machine and the GPU leave the same bytes. launch: may be left out for a generated kernel."""
    text, launch = text_of(source), _launch_of(source, launch)
    theirs = _on_device(text, launch, level)
    mine = on_machine(text, launch)
    for at, array in mine.items():
        _same_bytes(array, theirs[at], f"argument {at}", "machine", "GPU", text)


def assert_optimisation_invariant(
    source: Source, launch: DeviceLaunch | None = None, levels: Sequence[str] = LEVELS
) -> None:
    """The GPU leaves the same bytes whatever the level of optimisation. levels: some of `LEVELS`."""
    text, launch = text_of(source), _launch_of(source, launch)
    first = _on_device(text, launch, levels[0])
    for level in levels[1:]:
        for at, array in _on_device(text, launch, level).items():
            _same_bytes(first[at], array, f"argument {at}", f"-O{levels[0]}", f"-O{level}", text)


def assert_same_kernel(
    first: Source, second: Source, launch: DeviceLaunch | None = None, *, on: str = "machine"
) -> None:
    """Two texts of a kernel leave the same bytes: a transformation, or two compilers. on: `machine` or `device`."""
    launch = _launch_of(first, launch)
    texts = text_of(first), text_of(second)
    place: Callable[[str, DeviceLaunch], Mapping[int, Any]] = on_machine if on == "machine" else _on_device
    left, right = (place(text, launch) for text in texts)
    for at, array in left.items():
        _same_bytes(array, right[at], f"argument {at}", "first", "second", texts[1])


def on_machine(text: str, launch: DeviceLaunch) -> Mapping[int, Any]:
    """The arrays as the reference machine leaves them; AssertionError with what it finds."""
    found = run(text, launch.name, grid=launch.grid, block=launch.block, arguments=launch.arguments)
    if not found.is_clean:
        raise AssertionError(f"the machine: {found.failed or found.undecided or found.findings[0]}\n{text}")
    return found.outputs


def text_of(source: Source) -> str:
    """The PTX of what a test has."""
    return source.module() if isinstance(source, (GeneratedKernel, Instruction)) else str(source)


def _launch_of(source: Source, launch: DeviceLaunch | None) -> DeviceLaunch:
    if launch is not None:
        return launch
    if isinstance(source, GeneratedKernel):
        return launch_of(source)
    raise ValueError("say how the kernel is launched: only a generated one knows")


def _on_device(text: str, launch: DeviceLaunch, level: str = "3") -> Mapping[int, Any]:
    device = _device()
    if isinstance(device, str):
        raise SkipTest(device)
    cubin = cubin_of(text, _aim(text)[1], level)
    if isinstance(cubin, str):
        raise AssertionError(f"not compiled: {cubin}\n{text}")
    (answer,) = device.run(cubin, [launch])
    if isinstance(answer, str):
        raise AssertionError(f"the GPU: {answer}\n{text}")
    return answer


@cache
def _device() -> DeviceProcess | str:
    """The process that all tests share, or why there is none."""
    device = DeviceProcess()
    try:
        device.begin()
    except NoDeviceError as error:
        return str(error)
    atexit.register(device.end)
    return device


@cache
def _assembler() -> Ptxas:
    path = assembler.ptxas()
    if path is None:
        raise SkipTest("ptxas is not installed")
    return oracle(path)


def _aim(text: str) -> tuple[tuple[int, int], str]:
    module = parse(text)
    if module.version is None or not module.targets:
        raise ValueError("a module says its .version and .target")
    return module.version, module.targets[0]


def _same_text(first: str, second: str, what: str) -> None:
    if first != second:
        pairs = zip(first.splitlines(), second.splitlines(), strict=False)
        line = next((pair for pair in pairs if pair[0] != pair[1]), (first, second))
        raise AssertionError(f"{what}: {line[0]!r} became {line[1]!r}")


def _same_bytes(first: Any, second: Any, what: str, left: str, right: str, text: str) -> None:
    mine, theirs = (np.ascontiguousarray(each).view(np.uint8).ravel() for each in (first, second))
    differing = np.flatnonzero(mine != theirs)
    if len(differing):
        at = int(differing[0]) // first.itemsize
        values = [np.ascontiguousarray(each).ravel()[at] for each in (first, second)]
        words = f"{left} {values[0]!r}, {right} {values[1]!r}"
        raise AssertionError(f"{what}: {len(differing)} bytes differ, first in element {at}: {words}\n{text}")
