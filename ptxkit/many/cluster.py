"""Texts checked on other machines: joblib hands them to workers of dask.distributed (`pip install ptxkit[cluster]`).

    dask scheduler                                                    # on one machine
    dask worker tcp://HOST:8786 --nthreads 1 --nworkers 16            # on each
    ptxkit lint --cluster tcp://HOST:8786 FOLDER

The texts are sent; the workers need no files but ptxkit, in the same state. Each thread of a worker keeps one watched
process, so a text that hangs or kills costs nobody else.

Whoever can speak to a scheduler runs code on its workers and clients, and plain `tcp://` authenticates nobody. So
`--cluster local:2` begins no scheduler, which the other users of this machine could reach: it is two processes that
are spoken to through pipes, as `--jobs 2` is.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain
from typing import Any

from ptxkit.cache import contents
from ptxkit.limits import MAX_WAITING_TEXT
from ptxkit.many.errors import CannotRunError
from ptxkit.many.packing import Packed, packed, unpacked
from ptxkit.many.question import Answer, Item, Question
from ptxkit.many.watched import Watched

LOCAL = "local:"
_MOST_PROCESSES = 1024
_AHEAD = 32
"""Texts for each thread of the cluster that are sent together, at most: behind the last of them some have to wait."""


class There:
    """Texts on a cluster. address: of the scheduler. seconds: for one text."""

    def __init__(self, address: str, seconds: float) -> None:
        self._address = address
        self._seconds = seconds
        self._client: Any = None

    def answers(self, items: Iterable[Item]) -> Iterator[tuple[Item, Answer]]:
        """An answer to each, in their order. Raises CannotRunError."""
        arriving = iter(items)
        for item in arriving:
            if not _is_open(item):
                yield _settled(item)
                continue
            if self._client is None:
                self._client = client(self._address)
            yield from self._together(list(_some(item, arriving, _AHEAD * self._threads())))

    def _threads(self) -> int:
        return sum(self._client.nthreads().values()) or 1

    def _together(self, items: list[Item]) -> Iterator[tuple[Item, Answer]]:
        from joblib import Parallel, delayed, parallel_config

        questions = [item.question for item in items if _is_open(item) and item.question is not None]
        with parallel_config(backend="dask"):
            tasks = (delayed(answered_there)(each, self._seconds, contents()) for each in questions)
            answers = iter(Parallel(return_as="generator")(tasks))
            for item in items:
                if not _is_open(item) or item.question is None:
                    yield _settled(item)
                    continue
                data: Packed | None = next(answers)
                if data is None:
                    raise CannotRunError(f"the workers at {self._address} have another ptxkit: install this one there")
                yield item, unpacked(data, item.question.source)

    def end(self) -> None:
        """Leaves the cluster."""
        if self._client is not None:
            self._client.close()


def processes_here(address: str) -> int | None:
    """How many processes of this machine `local:2` stands for; None for the address of a scheduler. Raises
    CannotRunError."""
    if not address.startswith(LOCAL):
        return None
    count = address.removeprefix(LOCAL)
    if not (count.isdecimal() and count.isascii() and 0 < int(count[:6]) <= _MOST_PROCESSES):
        raise CannotRunError(f"{address!r}: write local:2 for two processes on this machine")
    return int(count)


def client(address: str) -> Any:
    """A client of the scheduler at an address. Raises CannotRunError."""
    try:
        import distributed
        import joblib  # noqa: F401
    except ImportError as error:
        raise CannotRunError(f"{error.name} is not installed: pip install ptxkit[cluster]") from error
    library: Any = distributed
    try:
        return library.Client(address)  # waits as long as dask.distributed is set to
    except (OSError, ValueError) as error:
        raise CannotRunError(f"no scheduler answers at {address}: {error}") from error


def answered_there(question: Question, seconds: float, state: str) -> Packed | None:
    """What runs on a worker of the cluster; None where its ptxkit is in another state than the one that asks."""
    if contents() != state:
        return None
    return packed(_watched(threading.get_ident(), seconds).answer(question))


@cache
def _watched(_thread: int, seconds: float) -> Watched:
    """The process of one thread of this worker, which ends with the worker: nobody asks it any more."""
    return Watched(seconds)


def _is_open(item: Item) -> bool:
    return item.question is not None and item.answer is None and item.mistake is None


def _settled(item: Item) -> tuple[Item, Answer]:
    if item.mistake is not None:
        raise item.mistake
    assert item.answer is not None
    return item, item.answer


def _some(first: Item, others: Iterator[Item], most: int) -> Iterator[Item]:
    """Items to be sent together: at most so many texts, and no more characters than may wait."""
    count = length = 0
    for item in chain([first], others):
        yield item
        if item.question is not None:
            count, length = count + 1, length + len(item.question.source.text)
        if count >= most or length > MAX_WAITING_TEXT:
            return
