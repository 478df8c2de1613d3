"""The limits of the analyses: what exceeds a limit is undecided or is not shown, so that every analysis ends.

A step is one instruction executed symbolically. A lookup is the work of a rule to find the other accesses to a
location; the comparison of two executions counts as several lookups.
"""

from __future__ import annotations

MAX_STEPS = 80_000
"""The maximum number of steps of one execution, including calls; a longer execution ends as `budget`."""

STALLED_STEPS = 8_000
"""The number of steps without new coverage in its loops after which an execution ends as `budget`."""

STALLED_ITERATIONS = 12
"""The same limit as a multiple of the number of instructions that the execution has covered; the larger limit applies.
"""

MIN_STALLED_STEPS = 1_000
"""The number of steps without new coverage after which an execution ends as `budget`, where it has executed everything
that can be reported on or provably leaves no loop within the budget: further iterations would only leave a loop.
"""

MAX_SYMBOLIC_VALUES = 150_000
"""The maximum number of unknown values of one exploration.

An execution that exceeds it also ends as `budget`: many threads in one loop read a new value each in every iteration.
"""

MAX_CALL_DEPTH = 16
"""The maximum depth of calls that are followed."""

MAX_DECISION_FLIPS = 3
"""The maximum number of scenarios that flip a guess to reach code that the first ones did not."""

MAX_ORDERING_FLIPS = 3
"""The maximum number of scenarios that take the other side of a guess that decides whether a thread executes a fence, a
wait, a barrier or an arrival."""

MAX_INPUT_TRIALS = 6
"""The maximum number of arguments, or numbers of the CTA, that are tried because a branch over a fence, a wait, a
barrier or an arrival compares them."""

MAX_REPEATED_ROUNDS = 8
"""How often a scenario stays in a loop that data ends, in all executions of the loop: twice around a ring of four
stages."""

MAX_FLIPPED_PAIR_CHECKS = 100_000
"""The maximum number of lookups of all rules in one scenario of this kind, in addition to those of the kernel."""

MAX_ADDED_THREADS = 4
"""The maximum number of threads added to one scenario because of what others read."""

MAX_DIVERGED_GROUPS = 64
"""The maximum number of groups into which the threads of one CTA may diverge; further groups are not executed."""

MAX_TOTAL_STEPS = 600_000
"""The maximum number of steps of all executions of one kernel."""

MAX_MODULE_STEPS = 20_000_000
"""The maximum number of steps in all kernels of a module, which bounds its analysis to about half a minute."""

MAX_THREAD_CLASSES = 40
"""The maximum number of thread classes of a CTA that are simulated."""

MAX_SCHEDULES = 8
"""The maximum number of schedules that are simulated."""

MAX_SIMULATED_EVENTS = 60_000
"""The maximum number of events of one simulated schedule."""

MAX_SIMULATED_CTAS = 8
"""The maximum number of CTAs of a cluster that are executed and simulated together."""

MAX_ANALYZED_CTAS = 2
"""The maximum number of CTAs of a cluster that rules inspect."""

FIRST_VISITS = 12
"""The number of first executions of one instruction that a rule inspects."""

LAST_VISITS = 6
"""The number of last executions of one instruction that a rule inspects.

The iterations between the first and the last executions are assumed to repeat them.
"""

MAX_EXECUTION_PAIRS = 24
"""The maximum number of pairs of executions that a rule inspects for one pair of instructions and of threads."""

MAX_UNLOCATED_PAIRS = 6
"""The maximum number of pairs of executions that a rule inspects for two instructions, on two paths, if an address is
unknown."""

MAX_THREAD_EVENTS = 400_000
"""The maximum product of threads and events that a rule may inspect in one CTA."""

MAX_TOTAL_PAIR_CHECKS = 4_000_000
"""The maximum number of lookups of all rules in one kernel."""

PAIR_CHECK_COST = 10
"""The number of lookups that a comparison of two executions counts as."""

