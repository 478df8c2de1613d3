"""PTX8xx: versions and targets."""

from __future__ import annotations

from ptxkit.diagnostics.code import DiagnosticCode
from ptxkit.diagnostics.message import MessageTemplate
from ptxkit.fast_dataclasses import dataclass

NEEDS_NEWER_VERSION = DiagnosticCode("PTX801", "needs-newer-version")
NEEDS_HEADING = MessageTemplate(NEEDS_NEWER_VERSION, "`{subject}` needs {needed}, but the module has {have}")
OPCODE_NEEDS_HEADING = MessageTemplate(
    NEEDS_NEWER_VERSION, "`{opcode}` needs {needed} (for {subjects}), but the module has {have}"
)
NEEDS_HEADING_FOR = MessageTemplate(NEEDS_NEWER_VERSION, "{what} needs {needed}, but the module has {have}")


@dataclass(frozen=True, slots=True)
class RequiredHeading:
    """The heading that a module must have instead. words: for a reader. version, target: what to write there; None
    where the module's own serves, or another change is needed."""

    words: str
    version: str | None = None
    target: str | None = None

    def __str__(self) -> str:
        return self.words


CUDA_PTX_FOR_ANOTHER_TARGET = DiagnosticCode("PTX802", "cuda-ptx-for-another-target")
WRAPPER_CALLED = MessageTemplate(
    CUDA_PTX_FOR_ANOTHER_TARGET,
    (
        "`cuda::ptx::{wrapper}` needs the target {target}{actual}: it became a call{times} of a function "
        "that nothing defines, so no linker accepts the module"
    ),
)
WRAPPER_DECLARED = MessageTemplate(
    CUDA_PTX_FOR_ANOTHER_TARGET,
    (
        "`cuda::ptx::{wrapper}` needs the target {target}{actual}: its placeholder is declared here, and would "
        "not link if it were called"
    ),
)

UNKNOWN_VERSION = DiagnosticCode("PTX803", "unknown-version")
VERSION_MALFORMED = MessageTemplate(
    UNKNOWN_VERSION, "`{word}` is not a version: a version is two numbers separated by a dot"
)
NO_SUCH_VERSION = MessageTemplate(UNKNOWN_VERSION, "there is no PTX version {word}")
TARGET_TOLERATED = MessageTemplate(UNKNOWN_VERSION, "`{word}` is not a target, and only ptxas accepts it for `{name}`")
NO_SUCH_TARGET = MessageTemplate(UNKNOWN_VERSION, "`{word}` is not a target")
VERSION_TOO_NEW = MessageTemplate(
    UNKNOWN_VERSION, "PTX {word} is newer than the newest version that ptxkit supports, {newest}"
)

UNSATISFIABLE_LAUNCH = DiagnosticCode(
    "PTX804", "unsatisfiable-launch", sections=("cp.async.bulk.tensor", "cp.async.bulk")
)
MAPS_DIFFER = MessageTemplate(
    UNSATISFIABLE_LAUNCH,
    (
        "no launch satisfies this: {parameter} must be a {rank}-dimensional tensor map in {mode} mode here, and a "
        "{other_rank}-dimensional one in {other_mode} mode at line {1}"
    ),
)
CONTRADICTION_IF_EXECUTED = MessageTemplate(
    UNSATISFIABLE_LAUNCH,
    "if data or arguments lead here, no value of a parameter suits both this and an earlier instruction",
)
REMAINDERS_DIFFER = MessageTemplate(
    UNSATISFIABLE_LAUNCH,
    (
        "no launch satisfies this: {parameter} must be {remainder} modulo {divisor} here, and {other_remainder} "
        "modulo {other_divisor} at line {1}"
    ),
)
OTHER_CONDITION = MessageTemplate(UNSATISFIABLE_LAUNCH, "each launch executes this, too")
PASS_TWO_ARGUMENTS = MessageTemplate(UNSATISFIABLE_LAUNCH, "pass a separate argument for each use, or make them agree")
