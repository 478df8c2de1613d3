"""How much work the analyses do, in one place: what goes beyond is undecided, and never a hang.

A step is one instruction executed by a walk. A lookup is what a rule does to learn who else touches a place; to look at
two executions is worth several.
"""

from __future__ import annotations

from ptxkit.fast_dataclasses import dataclass

#: Steps of one walk, calls included; a longer walk ends as `budget`.
MAX_STEPS = 30_000
#: A walk also ends as `budget` when it has been through its loops this often and finds nothing new: so many steps, and
#: so many times the instructions it has seen.
STALLED_STEPS, STALLED_ITERATIONS = 8_000, 12
#: The same where it has executed all of which it can tell anything, or can tell that it comes behind no loop within the
#: budget: further rounds are there to come behind a loop.
MIN_STALLED_STEPS = 1_000
#: Unknown values of one exploration; a walk that comes to more ends as `budget`, too: many threads at one loop read
#: something new each in every round.
MAX_SYMBOLIC_VALUES = 150_000
#: Depth of calls that are followed.
MAX_CALLS = 16

#: Scenarios that turn a guess round to reach code that the first ones did not, at most.
MAX_DECISION_FLIPS = 3
#: Threads added to one scenario because of what others read, at most.
MAX_ADDED_THREADS = 4
#: Groups that the threads of one CTA may part into; further ones are not walked.
MAX_DIVERGED_GROUPS = 64
#: Steps that the walks of one kernel may take together.
MAX_TOTAL_STEPS = 600_000
#: Threads times events that a rule may look at in one CTA.
MAX_THREAD_EVENTS = 400_000
#: Actors of a CTA, rehearsals of them, and events that one rehearsal may play, at most.
MAX_THREAD_CLASSES, MAX_SCHEDULES, MAX_SIMULATED_EVENTS = 40, 8, 60_000
#: CTAs of a cluster that are walked and rehearsed together, and those that rules look at, at most.
MAX_SIMULATED_CTAS, MAX_ANALYSED_CTAS = 8, 2

#: Executions of one instruction that a rule looks at, the first and the last: the rounds between repeat themselves.
FIRST_VISITS, LAST_VISITS = 12, 6
#: Pairs of executions that a rule looks at for one pair of instructions in one pair of threads.
MAX_EXECUTION_PAIRS = 24
#: Lookups of all rules in one kernel, and how many of them a look at two executions is worth.
MAX_TOTAL_PAIR_CHECKS, PAIR_CHECK_COST = 1_000_000, 10

#: Steps and lookups in all kernels of a module: half a minute's work.
MAX_MODULE_STEPS, MAX_MODULE_PAIR_CHECKS = 20_000_000, 20_000_000


@dataclass(slots=True)
class AnalysisBudget:
    """What is left, of a module or of one kernel."""

    steps: int = MAX_MODULE_STEPS
    pair_checks: int = MAX_MODULE_PAIR_CHECKS

    def for_kernel(self) -> AnalysisBudget:
        """What one kernel may use of this."""
        return AnalysisBudget(
            min(self.steps, MAX_TOTAL_STEPS),
            min(self.pair_checks, MAX_TOTAL_PAIR_CHECKS),
        )

    def consume(self, given: AnalysisBudget, left: AnalysisBudget) -> None:
        """Takes away what a kernel has used of what it was given."""
        self.steps -= given.steps - left.steps
        self.pair_checks -= given.pair_checks - left.pair_checks

    def reset(self) -> None:
        """Makes it what a kernel has at first, for other questions than those that used it up."""
        self.steps, self.pair_checks = MAX_TOTAL_STEPS, MAX_TOTAL_PAIR_CHECKS

    @property
    def is_exhausted(self) -> bool:
        """Whether some question was left for want of lookups."""
        return self.pair_checks <= 0
