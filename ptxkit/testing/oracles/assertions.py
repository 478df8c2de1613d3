"""Assertions about PTX for tests, each with another oracle: ptxas, the GPU, the reference machine.

Each raises AssertionError with the difference. If the oracle is not available (no ptxas, no GPU), the test is skipped
with the reason.
"""

from __future__ import annotations

import atexit
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Protocol, TypeAlias, runtime_checkable
from unittest import SkipTest

import numpy as np

from ptxkit.device import DeviceError, NoDeviceError, ptxas_program, target_for
from ptxkit.device_runs.device_launch import DeviceLaunch
from ptxkit.device_runs.device_process import DeviceProcess
from ptxkit.diagnostics import Diagnostic, Severity
from ptxkit.linter import lint
from ptxkit.source import SourceFile
from ptxkit.syntax import format_source, parse
from ptxkit.syntax.tree import Module
from ptxkit.testing.corpus.tolerated_differences import known_differences
from ptxkit.testing.differential.campaign import ptxkit_refusal
from ptxkit.testing.generators.kernel_ast import GeneratedKernel
from ptxkit.testing.oracles.budgeted_run import emulate_within_budget
from ptxkit.testing.oracles.compile_paths import LEVELS, compile_at_level, launch_of
from ptxkit.testing.oracles.ptxas import Ptxas, probe_ptxas
from ptxkit.testing.oracles.robustness import find_robustness_fault
from ptxkit.testing.oracles.session import NO_GPU_WANTED, KernelLauncher, current_session, track_oracle
from ptxkit.testing.strategies import GeneratedInstruction

__all__ = [
    "LEVELS",
    "DeviceLaunch",
    "Source",
    "assert_lints",
    "assert_machine_matches_device",
    "assert_optimisation_invariant",
    "assert_ptxas_agrees",
    "assert_round_trips",
    "assert_same_kernel",
    "assert_survives",
    "compile_at_level",
    "launch_for",
    "launch_argument",
    "launch_of",
    "on_device",
    "on_machine",
    "ptx_argument",
    "text_of",
    "require_device",
]


@runtime_checkable
class ModuleSource(Protocol):
    """An object with a module: generated kernels and instructions, and objects of tests."""

    def module(self) -> Module | str: ...


Source: TypeAlias = ModuleSource | Module | str


@track_oracle
def assert_lints(source: Source, codes: Sequence[str] = ()) -> None:
    """Asserts that the linter finds errors and warnings of exactly these codes, by default none."""
    text = text_of(source)
    found = [each for each in lint(text).diagnostics if each.severity is not Severity.NOTE or each.code in codes]
    missing = sorted(set(codes) - {each.code for each in found})
    strange = [_diagnostic_line(each) for each in found if each.code not in codes]
    if missing or strange:
        mismatches = [f"{code} is not found" for code in missing] + strange
        raise AssertionError("\n".join([*mismatches, text]))


@track_oracle
def assert_ptxas_agrees(source: Source) -> None:
    """Asserts that ptxkit and ptxas both accept, or both reject, an instruction, a module, or PTX text."""
    text = text_of(source)
    version, target = _declared_target(text)
    judge = _require_ptxas()
    if not judge.supports(version, target):
        raise SkipTest(f"ptxas {judge.release} does not know PTX {version[0]}.{version[1]} for {target}")
    ours, theirs = ptxkit_refusal(text), judge.refusal(text, target)
    if (ours is None) != (theirs is None) and not _is_known_difference(source, judge.release, ours, theirs):
        raise AssertionError(f"ptxkit: {ours or 'accepted'}\nptxas {judge.release}: {theirs or 'accepted'}\n{text}")


@track_oracle
def assert_round_trips(source: Source) -> None:
    """Asserts that a printed or formatted module is parsed to the same module, with the same verdict."""
    text = text_of(source)
    printed = str(parse(text))
    again = str(parse(printed))
    _assert_same_text(printed, again, "a module that is printed, read and printed again")
    _assert_same_text(
        printed, str(parse(format_source(SourceFile("module.ptx", text)))), "a module that is formatted and read"
    )
    _assert_same_text(ptxkit_refusal(text) or "", ptxkit_refusal(printed) or "", "the verdict on what is printed")


