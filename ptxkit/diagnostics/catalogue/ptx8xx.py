"""PTX8xx: versions and targets."""

from __future__ import annotations

from functools import partial

from ptxkit.diagnostics.code import DiagnosticCode
from ptxkit.diagnostics.message import MessageTemplate
from ptxkit.fast_dataclasses import dataclass

NEEDS_NEWER_VERSION = DiagnosticCode("PTX801", "needs-newer-version")
_text = partial(MessageTemplate, NEEDS_NEWER_VERSION)
NEEDS_HEADING = _text("`{subject}` needs {needed}, but the module has {have}")
OPCODE_NEEDS_HEADING = _text("`{opcode}` needs {needed} (for {subjects}), but the module has {have}")
NEEDS_HEADING_FOR = _text("{what} needs {needed}, but the module has {have}")


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
_text = partial(MessageTemplate, CUDA_PTX_FOR_ANOTHER_TARGET)
WRAPPER_CALLED = _text(
    "`cuda::ptx::{wrapper}` needs the target {target}{actual}: it became a call{times} of a function "
    "that nothing defines, so no linker accepts the module"
)
WRAPPER_DECLARED = _text(
    "`cuda::ptx::{wrapper}` needs the target {target}{actual}: its placeholder is declared here, and would "
    "not link if it were called"
)

UNKNOWN_VERSION = DiagnosticCode("PTX803", "unknown-version")
_text = partial(MessageTemplate, UNKNOWN_VERSION)
VERSION_MALFORMED = _text("`{word}` is not a version: a version is two numbers separated by a dot")
NO_SUCH_VERSION = _text("there is no PTX version {word}")
TARGET_TOLERATED = _text("`{word}` is not a target, and only ptxas accepts it for `{name}`")
NO_SUCH_TARGET = _text("`{word}` is not a target")
VERSION_TOO_NEW = _text("PTX {word} is newer than the newest version that ptxkit supports, {newest}")

UNSATISFIABLE_LAUNCH = DiagnosticCode(
    "PTX804", "unsatisfiable-launch", sections=("cp.async.bulk.tensor", "cp.async.bulk")
)
_text = partial(MessageTemplate, UNSATISFIABLE_LAUNCH)
MAPS_DIFFER = _text(
    "no launch satisfies this: {parameter} must be a {rank}-dimensional tensor map in {mode} mode here, and a "
    "{other_rank}-dimensional one in {other_mode} mode at line {1}"
)
CONTRADICTION_IF_EXECUTED = _text(
    "if data or arguments lead here, no value of a parameter suits both this and an earlier instruction"
)
REMAINDERS_DIFFER = _text(
    "no launch satisfies this: {parameter} must be {remainder} modulo {divisor} here, and {other_remainder} "
    "modulo {other_divisor} at line {1}"
)
OTHER_CONDITION = _text("each launch executes this, too")
PASS_TWO_ARGUMENTS = _text("pass a separate argument for each use, or make them agree")
