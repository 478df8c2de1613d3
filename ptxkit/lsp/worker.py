"""The process that checks texts for the server: `python -m ptxkit.lsp.worker`, spoken to over its pipes (`jobs`).

Where the server is gone, the process ends, whatever it does at that time.
"""

from __future__ import annotations

import gc
import os
import pickle
import sys
import threading
from queue import Queue
from traceback import format_exception
from typing import BinaryIO

from ptxkit.diagnostics import Diagnostic, Fix
from ptxkit.fast_dataclasses import replace
from ptxkit.lsp.worker_messages import LENGTH_BYTES, AnalysisReply, AnalysisRequest, encode_message
from ptxkit.results import FileResult
from ptxkit.settings.model import Settings
from ptxkit.source import SourceFile


class RequestHandler:
    """Does jobs. What was found in the last text is kept: its mends are asked for next."""

    def __init__(self) -> None:
        self._last: tuple[SourceFile, Settings, FileResult] | None = None

    def handle(self, job: AnalysisRequest) -> FileResult | Fix | str | None:
        """What a job gives."""
        source = SourceFile(job.path, job.text)
        if job.kind == "mend":
            from ptxkit.fixes import fix_source

            return fix_source(source, job.settings).source.text
        result = self._result(source, job.settings)
        if job.kind == "check":
            return replace(result, diagnostics=tuple(map(_picklable, result.diagnostics)))
        from ptxkit.fixes import with_verified_fixes

        def is_asked(item: Diagnostic) -> bool:
            return (item.code, item.span, item.message) == job.finding

        tried = with_verified_fixes(source, result, job.settings, is_asked)
        return next((item.fix for item in tried.diagnostics if is_asked(item)), None)

    def _result(self, source: SourceFile, settings: Settings) -> FileResult:
        from ptxkit.linter import lint_source

        if self._last is None or self._last[:2] != (source, settings):
            self._last = source, settings, lint_source(source, settings)
        return self._last[2]


def _picklable(item: Diagnostic) -> Diagnostic:
    """The finding as it can be sent."""
    return replace(item, properties=dict(item.properties))


def _read_requests(stream: BinaryIO, jobs: Queue[AnalysisRequest]) -> None:
    while True:
        head = stream.read(LENGTH_BYTES)
        if len(head) < LENGTH_BYTES:
            os._exit(0)  # the server is gone: nobody waits for what is being done
        jobs.put(pickle.loads(stream.read(int.from_bytes(head, "little"))))


def main() -> None:
    """Does jobs, one after the other, for as long as there is somebody who asks."""
    own = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print is no answer
    jobs: Queue[AnalysisRequest] = Queue()
    threading.Thread(target=_read_requests, args=(sys.stdin.buffer, jobs), daemon=True).start()
    from ptxkit import fixes  # noqa: F401  (ready before the first job comes)

    desk = RequestHandler()
    while True:
        job = jobs.get()
        try:
            answer = AnalysisReply(desk.handle(job))
        except Exception as error:
            answer = AnalysisReply(None, "".join(format_exception(error)))
        own.write(encode_message(answer))
        own.flush()
        del answer, job
        gc.collect()


if __name__ == "__main__":
    main()
