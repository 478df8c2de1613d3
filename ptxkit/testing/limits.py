"""The time limits of tests and campaigns, and the size limits of their examples."""

from __future__ import annotations

MAX_MESSAGE_CHARS = 4000
"""The characters of an oracle's message that are kept, because it may contain the whole text."""

MAX_FORM_CHARS = 90
"""The characters of a form in a line of the report."""

MAX_MUTATED_CHARS = 60_000
"""The characters of the largest file that is mutated, because thousands of mutants are assembled."""

MAX_REPEATED_LINES = 3000
"""The number of times that a mutation repeats a line."""

MAX_REPORT_WIDTH = 100
"""The characters of a failure's message in the report."""

HANG_SECONDS = 20.0
"""The default limit in seconds of processor time for one example; the GPU's time is not counted."""

MINIMIZE_SECONDS = 20.0
"""The seconds in which a failing example is minimized."""

FUZZER_START_SECONDS = 120.0
"""The seconds until a new process has started its first example, because it loads the instruction table."""

MAX_WORKER_MEMORY = 6 << 30
"""The bytes of address space of a process that runs examples; beyond it Python raises MemoryError."""

MAX_COMBINATIONS = 20_000
"""The number of modifier combinations of a form that are considered; forms of tensor cores have millions."""

MAX_VARIANTS_PER_FORM = 6
"""The number of variants of a form for each width; orders, scopes and cache hints make hundreds."""

MAX_BLOCK_DEPTH = 2
"""The nesting depth of branches and loops in a generated kernel; deeper code is rarely executed."""

MAX_RESULT_REGISTERS = 24
"""The number of registers that a generated kernel writes at its end."""

MAX_SEEDS = 60
"""The number of seeds that are tried for different runs of a kernel before they repeat."""

SOAK_EFFORT = 10.0
"""The factor of the limits of `verify` in a soak."""

SOAK_SECONDS = 600.0
"""The seconds for the runs of a kernel file, and for one run of another kernel."""

EMULATED_LAUNCH_SECONDS = 300.0
"""The seconds for one launch on the reference machine."""

MAX_LAUNCH_CASES = 12
"""The default number of launches of one kernel that are compared with a GPU."""

MAX_WHOLE_NUMBER = 3
"""The largest input of products whose sums must be exact in any order."""

MAX_ORIGIN_STEPS = 200
"""The number of instructions through which the origin of a register's value is traced."""

MAX_LOOP_STEPS = 12
"""The number of instructions of a wait loop that is mutated."""

MAX_REGION_STEPS = 60
"""The number of instructions that a mutated branch may skip."""

MAX_TEXTS_PER_PROCESS = 2000
"""The number of files for one ptxas process; their names must fit a command line."""

PTXAS_TIMEOUT_SECONDS = 120
"""The seconds for one ptxas process; some inputs make it hang."""

MAX_TEST_NAME_CHARS = 80
"""The characters of a test's name in a file name; file systems allow 255 bytes."""

MAX_BREAKING_ATTEMPTS = 6
"""The number of changes to an instruction that may leave it legal before an additional operand is added."""

MAX_HOSTILE_CHARS = 8000
"""The characters of the largest text that is changed to a hostile one."""

MAX_SOAK_WORDS = 50_000
"""The words of the largest case of a builder's kernel that is run many times."""

MAX_SOAK_CTAS = 12
"""The CTAs of the largest such case."""

MAX_SOAK_CASES = 3
"""The number of cases of a kernel that take turns."""

MAX_REWRITTEN_BLOCK_THREADS = 1024
"""The threads of the largest CTA, for which a rewrite provides shared memory where the kernel states no size."""

MAX_REWRITTEN_SHARED_BYTES = 48 << 10
"""The bytes of static shared memory that a rewritten kernel may have, which every target provides."""

MAX_PREDICATED_STEPS = 6
"""The number of instructions after a branch that are predicated instead."""

MAX_COPIED_STATEMENTS = 80
"""The number of statements of a loop whose body is copied."""

MAX_OUTLINED_STEPS = 3
"""The number of instructions that are moved to a function."""

MAX_WRAPPED_STATEMENTS = 5
"""The number of instructions that are put into a block."""

MAX_REWRITE_PLACES = 4
"""The number of places of a kernel to which a rewrite is applied at once."""

SANITIZER_START_SECONDS = 40.0
"""The seconds until compute-sanitizer has started a process and its kernel, and for what remains after its launches.

Where several start at the same time, each needs more than ten.
"""

REPEATED_HANGS = 4
"""The launches of a mutant that hung, one of which must fail again."""

STRESS_BATCH = 16
"""The plain runs of a mutant after which the time is checked."""
