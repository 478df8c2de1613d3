"""A process that checks texts, in which some texts do what no text should: they say so in a comment.

What hangs reduces the limit of its processor time, so that the others may have one that no machine reaches.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from ptxkit.batch import job, worker
from ptxkit.batch.job import Job, JobResult
from ptxkit.processes.child_process import ParentChannel, limit_processor_time

HANGS, SLEEPS, DIES, EXITS, FILLS, PRINTS, BREAKS, SPINS = (
    f"// {word}" for word in ("hangs", "sleeps", "dies", "exits", "fills", "prints", "breaks", "spins, and tells ")
)


def answer_job(asked: Job) -> JobResult:
    text = asked.source.text
    if HANGS in text:
        limit_processor_time(0.05)
        while True:
            pass
    if SPINS in text:  # for as long as its limit allows; a file states that it does
        Path(text.partition(SPINS)[2]).touch()
        while True:
            pass
    if SLEEPS in text:
        time.sleep(3600)
    if DIES in text:
        os.kill(os.getpid(), signal.SIGSEGV)
    if EXITS in text:
        os._exit(3)
    if FILLS in text:
        return JobResult(job.lint_source(asked.source), "x" * (1 << 40))
    if PRINTS in text:
        print("something", flush=True)  # noqa: T201
    if BREAKS in text:
        raise RecursionError("too deep")
    return job.run_job(asked)


def serve(channel: ParentChannel) -> None:
    """Replaces `ptxkit.batch.supervised_checker.WORKER`."""
    worker.run_job = answer_job  # type: ignore[attr-defined]
    worker.serve(channel)
