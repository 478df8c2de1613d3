"""What runs in a process that checks texts: it receives questions from its parent and sends answers.

A text may make it hang or end it, which its parent notices (`supervised_checker`). It has a limit of memory, and for
each text one of processor time.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TypeAlias

from ptxkit.batch.failure_results import out_of_memory_result
from ptxkit.batch.job import Job, run_job
from ptxkit.batch.limits import MAX_CHECK_MEMORY
from ptxkit.batch.result_codec import EncodedResult, encode_result
from ptxkit.gc_control import freeze_all
from ptxkit.isa.errors import NotationError
from ptxkit.linter import lint
from ptxkit.processes.child_process import ParentChannel, limit_memory, limit_processor_time, peak_memory

WorkerReply: TypeAlias = "tuple[EncodedResult | None, str, int]"
"""The answer, or the mistake in the instruction table; and the most bytes that the process has had so far."""

_WARMUP_TEXT = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() { ret; }\n"


def serve(channel: ParentChannel) -> None:
    """Sends one message when it is ready, then answers questions until the parent ends this process."""
    limit_memory(MAX_CHECK_MEMORY)
    _warm_up()
    channel.send(None)
    while True:
        question, seconds = channel.receive()
        limit_processor_time(seconds)
        answer, mistake = run_reported(question)
        limit_processor_time(0)
        del question
        reply: WorkerReply = answer, mistake, peak_memory()
        channel.send(reply)


def run_reported(question: Job) -> tuple[EncodedResult | None, str]:
    """The answer, or the mistake in the instruction table; an answer, too, where the check runs out of memory."""
    try:
        return encode_result(run_job(question)), ""
    except NotationError as error:
        return None, str(error)
    except MemoryError:
        pass  # it holds all that the check had, and leaves no room for an answer before it is gone
    return encode_result(out_of_memory_result(question.source)), ""


def _warm_up() -> None:
    """Loads what every check needs: no text is charged with that, and it is excluded from garbage collection."""
    with suppress(NotationError):  # which the first text raises again
        lint(_WARMUP_TEXT)
    freeze_all()
