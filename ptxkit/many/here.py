"""Texts checked beside each other on this machine: a thread waits for each process, which is watched."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING

from ptxkit.limits import MAX_WAITING_TEXT
from ptxkit.many.alone import Alone
from ptxkit.many.question import Answer, Item, Question
from ptxkit.many.turns import Turns

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor
    from queue import SimpleQueue

    from ptxkit.many.watched import Watched

SMALL = 32 * 1024
"""Characters of texts that are checked before processes are begun: that takes as long as a process needs to begin."""

_AHEAD = 16
"""Texts for each process that are read, or have their results and wait for those before them."""
_LOOK = 0.1
"""Seconds between two looks at what is going on, for whoever shows it."""


def cores() -> int:
    """How many processes can run at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Here:
    """jobs: processes; None: one a core, and none for few and small texts. seconds: processor time for one text.

    looks: called every now and then while an answer is waited for.
    """

    def __init__(self, jobs: int | None, seconds: float, looks: Callable[[], None] = lambda: None) -> None:
        self._jobs = jobs or cores()
        self._alone = Alone(seconds) if jobs is None else None
        self._seconds = seconds
        self._looks = looks
        self._small = 0
        self._free: SimpleQueue[Watched]
        self._watched: list[Watched] = []
        self._threads: ThreadPoolExecutor | None = None
        self._turns: Turns[tuple[Question, Future[Answer]]] = Turns()

    def answers(self, items: Iterable[Item]) -> Iterator[tuple[Item, Answer]]:
        """An answer to each, in their order."""
        waiting: deque[tuple[Item, Future[Answer] | None]] = deque()
        length = 0
        arriving = iter(items)
        first = list(islice(arriving, 2))
        if len(first) == 1 and self._alone is not None:
            yield from self._alone.answers(first)  # nothing could be done beside it
            return
        for item in chain(first, arriving):
            waiting.append(self._begun(item))
            length += _length(item)
            most = _AHEAD * self._jobs
            while waiting and (_is_done(waiting[0]) or len(waiting) > most or length > MAX_WAITING_TEXT):
                length -= _length(waiting[0][0])
                yield self._taken(*waiting.popleft())
        while waiting:
            yield self._taken(*waiting.popleft())

    def _begun(self, item: Item) -> tuple[Item, Future[Answer] | None]:
        if item.question is None or item.answer is not None or self._is_small(item.question):
            return item, None
        from concurrent.futures import Future

        if self._threads is None:
            from concurrent.futures import ThreadPoolExecutor
            from queue import SimpleQueue

            from ptxkit.many.watched import Watched

            self._threads = ThreadPoolExecutor(self._jobs, "ptxkit")
            self._free = SimpleQueue()
            self._watched = [Watched(self._seconds) for _ in range(self._jobs)]
            for each in self._watched:
                self._free.put(each)
        future: Future[Answer] = Future()
        self._turns.put(_length(item), (item.question, future))
        self._threads.submit(self._take_turn)
        return item, future

    def _is_small(self, question: Question) -> bool:
        """Whether to check it in this process: the first texts are, as long as they are small."""
        if self._alone is None:
            return False
        self._small += len(question.source.text)
        if self._small > SMALL:
            self._alone = None
            return False
        return True

    def _take_turn(self) -> None:
        question, future = self._turns.take()
        watched = self._free.get()
        try:
            future.set_result(watched.answer(question))
        except BaseException as error:  # whoever waits for the answer is told
            future.set_exception(error)
        finally:
            self._free.put(watched)

    def _taken(self, item: Item, future: Future[Answer] | None) -> tuple[Item, Answer]:
        if item.mistake is not None:
            raise item.mistake
        if item.answer is not None:
            return item, item.answer
        assert item.question is not None
        if future is None:
            return item, Alone(self._seconds).answer(item.question)
        while True:
            try:
                return item, future.result(_LOOK)
            except TimeoutError:
                if future.done():
                    raise
                self._looks()

    def end(self) -> None:
        """Ends the processes; what is not done stays so."""
        for each in self._watched:
            each.end()
        if self._threads is not None:
            self._threads.shutdown(wait=True, cancel_futures=True)
        for each in self._watched:
            each.close()


def _length(item: Item) -> int:
    return 0 if item.question is None else len(item.question.source.text)


def _is_done(waiting: tuple[Item, Future[Answer] | None]) -> bool:
    return waiting[1] is None or waiting[1].done()
