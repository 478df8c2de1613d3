"""`ptxkit lint --server`: what the option does and prints."""

from __future__ import annotations

import sys

from ptxkit.exit_status import ExitStatus
from ptxkit.lint_server.control import running_server, start_server, stop_server

_CODE = "from ptxkit.resident_process import run_server; run_server(sys.argv[1])"


def manage_server(action: str) -> int:
    """Does one of `SERVER_ACTIONS`. Returns the exit status. Raises ServerUnavailableError."""
    if action == "stop":
        sys.stdout.write("the server was stopped\n" if stop_server() else "no server is running\n")
        return ExitStatus.CLEAN
    process = start_server(_CODE) if action == "start" else running_server()
    if process is None:
        sys.stdout.write("no server is running\n")
        return ExitStatus.FINDINGS
    sys.stdout.write(f"the server is running: process {process}\n")
    return ExitStatus.CLEAN
