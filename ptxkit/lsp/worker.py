"""The process that checks texts for the server."""

from __future__ import annotations

import gc
from traceback import format_exception

from ptxkit.diagnostics import Diagnostic, Fix
from ptxkit.fast_dataclasses import replace
from ptxkit.lsp.worker_messages import AnalysisReply, AnalysisRequest
from ptxkit.processes.child_process import ParentChannel
from ptxkit.results import FileResult
from ptxkit.settings.model import Settings
from ptxkit.source import SourceFile


class RequestHandler:
    """Executes jobs. The findings of the last text are kept, because its fixes are usually requested next."""

    def __init__(self) -> None:
        self._last: tuple[SourceFile, Settings, FileResult] | None = None

    def handle(self, job: AnalysisRequest) -> FileResult | Fix | str | None:
        """Returns the result of a job."""
        source = SourceFile(job.path, job.text)
        if job.kind == "fix":
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
    """Returns the finding in a form that can be sent."""
    return replace(item, properties=dict(item.properties))


def serve(channel: ParentChannel) -> None:
    """Executes jobs, one after the other, until the server ends this process."""
    from ptxkit import fixes  # noqa: F401  (ready before the first job comes)

    handler = RequestHandler()
    while True:
        job = channel.receive()
        try:
            answer = AnalysisReply(handler.handle(job))
        except Exception as error:
            answer = AnalysisReply(None, "".join(format_exception(error)))
        channel.send(answer)
        del answer, job
        gc.collect()
