"""The memory consistency model of PTX, and the checker of litmus tests: `ptxkit litmus`.

In goes the text of a litmus test (`read_tests`): in the format of Dat3M, in that of mixedproxy, or as a PTX kernel with
a header. Out comes a `LitmusVerdict` (`check`): whether the final state in question is allowed, an execution that
shows it or the axiom that forbids it, and whether some execution has a data race.

`axioms` is the model; it reads like the chapter of the manual. `traces` executes single threads, `executions` combines
them, `rendezvous` finds the phases of barriers. Everything is enumerated, so that a test has few threads and events.
The package may import `syntax`, `isa` and `semantics`.
"""

from __future__ import annotations

from ptxkit.memory_model.axioms import AXIOMS, ISA, STRICT, Axiom
from ptxkit.memory_model.checker import Answer, DataRace, LitmusVerdict, check, find_endless_execution
from ptxkit.memory_model.errors import LitmusError, TooManyExecutionsError
from ptxkit.memory_model.litmus_test import LitmusTest, LitmusThread
from ptxkit.memory_model.readers import SUFFIXES, read_tests

__all__ = [
    "AXIOMS",
    "ISA",
    "STRICT",
    "SUFFIXES",
    "Answer",
    "Axiom",
    "DataRace",
    "LitmusError",
    "LitmusTest",
    "LitmusThread",
    "TooManyExecutionsError",
    "LitmusVerdict",
    "check",
    "find_endless_execution",
    "read_tests",
]