MAX_MODULE_PAIR_CHECKS = 20_000_000
"""The maximum number of lookups in all kernels of a module."""

MAX_PAIR_ARRIVALS = 4
"""The maximum number of arrivals of one thread at one object that are examined for a pair of CTAs."""

MAX_EDGE_CHECKS = 20_000
"""The maximum number of synchronization edges that are tried for accesses of two CTAs."""

MAX_CROSSING_CHECKS = 4_000
"""The maximum number of pairs of accesses by two CTAs that are examined for a proxy crossing."""

MAX_BOX_BYTES = 64 << 10
"""The number of bytes from its address that a tensor copy of an unknown box may have written."""

MAX_BOX_PAIR_CHECKS = 4_000
"""The maximum number of pairs of a copy and an access on a path that are examined for the size of the copy's box."""

MAX_LOOKBACK = 500
"""The maximum number of events that the search for an event common to two groups examines."""

MAX_MOVE_CHAIN = 8
"""The maximum number of moves between a load and the store of the loaded value."""

MAX_EXACT_CHECKS = 3_000
"""The maximum number of pairs of accesses, and of paths, that are examined in detail."""

MAX_FIRST_EXECUTIONS = 64
"""The maximum number of first executions that are examined where many instructions write the bytes that are read."""

MAX_GROUP_ACCESSES = 20_000
"""The maximum number of compared accesses by groups. MAX_ACCESS_INSTANCES is the limit for accesses by single threads.
"""

MAX_TRACED_REGISTERS = 400
"""The maximum number of registers that are followed for one step."""

MAX_EXPR_CHARS = 80
"""The maximum number of characters of an unknown that is itself an expression."""

MAX_RANGE_DEPTH = 24
"""The maximum number of operations in sequence through which the range of a value is computed."""

MAX_INPUT_DEPTH = 60
"""The maximum number of operations in sequence through which a condition is computed from data of the host."""

MAX_EXPR_DEPTH = 60
"""The maximum number of assignments in sequence that one expression follows."""

MAX_DECIDING_STEPS = 16
"""The maximum number of missed steps that are analyzed."""

MAX_NAMED_WAITS = 16
"""The maximum number of waits that are named for one transfer."""

MAX_SPACE_BRANCHES = 16
"""The maximum number of branches on state spaces that are examined."""

MAX_TRANSFER_EXECUTIONS = 20
"""The maximum number of executions of one instruction by one thread that a table of transfers contains."""

MAX_NAMED_SOURCES = 2
"""The maximum number of causes of an unknown size that are named."""

MAX_NAMED_FENCES = 8
"""The maximum number of proxy fences that are named for one transfer.

Unrolled code has one fence for each of many writes.
"""

MAX_INLINED_CALLS = 64
"""The maximum depth of nested inlined calls."""

MAX_FOLLOWED_REGISTERS = 200
"""The maximum number of registers that are followed to the conditions of one step."""

MAX_GLOBAL_ACCESSES = 20_000
"""The maximum number of accesses to global memory that are examined in one scenario."""

MAX_DEFINITION_CHAIN = 20
"""The maximum number of assignments in sequence through which one address is followed."""

MAX_OVERLAP_PAIRS = 64
"""The maximum number of pairs of accesses of threads that are examined for each pair of instructions."""

LONG_GRID = 128
"""The number of CTAs of a grid that is tried where two CTAs have too many rounds of a loop that all of them share."""

FEW_ROUNDS = 2
"""The number of rounds of a barrier of the grid that are tried where an execution would have too many otherwise."""

MAX_FLAG_CONFLICTS = 64
"""The maximum number of pairs of instructions that are tried as proof that a flag does not order its data."""

MAX_PENDING_COMMITS = 8
"""The number of later commits that are distinguished for one issue: a wait leaves at most seven groups pending."""

MAX_FUNCTION_STEPS = 400_000
"""The maximum number of steps that are examined in one function; later steps are not checked."""

