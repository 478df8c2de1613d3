"""Shared by the tests of the commands: two texts, and a function that runs a command as users do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CLEAN = """\
.version 8.0
.target sm_80
.address_size 64

.visible .entry k(.param .u64 p)
{
\t.reg .b64 %rd<3>;
\t.reg .b32 %r<2>;

\tld.param.u64 \t%rd1, [p];
\tcvta.to.global.u64 \t%rd2, %rd1;
\tmov.u32 \t%r1, 7;
\tst.global.u32 \t[%rd2], %r1;
\tret;
}
"""
"""A correct kernel."""

BROKEN = CLEAN.replace("mov.u32 \t%r1, 7;", "mov.u32 \t%r1, ;")
"""The same with a syntax error at line 12."""


def shell(
    *arguments: str | Path, stdin: bytes = b"", cwd: Path | None = None, timeout: float = 900, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """Runs `ptxkit` in a separate process."""
    return subprocess.run(
        [sys.executable, "-m", "ptxkit", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        cwd=cwd,
        timeout=timeout,
        check=False,
        env={**os.environ, **environment},
    )
