"""Calls of a function that does not exist, whose name says why: `cuda::ptx` was compiled for the wrong target.

libcu++ declares, for each of its PTX wrappers, a function `__cuda_ptx_<op>_is_not_supported_before_<targets>__` that
nothing defines, and calls it where the target lacks the instruction: the assembler refuses what it cannot resolve.
"""

from __future__ import annotations

import re

from ptxkit.syntax.tree import Function
from ptxkit.validate.findings import Finding, Gatekeeper

_NAME = re.compile(r"__cuda_ptx_(\w+?)_is_not_supported_before_((?:SM_\w+?_)+)_")


def wrong_target(function: Function, start: int, gates: Gatekeeper) -> Finding | None:
    """The finding of such a function's declaration, or None for any other function."""
    match = _NAME.fullmatch(function.name)
    if match is None or function.body is not None:
        return None
    targets = [f"sm_{each}" for each in re.findall(r"SM_(\w+?)_", match[2])]
    *others, last = targets
    wanted = f"{', '.join(others)} or {last}" if others else f"{last} or later"
    operation = match[1]
    have = gates.target or "none"
    return Finding(
        "PTX802",
        f"`cuda::ptx::{operation}` needs the target {wanted}, and was compiled for {have}: it became a call of a "
        "function that nothing defines, so no assembler or linker takes the module",
        start,
        function.name,
        help=f"compile for {targets[0]} (`nvcc -arch={targets[0]}`), or guard the call with "
        "`NV_IF_TARGET` or `__CUDA_ARCH__`",
        section="PTX Module Directives: .target",
    )
