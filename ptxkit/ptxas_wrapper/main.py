"""The program `ptxkit-ptxas`, and what it does in each call, also for texts that were checked before.

Nothing in ptxkit makes a build fail, except findings where the environment requests it: an input that cannot be checked
is one line on standard error. What this module imports at its start, and for texts that were checked before, loads
faster than Python itself.
"""

from __future__ import annotations

import os
import signal
import sys

from ptxkit.ptxas_wrapper.command_line import STDIN, possible_inputs
from ptxkit.ptxas_wrapper.messages import PROGRAM, complain, write_message
from ptxkit.ptxas_wrapper.real_ptxas import NoPtxasError, earlier_calls, environment_of_call, find_real_ptxas

TYPE_CHECKING = False  # `typing` takes too long to import for a program that does little

if TYPE_CHECKING:
    from typing import NoReturn

FINDINGS_STATUS = 1
"""The exit status if ptxas was not run because of findings."""
_NO_PTXAS_STATUS = 127
"""The exit status if there is no ptxas, as shells return it for an unknown command."""
_NOT_EXECUTED_STATUS = 126


def main() -> NoReturn:
    """Checks the inputs of the command line, then becomes the real ptxas."""
    _restore_signals()
    arguments = sys.argv[1:]
    is_stopped = False
    if not earlier_calls(os.environ):  # else the inputs were checked by the first call
        try:
            is_stopped = _check(possible_inputs(arguments))
        except Exception as error:
            complain(error)
    sys.exit(FINDINGS_STATUS if is_stopped else _run_ptxas(arguments))


def _restore_signals() -> None:
    """Restores the effects of signals that Python changes, for this process and for ptxas, which inherits them."""
    for name in ("SIGPIPE", "SIGXFSZ", "SIGXFZ"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def _check(names: list[str]) -> bool:
    """Checks the inputs that are not known to be clean. Returns whether ptxas is not to be run."""
    texts = [(name, data) for name in names if (data := _read_input(name))]
    if not texts:
        return False
    from ptxkit.batch.cache_folder import environment_folder
    from ptxkit.batch.clean_texts import CleanTexts, clean_key
    from ptxkit.settings.file_state import settings_state

    config = os.environ.get("PTXKIT_PTXAS_CONFIG", "")
    conditions = (config, settings_state(os.curdir, [config] if config else []))
    known = CleanTexts(environment_folder(os.environ))
    keyed = [(name, data, clean_key(data, conditions)) for name, data in texts]
    unknown = [each for each in keyed if each[2] not in known]
    if not unknown:
        return False
    from ptxkit.lint_server.client import begin_call

    call = begin_call(PROGRAM, unknown, shares_context=True)
    is_stopped = None if call is None else call.wait()
    if is_stopped is None:
        from ptxkit.ptxas_wrapper.input_check import check_inputs

        is_stopped = check_inputs(unknown)
    return is_stopped is True


def _read_input(name: str) -> bytes:
    """Returns the text of an input; empty if it is no PTX module, or cannot be read, which ptxas reports."""
    from stat import S_ISREG

    from ptxkit.limits import MAX_FILE_BYTES

    try:
        if name == STDIN:
            from ptxkit.ptxas_wrapper.standard_input import keep_standard_input

            data = keep_standard_input(MAX_FILE_BYTES + 1)
        elif S_ISREG(os.stat(name).st_mode):
            with open(name, "rb", buffering=0) as file:
                data = file.read(MAX_FILE_BYTES + 1)
        else:
            return b""
    except (OSError, ValueError):
        return b""
    if b".version" not in data or b"\0" in data[:4096]:
        return b""
    if len(data) > MAX_FILE_BYTES:
        write_message(f"{name} was not checked: longer than {MAX_FILE_BYTES:,} bytes, the limit")
        return b""
    return data


def _run_ptxas(arguments: list[str]) -> int:
    """Replaces this process by the real ptxas. Returns the exit status if that is not possible."""
    try:
        path = find_real_ptxas(sys.argv[0], os.environ)
    except NoPtxasError as error:
        write_message(f"error: {error}")
        return _NO_PTXAS_STATUS
    environment = environment_of_call(path, os.environ)
    try:
        if sys.platform == "win32":  # where `exec` starts another process, and this one ends before it
            import subprocess

            return subprocess.call([path, *arguments], env=environment)
        os.execve(path, [path, *arguments], environment)
    except OSError as error:
        write_message(f"error: `{path}` cannot be run: {error.strerror}")
        return _NOT_EXECUTED_STATUS
