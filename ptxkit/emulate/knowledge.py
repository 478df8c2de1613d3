"""What each thread knows of what others have done: vector clocks.

A thread's time counts the moments at which it told somebody something. A vector says, for the threads of some CTAs, up
to which time of each thread all it did is known. What all threads of a CTA know stands once; what single threads know
beyond is a matrix that is gone at the next barrier of all.

Source: PTX ISA, "Memory Consistency Model": "Causality Order", "Synchronization", "Release and Acquire Patterns".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy

if TYPE_CHECKING:
    from ptxkit.emulate.cta import Cta

Vector: TypeAlias = "dict[Knowledge, Any]"
"""Times by CTA: an array over its threads."""


class Knowledge:
    """What the threads of one CTA know. base: the number of its first thread among all of the launch, from 1 on.

    own: the present time of each thread. common: times of the CTA's threads that all of them know. extra: the same for
    each thread, where some know more, else None. foreign: times of other CTAs' threads that all know; foreign_of: the
    same for single threads.
    """

    __slots__ = ("_fenced", "base", "common", "cta", "extra", "foreign", "foreign_of", "own", "seen", "threads")

    def __init__(self, cta: Cta, base: int) -> None:
        self.cta, self.base, self.threads = cta, base, cta.threads
        self.own = numpy.ones(self.threads, numpy.int64)
        self.common = numpy.zeros(self.threads, numpy.int64)
        self.extra: Any = None
        self.foreign: Vector = {}
        self.foreign_of: dict[int, Vector] = {}
        self._fenced: dict[int, Vector] = {}
        self.seen: dict[int, Vector] = {}

    # ------------------------------------------------------------------------------------------------ telling

    def tell(self, index: Any) -> Vector:
        """All that some threads know and have done until now, together; what they do from here on is not in it."""
        known = self.common.copy()
        if self.extra is not None:
            numpy.maximum(known, self.extra[index].max(axis=0), out=known)
        known[index] = numpy.maximum(known[index], self.own[index])
        self.own[index] += 1
        vector: Vector = dict(self.foreign)
        vector[self] = known
        if self.foreign_of:
            for thread in index:
                found = self.foreign_of.get(int(thread))
                if found is not None:
                    join(vector, found)
        return vector

    def learn(self, index: Any, vector: Vector) -> None:
        """Some threads come to know what was told."""
        everyone = len(index) == self.threads
        for other, times in vector.items():
            if other is not self:
                if everyone:
                    join(self.foreign, {other: times})
                else:
                    for thread in index:
                        join(self.foreign_of.setdefault(int(thread), {}), {other: times})
            elif everyone:
                self.common = numpy.maximum(self.common, times)
            elif (times > self.common).any():
                if self.extra is None:
                    self.extra = numpy.zeros((self.threads, self.threads), numpy.int64)
                self.extra[index] = numpy.maximum(self.extra[index], times)

    def learn_all(self, vector: Vector) -> None:
        """All threads that live come to know what all of them told: nobody knows more than the others."""
        self.learn(self.cta.everyone, vector)
        self.extra = None
        self.foreign_of.clear()

    # ------------------------------------------------------------------------------------------------- fences

    def fence(self, index: Any) -> None:
        """What some threads did before is told by what they write from here on, and what they read told them counts."""
        vector = self.tell(index) if len(index) == 1 else None
        for thread in index:
            number = int(thread)
            seen = self.seen.pop(number, None)
            if seen is not None:
                self.learn(numpy.array([number]), seen)
            self._fenced[number] = vector or self.tell(numpy.array([number]))

    def fenced(self, thread: int) -> Vector | None:
        """What a thread's last fence lets its later writes tell; None where it executed none."""
        return self._fenced.get(thread)

    @property
    def has_fenced(self) -> bool:
        """Whether any thread executed a fence."""
        return bool(self._fenced)

    # ------------------------------------------------------------------------------------------------ knowing

    def knows(self, index: Any, other: Knowledge, threads: Any, times: Any) -> Any:
        """Whether each thread of `index` knows what the thread of another CTA, or of this one, did at a time."""
        if other is self:
            known = self.common[threads]
            if self.extra is not None:
                known = numpy.maximum(known, self.extra[index, threads])
            return (known >= times) | (threads == index)
        held = self.foreign.get(other)
        found = numpy.zeros(len(index), bool) if held is None else held[threads] >= times
        if self.foreign_of and not found.all():
            for at in numpy.flatnonzero(~found):
                single = self.foreign_of.get(int(index[at]), {}).get(other)
                if single is not None:
                    found[at] = single[threads[at]] >= times[at]
        return found


def join(vector: Vector, other: Vector) -> Vector:
    """Add to a vector what another says; the vector."""
    for owner, times in other.items():
        held = vector.get(owner)
        vector[owner] = times if held is None else numpy.maximum(held, times)
    return vector
