"""The process of `ptxkit lint --server`: its programs, and what it loads before the first call."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from typing import Any

from ptxkit.batch.resident_check import PROGRAM as CHECK
from ptxkit.batch.resident_check import serve_check
from ptxkit.cli.main import COLLECTIONS, main
from ptxkit.lint_server.control import serve
from ptxkit.lint_server.limits import IDLE_SECONDS
from ptxkit.ptxas_wrapper.input_check import serve_inputs
from ptxkit.ptxas_wrapper.messages import PROGRAM as PTXAS

_WARMUP_TEXT = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .b64 %rd<3>;
	.reg .b32 %r<3>;
	.shared .align 16 .b8 tile[16];
	ld.param.u64 %rd1, [p];
	cvta.to.global.u64 %rd2, %rd1;
	mov.u32 %r1, tile;
	cp.async.ca.shared.global [%r1], [%rd2], 16;
	cp.async.commit_group;
	ld.shared.u32 %r2, [%r1];
	st.global.u32 [%rd2], %r2;
	ret;
}
"""


def run_server(path: str, idle_seconds: float = IDLE_SECONDS) -> None:
    """Runs the server at a path until it ends, or was idle for too long."""
    gc.set_threshold(*COLLECTIONS)
    _warm_up()
    serve(path, {"lint": _lint, CHECK: serve_check, PTXAS: serve_inputs}, idle_seconds)


def _lint(arguments: Any) -> object:
    try:
        main([str(each) for each in arguments])
    except SystemExit as done:
        return int(done.code or 0)  # not as a member of an enumeration, which is no plain data
    return None


def _warm_up() -> None:
    """Loads what most calls need, by linting a text that has a finding."""
    sys.stdin = TextIOWrapper(BytesIO(_WARMUP_TEXT.encode()))
    with open(os.devnull, "w") as null, redirect_stdout(null), redirect_stderr(null):
        _lint(["lint", "--isolated", "--no-cache", "-"])