MAX_DELETION_STEPS = 100_000
"""The maximum number of steps of all programs that are examined because one instruction of a kernel may be needless."""

MAX_ACCESS_BYTES = 1 << 18
"""An upper bound for the bytes of one access: the shared memory of a CTA is smaller. Sizes are numbers below 2**64."""

MAX_ALIGNMENT = 16
"""The largest alignment that copies require."""

MAX_TRIAL_STEPS = 400_000
"""The maximum number of steps in all trials of a kernel."""

MAX_BLOCK_STEPS = 200
"""The maximum number of steps in a block: the budget of an execution is checked between blocks."""

MAX_CHECKED_EXECUTIONS = 33
"""The maximum number of executions of an instruction whose bounds and ranks are checked: a warp that strides over 1024
elements leaves them with the last one.
"""

MAX_CHECKED_MASKS = 4
"""The maximum number of executions of an instruction whose member masks are checked. Later executions repeat them."""

MAX_TX_BYTES = (1 << 20) - 1
"""The maximum number of bytes that a phase of an mbarrier can expect."""

MAX_STORE_BYTES = 8
"""The size in bytes of the widest element that one instruction stores."""

MAX_STORE_CHECKS = 500_000
"""The maximum number of pairs of a load and a store that are compared in one CTA."""

MAX_HYPOTHESES = 8
"""The maximum number of hypotheses of each kind; each is simulated again with priority for each kind of actor."""

MAX_REUSE_EXECUTIONS = 12
"""The number of executions of one instruction that are counted: up to this number, a thread's accesses are complete."""

MAX_TMEM_EXECUTIONS = 6
"""The maximum number of executions of one instruction that are examined, since later iterations repeat."""

MAX_TMEM_PAIRS = 4
"""The maximum number of pairs of executions of two instructions, by threads of two paths, that are examined."""

MAX_COMPARISONS = 12
"""The maximum number of comparisons of one unknown that are kept. More are rare, and each costs time."""

MAX_CELL_BYTES = 16
"""The size in bytes of the largest element that an instruction stores."""

MAX_REGISTER_LAYERS = 8
"""The maximum number of groups that a lookup visits; a group that diverged more often copies all values."""

MAX_CLUSTER_CTAS = 1024
"""An upper bound for the CTAs in a cluster on any GPU."""

MAX_IDLE_SAMPLES = 3
"""The number of consecutive sizes that may reach no new code before sampling ends."""

MAX_VALUE_DEPTH = 100
"""The length of a chain of lane values above which they are not computed by recursion."""

MAX_ACCESS_INSTANCES = 8_000
"""The maximum number of accesses of each kind by threads that are examined for races."""

MAX_RACE_PAIR_CHECKS = 100_000
"""The maximum number of lookups among these accesses."""

MAX_MONOMIALS = 8
"""The maximum number of monomials of a polynomial: a larger sum is not readable."""

MAX_FACTORS = 4
"""The maximum number of factors of a monomial: a larger product is not readable."""

MAX_THREAD_REGISTERS = 256
"""The number of registers that `setmaxnreg` can give a thread."""

MAX_STEPS_PER_ISSUE = 4_000
"""The maximum number of steps that are searched for the fence of one issue."""

MAX_FENCE_STEPS = 300_000
"""The maximum number of steps that are searched for fences in one function."""

MAX_SIZES = 8
"""The maximum number of block sizes that are tried."""

MAX_AHEAD = 300
"""The maximum number of events that are examined for a position after a collective instruction."""

MAX_CONVERGENCE_BARRIERS = 50
"""The maximum number of convergence points of two groups."""

MAX_SIZE_CLASSES = 4
"""The maximum number of sizes that are tried because branches before unreached code decide in other ways for them."""

MAX_LARGE_SAMPLES = 2
"""The maximum number of sizes larger than the first samples that are tried.

They come from comparisons on the path to unreached code.
"""

