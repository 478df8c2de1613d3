"""What one representative thread does: the events of its walk, in order, with concrete places."""

from __future__ import annotations

from ptxkit.analysis.program import Step
from ptxkit.analysis.terms import Value
from ptxkit.isa.effects import Effect
from ptxkit.records import dataclass, field


@dataclass(frozen=True, slots=True)
class Event:
    """One effect as it happened.

    step: the instruction. visit: how often the thread had executed that step before. address: of the access or
    the mbarrier, a shared-memory offset where it is known to be shared, else a term or None. size: bytes, None where
    unknown. amount: arrivals, pending groups, the barrier's number. barrier: the mbarrier of an access's completion.
    expect: bytes added by an arrive.expect_tx.
    """

    step: Step
    visit: int
    effect: Effect
    address: Value | None = None
    size: Value | None = None
    amount: Value | None = None
    barrier: Value | None = None
    expect: Value | None = None

    @property
    def range(self) -> tuple[int, int] | None:
        """`[low, high)` in shared memory, or None where the place or the size is not known as a number."""
        if isinstance(self.address, int) and isinstance(self.size, int):
            return self.address, self.address + self.size
        return None


@dataclass(frozen=True, slots=True)
class Opaque:
    """A call of code that is not here: anything may have happened in it."""

    step: Step
    visit: int


@dataclass(frozen=True, slots=True)
class Misuse:
    """An address operand that surely holds an address of another kind than its instruction takes.

    role: of the operand. taken: the state space that the instruction takes (`generic` where it names none). value: what
    it holds, a number or a term that came from a conversion. origin: `generic` for a generic address, or the space that
    `value` is an address in; `shared::cluster` for shared memory of another CTA.
    """

    step: Step
    role: str
    taken: str
    value: Value
    origin: str


@dataclass(slots=True)
class Trace:
    """The walk of thread `tid` (linear).

    ended: `exit`; `budget` where the walk was cut short, `barrier` where no more of it was asked for.

    guessed: how many events there were when a decision first depended on data that nobody knows, None where none did;
    up to there an input surely takes this path.
    """

    tid: int
    events: list[Event | Opaque] = field(default_factory=list)
    covered: set[Step] = field(default_factory=set)
    misuses: dict[tuple[Step, str], Misuse] = field(default_factory=dict)
    ended: str = "exit"
    guessed: int | None = None
    opaque: bool = False

    def is_sure(self, position: int | None = None) -> bool:
        """Whether no guess comes before a position; before the end, where none is given."""
        return self.guessed is None or (position is not None and position < self.guessed)
