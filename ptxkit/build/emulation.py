"""`kernel.emulate(grid, block)(...)`: runs a kernel on the reference machine, with the same arguments as a launch.

NumPy arrays take the place of device arrays and are changed in place. A violation that the run detects is raised as an
error that names the user's lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.build.errors import BuildTypeError, BuildValueError, EmulationError, UnfinishedError
from ptxkit.diagnostics import Severity
from ptxkit.emulator import RunBudget, RunResult, TensorMapArgument, run
from ptxkit.emulator.driver.finding_diagnostics import finding_diagnostic
from ptxkit.emulator.driver.uninitialized_dependence import find_significant_reads
from ptxkit.emulator.engine.launch_args import StructArgument
from ptxkit.emulator.state.textures import Sampler, Surface, Texture
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.kernel_model.routines import BuiltKernel, Extents
from ptxkit.kernel_model.source_lines import with_source_offsets
from ptxkit.kernel_model.verification import make_blames

if TYPE_CHECKING:
    from ptxkit.device.signature import Argument


@dataclass(frozen=True, slots=True)
class Emulation:
    """A kernel with its launch geometry on the reference machine, which is called with the arguments.

    `policy` and `seed` determine when asynchronous operations complete. `seconds` limits the processor time of a run.
    With `strict`, behavior that the ISA leaves open is an error, too.
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
        """Runs the kernel. A tensor map is passed as an array, or as a `ptxkit.emulator.TensorMap` of one.

        Raises `EmulationError` if the run detects a violation, `UnfinishedError` if it does not end, `BuildTypeError`
        for arguments that do not fit the parameters, and `ptxkit.emulator.LaunchError`. The arrays are changed in all
        cases.
        """
        kernel = self.kernel
        assembled = kernel.assemble()
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
            notes = (f"seen in a run: {run_}",)
            found = [finding_diagnostic(each, module.source, Severity.ERROR, notes) for each in findings]
            raise EmulationError(kernel.name, make_blames(found, module, assembled, kernel.name))
        if not outcome.is_clean:
            raise UnfinishedError(f"kernel {kernel.name!r}: {outcome.unsupported_reason or outcome.incomplete_reason}")
        return replace(outcome, unchecked_reasons=(*outcome.unchecked_reasons, *unset.open_questions("registers")))

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
    """Converts an argument to the form that the machine expects, and checks it as a launch on a GPU does.

    Tables of arrays, textures and tensor maps of the machine are returned unchanged. Raises `ArgumentError` if the
    argument does not fit its parameter.
    """
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
    """Copies what the kernel wrote to the arrays of the caller."""
    for number, contents in outcome.outputs.items():
        is_table = isinstance(contents, list)
        for value, left in zip(passed[number], contents, strict=True) if is_table else [(passed[number], contents)]:
            array = value.array if isinstance(value, TensorMapArgument) else value
            if array.flags.writeable:
                array[...] = left
            elif left.tobytes() != array.tobytes():
                raise BuildValueError(f"{kernel.name} wrote to {kernel.parameters[number].name}, which is read-only")
