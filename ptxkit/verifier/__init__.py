"""Verification by execution: the static rules, followed by launches of each kernel on the reference machine.

`verify_source(source, request)` returns a file's result as `lint_source` does, with the machine's findings among the
diagnostics (each with its witness) and the launches that were run. A property of a launch that the caller does not
specify is chosen (`launch_inference`) and reported. A finding that depends on such a choice is a warning, because only
the host determines the arguments.

Input: a text and the request of a verification. Output: a result. It imports `linter`, `analysis` and `emulator`.
"""

from __future__ import annotations

from ptxkit.verifier.argument_parser import ArgumentSpec, ArgumentSpecError, parse_argument
from ptxkit.verifier.request import VerifyRequest
from ptxkit.verifier.verify import verify_source

__all__ = ["ArgumentSpec", "ArgumentSpecError", "VerifyRequest", "parse_argument", "verify_source"]
