"""Verification by running: the static rules, and then launches of each kernel on the reference machine.

`verify_source(source, request)` gives a file's result as `lint_source` does, with the machine's findings among the
diagnostics (each with its witness) and the launches that were run. What the caller does not specify of a launch is
chosen (`launch_inference`) and reported; a finding that depends on such a choice is a warning, since only the host
knows what it passes.
"""

from __future__ import annotations

from ptxkit.verifier.argument_parser import ArgumentSpec, ArgumentSpecError, parse_argument
from ptxkit.verifier.request import VerifyRequest
from ptxkit.verifier.verify import verify_source

__all__ = ["ArgumentSpec", "ArgumentSpecError", "VerifyRequest", "parse_argument", "verify_source"]