@track_oracle
def assert_survives(source: Source) -> None:
    """Asserts that parser, linter, printer and formatter do not crash on a text, and need little time and memory
    (`robustness`).
    """
    text = text_of(source)
    fault = find_robustness_fault(text)
    if fault:
        raise AssertionError(f"{fault}\n{text}")


@track_oracle
def assert_machine_matches_device(source: Source, launch: DeviceLaunch | None = None, *, level: str = "3") -> None:
    """Asserts that the reference machine and the GPU write the same bytes. launch: optional for a generated kernel."""
    text, launch = text_of(source), launch_for(source, launch)
    require_device()  # skips the test before the machine runs
    mine = on_machine(text, launch)
    theirs = on_device(text, launch, level)
    for at, array in mine.items():
        _assert_same_bytes(array, theirs[at], f"argument {at}", "machine", "GPU", text)


@track_oracle
def assert_optimisation_invariant(
    source: Source, launch: DeviceLaunch | None = None, levels: Sequence[str] = LEVELS
) -> None:
    """Asserts that the GPU writes the same bytes at all optimization levels. levels: some of `LEVELS`."""
    text, launch = text_of(source), launch_for(source, launch)
    first = on_device(text, launch, levels[0])
    for level in levels[1:]:
        for at, array in on_device(text, launch, level).items():
            _assert_same_bytes(first[at], array, f"argument {at}", f"-O{levels[0]}", f"-O{level}", text)


@track_oracle
def assert_same_kernel(
    first: Source, second: Source, launch: DeviceLaunch | None = None, *, on: str = "machine"
) -> None:
    """Asserts that two texts of a kernel write the same bytes: a transformation, or two compilers. on: `machine` or
    `device`.
    """
    launch = launch_for(first, launch)
    texts = text_of(first), text_of(second)
    left, right = (on_machine(text, launch) if on == "machine" else on_device(text, launch) for text in texts)
    for at, array in left.items():
        _assert_same_bytes(array, right[at], f"argument {at}", "first", "second", texts[1])


@track_oracle
def on_machine(source: Source, launch: DeviceLaunch | None = None) -> Mapping[int, Any]:
    """Returns the arrays after a run on the reference machine. Raises AssertionError with its findings."""
    text, launch = text_of(source), launch_for(source, launch)
    found = emulate_within_budget(launch, text)
    if not found.is_clean:
        raise AssertionError(
            f"the machine: {found.unsupported_reason or found.incomplete_reason or found.findings[0]}\n{text}"
        )
    return found.outputs


@track_oracle
def on_device(source: Source, launch: DeviceLaunch | None = None, level: str = "3") -> Mapping[int, Any]:
    """Returns the arrays after a run on the GPU. Raises AssertionError with its error, and SkipTest if there is no
    GPU.
    """
    text, launch, device = text_of(source), launch_for(source, launch), require_device()
    cubin = compile_at_level(text, _device_target(text, device), level)
    if isinstance(cubin, str):
        raise AssertionError(f"not compiled: {cubin}\n{text}")
    (answer,) = device.run(cubin, [launch])
    if isinstance(answer, str):
        raise AssertionError(f"the GPU: {answer}\n{text}")
    return answer


def text_of(source: Source) -> str:
    """Returns the PTX of a test's object."""
    return str(source.module() if isinstance(source, ModuleSource) else source)


def ptx_argument(argument: object) -> str | None:
    """Returns the PTX of an oracle's argument, or None for other values."""
    if isinstance(argument, ModuleSource | Module):
        return text_of(argument)
    return argument if isinstance(argument, str) and ".version" in argument else None


