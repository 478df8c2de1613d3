"""`kernel.emulate(grid, block)(...)`: a kernel on the reference machine, called as a launch is.

Arrays of NumPy stand for those of a device, and are changed in place. What the run shows to be wrong is an error that
names the user's lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.build.errors import BuildTypeError, BuildValueError, EmulationError, UnfinishedError
from ptxkit.diagnostics import Diagnostic, Label, Severity
from ptxkit.emulator import RunBudget, RunResult, TensorMapArgument, Violation, run
from ptxkit.emulator.driver.uninitialized_dependence import find_significant_reads
from ptxkit.emulator.engine.launch_args import StructArgument
from ptxkit.emulator.state.textures import Sampler, Surface, Texture
from ptxkit.fast_dataclasses import dataclass
from ptxkit.kernel_model.routines import BuiltKernel, Extents
from ptxkit.kernel_model.source_lines import with_source_offsets
from ptxkit.kernel_model.verification import make_blames
from ptxkit.source import SourceFile

if TYPE_CHECKING:
    from ptxkit.device.signature import Argument


@dataclass(frozen=True, slots=True)
class Emulation:
    """A kernel with a geometry on the reference machine, to be called with the arguments.

    `policy` and `seed` decide when asynchronous operations happen. The machine gives up after `seconds` of processor
    time. With `strict`, what the ISA leaves open is an error, too.
    """

    kernel: BuiltKernel
    grid: Extents
    block: Extents | None
    cluster: Extents | None
    shared: int | None
    policy: str
    seed: int
    seconds: float
    strict: bool = False

    def __call__(self, *arguments: Any) -> RunResult:
        """Runs the kernel to its end. A tensor map is an array, or a `ptxkit.emulator.TensorMap` of one.

        Errors: `EmulationError` with what the run shows to be wrong, `UnfinishedError`, `BuildTypeError` for arguments
        that do not fit, and `ptxkit.emulator.LaunchError`. Arrays are changed in any case.
        """
        kernel = self.kernel
        assembled = kernel.assembled()
        module = with_source_offsets(assembled, kernel.name)
        passed = self._convert_arguments(arguments)
        launch: dict[str, Any] = {
            "grid": self.grid,
            "block": self.block,
            "cluster": self.cluster,
            "shared": max(self.shared or 0, kernel.dynamic_bytes),
            "arguments": passed,
            "policy": self.policy,
            "seed": self.seed,
            "budget": RunBudget(seconds=self.seconds),
        }
        outcome = run(module, kernel.name, **launch, strict=self.strict)
        reads = outcome.uninitialized_reads if outcome.is_clean else ()
        unset = find_significant_reads(module, kernel.name, reads, **launch)
        _write_back(kernel, passed, outcome)
        findings = (*outcome.findings, *unset.violations)
        if findings:
            assert module.source is not None
            run_ = f"grid {self.grid}, policy {self.policy}, seed {self.seed}"
            found = [_to_diagnostic(each, module.source, run_) for each in findings]
            raise EmulationError(kernel.name, make_blames(found, module, assembled, kernel.name))
        if not outcome.is_clean:
            raise UnfinishedError(f"kernel {kernel.name!r}: {outcome.unsupported_reason or outcome.incomplete_reason}")
        return outcome

    def _convert_arguments(self, arguments: Sequence[Any]) -> list[Any]:
        from ptxkit.device.arguments import check_count
        from ptxkit.device.errors import ArgumentError
        from ptxkit.device.signature import make_kernel_signature

        signature = make_kernel_signature(self.kernel)
        try:
            check_count(signature, len(arguments))
            return [_convert_argument(each, value) for each, value in zip(signature.arguments, arguments, strict=True)]
        except ArgumentError as error:
            raise BuildTypeError(str(error)) from None


def _convert_argument(parameter: Argument, value: Any) -> Any:
    """The machine's form of an argument, checked against the parameter as by a launch on a GPU: `ArgumentError` where
    it does not fit. Tables of arrays, textures and the machine's own tensor maps are left to the machine."""
    from ptxkit.device.arguments import convert_argument
    from ptxkit.device.arrays import view_host_array

    form = parameter.tensor
    if form is not None and isinstance(value, numpy.ndarray):
        if form.mode != "tiled":
            raise BuildTypeError(
                f"{parameter.name} is an im2col map: pass ptxkit.emulator.TensorMap.im2col(array, ...)"
            )
        element = None if form.element.word.startswith("b") and form.element.word != "bf16" else form.element.word
        return TensorMapArgument.tiled(value, box=form.box, element=element, swizzle=form.swizzle)
    if form is not None or isinstance(value, list | TensorMapArgument | Texture | Surface | Sampler | StructArgument):
        return value
    found = convert_argument(parameter, value, view_host_array)
    return value if isinstance(value, numpy.ndarray) else found


def _write_back(kernel: BuiltKernel, passed: Sequence[Any], outcome: RunResult) -> None:
    """Put into the arrays what the kernel left there."""
    for number, contents in outcome.outputs.items():
        is_table = isinstance(contents, list)
        for value, left in zip(passed[number], contents, strict=True) if is_table else [(passed[number], contents)]:
            array = value.array if isinstance(value, TensorMapArgument) else value
            if array.flags.writeable:
                array[...] = left
            elif left.tobytes() != array.tobytes():
                raise BuildValueError(f"{kernel.name} wrote to {kernel.parameters[number].name}, which is read-only")


def _to_diagnostic(finding: Violation, source: SourceFile, run_: str) -> Diagnostic:
    """A finding of the machine in the form of the verifier's."""
    labels = [Label(source.line_span(each.line), str(each)) for each in finding.witnesses[1:] if each.line]
    notes = [str(each) for each in finding.witnesses[:1]]
    if finding.missing:
        notes.append(f"missing: {finding.missing}")
    return Diagnostic(
        code=finding.code,
        severity=Severity.ERROR,
        message=finding.message,
        source=source,
        span=source.statement_span(finding.offset),
        labels=tuple(labels),
        notes=(*notes, f"seen in a run: {run_}"),
    )
