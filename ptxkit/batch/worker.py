"""The process that checks texts: it reads questions from standard input, and writes answers to standard output.

What it is asked about may hang it or end it: its parent (`watched`) sees that. It has a limit of memory, and for each
text one of processor time, over which the system itself ends it; where it stood it tells on standard error.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import signal
import sys
from contextlib import suppress
from typing import BinaryIO, TypeAlias

from ptxkit.batch.failure_results import out_of_memory_result
from ptxkit.batch.job import Job, run_job
from ptxkit.batch.result_codec import EncodedResult, encode_result
from ptxkit.cache import installation_stamp
from ptxkit.gc_control import freeze_all
from ptxkit.isa.errors import NotationError
from ptxkit.limits import MAX_CHECK_MEMORY
from ptxkit.linter import lint

WorkerReply: TypeAlias = "tuple[EncodedResult | None, str, int]"
"""The answer, or the mistake in the instruction table; and the most bytes that the process has had so far."""


_WARMUP_TEXT = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() { ret; }\n"
_PARENT_POLL_SECONDS = 2.0
"""Seconds between two looks at whether the parent is alive."""


def serve() -> None:
    """Answer until nobody asks any more. The first thing written is the state of the installation that answers."""
    questions = sys.stdin.buffer
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what anything else prints must not come between the replies
    if hasattr(signal, "SIGINT"):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
    faulthandler.enable()
    _limit_memory()
    _end_with_parent()
    try:
        _serve_jobs(questions, replies)
    finally:
        _forget_parent()


def _serve_jobs(questions: BinaryIO, replies: BinaryIO) -> None:
    _warm_up()
    pickle.dump(installation_stamp(), replies)
    replies.flush()
    while True:
        try:
            question, seconds = pickle.load(questions)
        except EOFError:
            return
        _limit_time(seconds)
        answer, mistake = run_reported(question)
        _limit_time(0)
        del question
        reply: WorkerReply = answer, mistake, _peak_memory()
        pickle.dump(reply, replies, pickle.HIGHEST_PROTOCOL)
        replies.flush()


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
    """Load what every check needs: no text is charged with that, and nobody looks through it for garbage."""
    with suppress(NotationError):  # which the first text comes across again
        lint(_WARMUP_TEXT)
    freeze_all()


def _limit_memory() -> None:
    if sys.platform != "win32":
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = MAX_CHECK_MEMORY if hard == resource.RLIM_INFINITY else min(MAX_CHECK_MEMORY, hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        # Says where the process stands, and then does what the signal does by itself: end it.
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        faulthandler.register(signal.SIGPROF, all_threads=False, chain=True)


def _end_with_parent() -> None:
    """Look from time to time whether whoever asks is still there: one that was killed hears no answer."""
    if sys.platform != "win32":
        parent = os.getppid()
        signal.signal(signal.SIGALRM, lambda *_: None if os.getppid() == parent else os._exit(1))
        signal.setitimer(signal.ITIMER_REAL, _PARENT_POLL_SECONDS, _PARENT_POLL_SECONDS)


def _forget_parent() -> None:
    """A signal while Python itself comes to its end would end this process, and hide what ended it."""
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_REAL, 0)


def _limit_time(seconds: float) -> None:
    """Let the system end this process when so much processor time has gone; 0 takes the limit away."""
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _peak_memory() -> int:
    if sys.platform == "win32":
        return 0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