def launch_argument(arguments: Mapping[str, Any]) -> DeviceLaunch | None:
    """Returns the launch among an oracle's arguments, or that of an object with its own launch."""
    for each in arguments.values():
        if isinstance(each, DeviceLaunch):
            return each
    return next((launch for each in arguments.values() if (launch := _own_launch(each)) is not None), None)


def launch_for(source: Source, launch: DeviceLaunch | None) -> DeviceLaunch:
    """Returns the launch that is given, or that of the source. Raises ValueError if neither exists."""
    found = launch if launch is not None else _own_launch(source)
    if found is None:
        raise ValueError("pass the launch of the kernel: only a generated kernel has one")
    return found


def _own_launch(source: object) -> DeviceLaunch | None:
    if isinstance(source, GeneratedKernel):
        return launch_of(source)
    own = getattr(source, "launch", None)
    return own if isinstance(own, DeviceLaunch) else None


def require_device() -> KernelLauncher:
    """Returns the process with the GPU. Without one, raises SkipTest, or an error if the test run requires a GPU."""
    judging = current_session()
    if judging.process is not None:
        return judging.process
    use = judging.device
    if use == "none":
        raise SkipTest(NO_GPU_WANTED)
    device = _device_or_reason()
    if isinstance(device, str):
        raise NoDeviceError(device) if use == "require" else SkipTest(device)
    return device


def _device_target(text: str, device: KernelLauncher) -> str:
    """Returns the target to compile a module for to run on a GPU. Otherwise, raises as `require_device` does."""
    try:
        return target_for(parse(text).targets, device.target)
    except DeviceError as error:
        if current_session().device == "require":
            raise
        raise SkipTest(str(error)) from error


@cache
def _device_or_reason() -> DeviceProcess | str:
    """Returns the process that all tests share, or the reason why none exists."""
    device = DeviceProcess()
    try:
        device.begin()
    except NoDeviceError as error:
        return str(error)
    atexit.register(device.end)
    return device


def _is_known_difference(source: Source, release: str, ours: str | None, theirs: str | None) -> bool:
    """Returns whether `tolerated.toml` explains the difference."""
    text = source.text if isinstance(source, GeneratedInstruction) else ""
    opcode = _GUARD.sub("", text).partition(" ")[0].rstrip(";") or "*"
    accepts = "ptxkit" if ours is None else "ptxas"
    return any(each.covers(opcode, release, accepts, ours or theirs or "", text) for each in known_differences())


_GUARD = re.compile(r"^@\S+ ")


def _diagnostic_line(found: Diagnostic) -> str:
    line, _ = found.source.position(found.span.start)
    return f"{found.code} {found.severity} in line {line}: {found.message}"


@cache
def _require_ptxas() -> Ptxas:
    path = ptxas_program.find_ptxas()
    if path is None:
        raise SkipTest("ptxas is not installed")
    return probe_ptxas(path)


def _declared_target(text: str) -> tuple[tuple[int, int], str]:
    module = parse(text)
    if module.version is None or not module.targets:
        raise ValueError("a module needs a .version and a .target")
    return module.version, module.targets[0]


def _assert_same_text(first: str, second: str, what: str) -> None:
    if first != second:
        pairs = zip(first.splitlines(), second.splitlines(), strict=False)
        line = next((pair for pair in pairs if pair[0] != pair[1]), (first, second))
        raise AssertionError(f"{what}: {line[0]!r} became {line[1]!r}")


def _assert_same_bytes(first: Any, second: Any, what: str, left: str, right: str, text: str) -> None:
    mine, theirs = (np.ascontiguousarray(each).view(np.uint8).ravel() for each in (first, second))
    differing = np.flatnonzero(mine != theirs)
    if len(differing):
        at = int(differing[0]) // first.itemsize
        values = [np.ascontiguousarray(each).ravel()[at] for each in (first, second)]
        words = f"{left} {values[0]!r}, {right} {values[1]!r}"
        raise AssertionError(f"{what}: {len(differing)} bytes differ, first in element {at}: {words}\n{text}")
