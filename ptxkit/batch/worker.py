"""The process that checks texts: it receives jobs from its parent and sends results.

A text may make it hang or crash, which its parent detects (`supervised_checker`). Its memory is limited, and its
processor time for each text.
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
"""The result, or the error in the instruction table; and the peak memory of the process in bytes."""

_WARMUP_TEXT = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() { ret; }\n"


def serve(channel: ParentChannel) -> None:
    """Sends one message when it is ready, then handles jobs until the parent terminates this process."""
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
    """Returns the result, or the error in the instruction table; also a result if the check runs out of memory."""
    try:
        return encode_result(run_job(question)), ""
    except NotationError as error:
        return None, str(error)
    except MemoryError:
        pass  # the traceback holds all objects of the check, and leaves no memory for the result
    return encode_result(out_of_memory_result(question.source)), ""


def _warm_up() -> None:
    """Loads the modules that every check needs: they are not charged to a text, and not garbage collected."""
    with suppress(NotationError):  # the first text raises it again
        lint(_WARMUP_TEXT)
    freeze_all()
