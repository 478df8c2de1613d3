"""Checks texts in a thread and a process of low priority, and prints each finding once.

Nothing that happens here is an exception in the program, or makes it wait before its end.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from ptxkit.compile_hooks.limits import LOW_PRIORITY, MAX_EXIT_SECONDS, MAX_PENDING_CHARS
from ptxkit.untrusted_text import escape_text

if TYPE_CHECKING:
    from ptxkit.batch.single_check import SingleChecker
    from ptxkit.diagnostics import Diagnostic
    from ptxkit.results import FileResult

PROGRAM = "ptxkit watch"

_WaitingText = tuple[str, str | Callable[[], str]]


class BackgroundLinter:
    """seconds: processor time for each text. config: a settings file that replaces those of the working directory.

    findings: those that were printed. A process that is forked from this one checks its own texts.
    """

    def __init__(self, seconds: float, config: str | None = None) -> None:
        self._seconds, self._config = seconds, config
        self._start_again()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._start_again)

    def _start_again(self) -> None:
        self.findings: list[Diagnostic] = []
        self._changed = threading.Condition()
        self._waiting: deque[_WaitingText] = deque()
        self._waiting_chars = self._omitted = 0
        self._is_busy = self._is_ended = False
        self._thread: threading.Thread | None = None
        self._checker: SingleChecker | None = None
        self._count = 0
        self._seen_texts: set[int] = set()
        self._seen_findings: set[tuple[object, ...]] = set()
        self._messages: set[str] = set()

    def submit(self, name: str, text: str | bytes | Callable[[], str]) -> None:
        """Accepts a text for a check; each text is checked once. name: of the text in findings."""
        if isinstance(text, bytes):
            text = text.rstrip(b"\0 ").decode("utf-8", "surrogateescape")
        with self._changed:
            if self._is_ended or (isinstance(text, str) and not self._is_new(text)):
                return
            length = len(text) if isinstance(text, str) else 0
            if self._waiting_chars + length > MAX_PENDING_CHARS:
                self._omitted += 1
                return
            self._waiting_chars += length
            self._waiting.append((name, text))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=PROGRAM, daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def complain(self, message: str) -> None:
        """Prints a message on one line, once."""
        if message not in self._messages:
            self._messages.add(message)
            _write(f"{PROGRAM}: {escape_text(message)}\n")

    def wait(self, seconds: float | None = None) -> bool:
        """Waits until all texts are checked. Returns whether that is so after `seconds` seconds at most."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting and not self._is_busy, seconds)

    def finish(self) -> None:
        """Waits for the last findings, as long as the end of the program may wait, and prints the counts."""
        is_complete = self.wait(MAX_EXIT_SECONDS)
        with self._changed:
            self._is_ended = True
            left = len(self._waiting) + (not is_complete and self._is_busy) + self._omitted
        checker = self._checker
        if checker is not None:
            checker.kill()
        if left:
            self.complain(f"the program ended before the check of {_count_of(left, 'PTX module')}")
        if self._count:
            counts = Counter(each.severity.value for each in self.findings)
            found = ", ".join(_count_of(counts[each], each) for each in ("error", "warning"))
            _write(f"{PROGRAM}: checked {_count_of(self._count, 'PTX module')}: {found}\n")

    def _is_new(self, text: str) -> bool:
        """Returns whether the text was not submitted before, and remembers it."""
        mark = hash(text)
        is_new = mark not in self._seen_texts
        self._seen_texts.add(mark)
        return is_new

    def _run(self) -> None:
        if sys.platform == "linux":  # where a thread has its own priority, which its child processes inherit
            with suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), LOW_PRIORITY)
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting)
                name, text = self._waiting.popleft()
                self._is_busy = True
            try:
                self._check(name, text)
            except Exception as error:
                self.complain(f"kernels were not checked: {error or type(error).__name__}")
            with self._changed:
                self._waiting_chars -= len(text) if isinstance(text, str) else 0
                self._is_busy = False
                self._changed.notify_all()

    def _check(self, name: str, text: str | Callable[[], str]) -> None:
        if not isinstance(text, str):
            text = text()
            if not self._is_new(text):
                return
        from ptxkit.batch.resident_check import ResidentChecker
        from ptxkit.batch.single_check import SingleChecker
        from ptxkit.results import Status
        from ptxkit.source import SourceFile

        if self._checker is None:
            self._checker = SingleChecker(self._seconds, self._config, ResidentChecker)
        result = self._checker.check(SourceFile(name, text))
        if self._is_ended:
            return
        if result.status is Status.FAILED:
            self.complain(f"{name} was not checked: {'; '.join(each.message for each in result.diagnostics)}")
            return
        self._count += 1
        self._print(self._new_findings(result))

    def _new_findings(self, result: FileResult) -> list[Diagnostic]:
        """Returns the findings that no text before had: at another place in the program, or in another function."""
        from ptxkit.baseline import baseline_entries

        entries = zip(result.diagnostics, baseline_entries(result.diagnostics), strict=True)
        marked = [(item, (item.code, item.origin) if item.origin else entry) for item, entry in entries]
        found = [item for item, mark in marked if mark not in self._seen_findings]
        self._seen_findings.update(mark for _, mark in marked)
        return found

    def _print(self, found: Sequence[Diagnostic]) -> None:
        if found:
            from ptxkit.diagnostic_groups import fold_groups
            from ptxkit.report import diagnostic_lines, plain

            self.findings += fold_groups(found)
            _write(plain(diagnostic_lines(found)))


def _count_of(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _write(text: str) -> None:
    """Writes to standard error; without effect if that is closed."""
    with suppress(OSError, ValueError, AttributeError):  # AttributeError: the process was started without it
        sys.stderr.write(text)
        sys.stderr.flush()
