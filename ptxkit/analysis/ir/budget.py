"""The limits on the work of the analyses, in one place: what exceeds them stays undecided, and no analysis hangs.

A step is one instruction executed symbolically. A lookup is the work of a rule to find the other accesses to a
location; to compare two executions counts as several.
"""

from __future__ import annotations

from ptxkit.fast_dataclasses import dataclass

#: The maximum number of steps of one execution, including calls; a longer execution ends as `budget`.
MAX_STEPS = 30_000
#: An execution also ends as `budget` when its loops find nothing new for this long: so many steps, and
#: so many times the number of instructions that it has covered.
STALLED_STEPS, STALLED_ITERATIONS = 8_000, 12
#: The same limit where it has executed everything that can be reported on, or certainly leaves no loop within the
#: budget: further iterations only serve to leave a loop.
MIN_STALLED_STEPS = 1_000
#: Unknown values of one exploration; an execution that exceeds it ends as `budget`, too: many threads in one loop read
#: a new value each in every iteration.
MAX_SYMBOLIC_VALUES = 150_000
#: Depth of calls that are followed.
MAX_CALLS = 16

#: The maximum number of scenarios that flip a guess to reach code that the first ones did not.
MAX_DECISION_FLIPS = 3
#: The maximum number of threads added to one scenario because of what others read.
MAX_ADDED_THREADS = 4
#: The maximum number of groups that the threads of one CTA may diverge into; further ones are not executed.
MAX_DIVERGED_GROUPS = 64
#: The maximum number of steps of all executions of one kernel.
MAX_TOTAL_STEPS = 600_000
#: The maximum number of threads times events that a rule may inspect in one CTA.
MAX_THREAD_EVENTS = 400_000
#: Actors of a CTA, rehearsals of them, and events that one rehearsal may play, at most.
MAX_THREAD_CLASSES, MAX_SCHEDULES, MAX_SIMULATED_EVENTS = 40, 8, 60_000
#: The maximum number of CTAs of a cluster that are executed and simulated together, and that rules inspect.
MAX_SIMULATED_CTAS, MAX_ANALYSED_CTAS = 8, 2

#: The executions of one instruction that a rule inspects, the first and the last: the iterations between are alike.
FIRST_VISITS, LAST_VISITS = 12, 6
#: The maximum number of pairs of executions that a rule inspects for one pair of instructions in one pair of threads.
MAX_EXECUTION_PAIRS = 24
#: The lookups of all rules in one kernel, and the number of lookups that a comparison of two executions counts as.
MAX_TOTAL_PAIR_CHECKS, PAIR_CHECK_COST = 1_000_000, 10

#: Steps and lookups in all kernels of a module: half a minute's work.
MAX_MODULE_STEPS, MAX_MODULE_PAIR_CHECKS = 20_000_000, 20_000_000


@dataclass(slots=True)
class AnalysisBudget:
    """The remaining budget of a module or of one kernel."""

    steps: int = MAX_MODULE_STEPS
    pair_checks: int = MAX_MODULE_PAIR_CHECKS

    def for_kernel(self) -> AnalysisBudget:
        """The budget of one kernel, out of this one."""
        return AnalysisBudget(
            min(self.steps, MAX_TOTAL_STEPS),
            min(self.pair_checks, MAX_TOTAL_PAIR_CHECKS),
        )

    def consume(self, given: AnalysisBudget, left: AnalysisBudget) -> None:
        """Subtracts what a kernel has used of its budget."""
        self.steps -= given.steps - left.steps
        self.pair_checks -= given.pair_checks - left.pair_checks

    def reset(self) -> None:
        """Restores the initial budget of a kernel, for other questions than those that exhausted it."""
        self.steps, self.pair_checks = MAX_TOTAL_STEPS, MAX_TOTAL_PAIR_CHECKS

    @property
    def is_exhausted(self) -> bool:
        """Whether some question was left open because no lookups remained."""
        return self.pair_checks <= 0
