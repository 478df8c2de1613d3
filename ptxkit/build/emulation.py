"""`kernel.emulate(grid, block)(...)`: a kernel on the reference machine, called as a launch is.

Arrays of NumPy stand for those of a device, and are changed in place. What the run shows to be wrong is an error that
tells the user's lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.build.errors import BuildTypeError, BuildValueError, EmulationError, UnfinishedError
from ptxkit.build.verify import blamed, with_places
from ptxkit.diagnostics import Diagnostic, Label, Severity
from ptxkit.emulate import Budget, Finding, Outcome, TensorMap, run
from ptxkit.emulate.unwritten import reads_that_matter
from ptxkit.records import dataclass
from ptxkit.source import SourceFile

if TYPE_CHECKING:
    from ptxkit.build.kernel import Kernel, Parameter
    from ptxkit.build.launching import Extents


@dataclass(frozen=True, slots=True)
class Emulation:
    """A kernel with a geometry on the reference machine, to be called with the arguments.

    policy, seed: of the machine, which says when asynchronous operations happen. seconds: of processor
    time, until it gives up. strict: what the ISA leaves open is found, too.
    """

    kernel: Kernel
    grid: Extents
    block: Extents | None
    cluster: Extents | None
    shared: int | None
    policy: str
    seed: int
    seconds: float
    strict: bool = False

    def __call__(self, *arguments: Any) -> Outcome:
        """Runs the kernel to its end. A tensor map is an array, or a `ptxkit.emulate.TensorMap` of one.

        Errors: `EmulationError` with what the run shows to be wrong, `UnfinishedError`, `BuildTypeError` for arguments
        that do not fit, and `ptxkit.emulate.LaunchError`. Arrays are changed in any case.
        """
        kernel = self.kernel
        assembled = kernel.assembled()
        module = with_places(assembled, kernel.name)
        passed = self._passed(arguments)
        launch: dict[str, Any] = {
            "grid": self.grid,
            "block": self.block,
            "cluster": self.cluster,
            "shared": max(self.shared or 0, kernel.dynamic_bytes),
            "arguments": passed,
            "policy": self.policy,
            "seed": self.seed,
            "budget": Budget(seconds=self.seconds),
        }
        outcome = run(module, kernel.name, **launch, strict=self.strict)
        unset = reads_that_matter(module, kernel.name, outcome.unwritten, **launch) if outcome.is_clean else ()
        _give_back(kernel, passed, outcome)
        findings = (*outcome.findings, *unset)
        if findings:
            assert module.source is not None
            run_ = f"grid {self.grid}, policy {self.policy}, seed {self.seed}"
            found = [_diagnostic(each, module.source, run_) for each in findings]
            raise EmulationError(kernel.name, blamed(found, module, assembled, kernel.name))
        if not outcome.is_clean:
            raise UnfinishedError(f"kernel {kernel.name!r}: {outcome.failed or outcome.undecided}")
        return outcome

    def _passed(self, arguments: Sequence[Any]) -> list[Any]:
        parameters = self.kernel.parameters
        if len(arguments) != len(parameters):
            names = ", ".join(each.name for each in parameters) or "none"
            raise BuildTypeError(
                f"{self.kernel.name} takes {len(parameters)} arguments ({names}), not {len(arguments)}"
            )
        return [_argument(each, value) for each, value in zip(parameters, arguments, strict=True)]


def _argument(parameter: Parameter, value: Any) -> Any:
    """The machine's form of an argument."""
    form = parameter.tensor
    if form is not None and isinstance(value, numpy.ndarray):
        if form.mode != "tiled":
            raise BuildTypeError(f"{parameter.name} is an im2col map: pass ptxkit.emulate.TensorMap.im2col(array, ...)")
        element = None if form.element.word.startswith("b") and form.element.word != "bf16" else form.element.word
        return TensorMap.tiled(value, box=form.box, element=element, swizzle=form.swizzle)
    if form is None and parameter.space is None and isinstance(value, numpy.generic):
        return value.item()  # the machine holds it against the parameter's type
    return value


def _give_back(kernel: Kernel, passed: Sequence[Any], outcome: Outcome) -> None:
    """Put into the arrays what the kernel left there."""
    for number, contents in outcome.outputs.items():
        is_table = isinstance(contents, list)
        for value, left in zip(passed[number], contents, strict=True) if is_table else [(passed[number], contents)]:
            array = value.array if isinstance(value, TensorMap) else value
            if array.flags.writeable:
                array[...] = left
            elif left.tobytes() != array.tobytes():
                raise BuildValueError(f"{kernel.name} wrote to {kernel.parameters[number].name}, which is read-only")


def _diagnostic(finding: Finding, source: SourceFile, run_: str) -> Diagnostic:
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