MAX_MIXED_SAMPLES = 3
"""The maximum number of samples in which some integer parameters have another value than the others."""

MAX_SAMPLE = 1 << 16
"""The largest of these sizes."""

MAX_SPLIT_GUARDS = 4
"""The maximum number of guards by whose values an analysis of all paths is split into cases, one for each combination.
"""

MAX_CASE_STEPS = 400_000
"""The maximum number of steps of a function times the number of cases; longer functions have fewer cases."""

MAX_GUARD_DEPTH = 24
"""The maximum number of instructions that compute a guard one from the other; beyond it, its value is unknown."""

MAX_MBARRIER_ADDRESSES = 64
"""The maximum number of mbarriers that one operand may be; nothing is proven about more of them."""

MAX_FINITE_STATES = 32
"""The maximum number of numbers of a register that a loop carries; beyond it, its range is determined by widening."""

MAX_STATE_DEPTH = 48
"""The maximum number of instructions that compute such a register one from the other."""

MAX_SPLIT_LOOPS = 1
"""The maximum number of registers of other loops whose numbers are separate cases for a register."""

MAX_STATE_ROUNDS = 6
"""The maximum number of times that such a register is computed because others of which it depends changed."""

MAX_STATE_WORK = 100_000
"""The maximum number of instructions that are computed for all such registers of a function."""

MAX_VECTOR_DEPTH = 32
"""The maximum number of instructions that compute a register one from the other for all threads of a block at once."""

MAX_GROUP_WORK = 2_000_000
"""The maximum sum of the operations in flight over the steps that the analysis of a function's groups visits."""

MAX_RANGE_MEMBERS = 16
"""The maximum number of combinations of operands for which an operation on ranges is computed one by one."""

MAX_ALTERNATIVES = 6
"""The maximum number of bases of which a register may hold an address; beyond, its value is unknown."""

MAX_PRECISE_VISITS = 3
"""The number of changes of a register's value after which its bounds are widened to the next threshold."""

MAX_THRESHOLD_VISITS = 12
"""The number of changes after which its bounds are widened to the limits of its width."""

MAX_WIDENED_VISITS = 24
"""The number of changes of a register's value after which its value is unknown."""

MAX_VALUE_WORK = 400_000
"""The maximum number of evaluations of assignments in one function, after which no more values are computed."""

MAX_CONDITIONS = 8
"""The maximum number of branches before an instruction whose conditions restrict the values there."""

MAX_REFINED_DEPTH = 24
"""The maximum depth of the expressions that conditions restrict."""

MAX_CTA_STATES = 1500
"""The maximum number of positions with different values in which the threads of a CTA may be, for one kernel."""

MAX_CTA_STATE_VISITS = 20_000
"""The maximum number of these states for all approximations of one kernel together."""

MAX_MERGE_VALUES = 40
"""The maximum number of values of one register at one merge of the control flow; beyond, they are approximated."""

MAX_LOOP_SHIFT = 64
"""The largest difference, in iterations, of what two predicates in loops compare with the same limit."""

MAX_TRACKED_PREDICATES = 10
"""The maximum number of predicates that arguments decide whose values one schedule of the threads distinguishes."""

MAX_SCHEDULE_EVENTS = 600_000
"""The maximum number of events in all states of one schedule of the threads of a CTA."""

MAX_INTERVAL_PAIRS = 20_000
"""The maximum number of pairs of accesses between two barriers that are not proven to be ordered or apart."""

MAX_MATRIX_ROWS = 256
"""The most rows of A, and the most columns of B, of one matrix multiplication: a fact of the instruction set."""

MAX_INTERVAL_UNITS = 1_500_000
"""The maximum number of accesses of single threads to units of shared memory that are compared in one kernel."""

MAX_SOLVED_CHOICES = 512
"""The maximum number of choices of arguments for which the conditions of a path are evaluated at once."""

MAX_SOLVER_ROUNDS = 8
"""The maximum number of times that one argument is changed to satisfy more conditions of a path."""
