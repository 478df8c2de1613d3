"""How long tests and campaigns run, and how large their examples become."""

from __future__ import annotations

MAX_MESSAGE_CHARS = 4000
"""Characters that are kept of an oracle's message: it may repeat the whole text."""

MAX_FORM_CHARS = 90
"""Characters of a form in a line of the report."""

MAX_MUTATED_CHARS = 60_000
"""Characters of the largest file that is mutated: thousands of mutants are assembled."""

MAX_REPEATED_LINES = 3000
"""Times that a mutation repeats a line."""

MAX_REPORT_WIDTH = 100
"""Characters of a failure's message in the report."""

HANG_SECONDS = 20.0
"""Seconds of its process's own time for one example, where no option gives another; the GPU's time is not counted."""

MINIMIZE_SECONDS = 20.0
"""Seconds in which an example that fails is made smaller."""

FUZZER_START_SECONDS = 120.0
"""Seconds until a new process has started its first example: it loads the instruction table."""

MAX_WORKER_MEMORY = 6 << 30
"""Bytes of address space of a process that runs examples; over it Python raises MemoryError."""

MAX_COMBINATIONS = 20_000
"""Combinations of modifiers of a form that are considered; forms of tensor cores have millions."""

MAX_VARIANTS_PER_FORM = 6
"""Variants of a form for each width: orders, scopes and cache hints make hundreds."""

MAX_BLOCK_DEPTH = 2
"""Nesting of branches and loops in a generated kernel: deeper code is rarely executed."""

MAX_RESULT_REGISTERS = 24
"""Registers that a generated kernel writes at its end."""

MAX_SEEDS = 60
"""Seeds that are tried for different runs of a kernel before they repeat."""

SOAK_SECONDS = 600.0
"""Seconds for the runs of a kernel file, and for one run of another kernel."""

EMULATED_LAUNCH_SECONDS = 300.0
"""Seconds for one launch on the reference machine."""

MAX_LAUNCH_CASES = 12
"""Launches of one kernel that are compared with a GPU, where no other number is given."""

MAX_WHOLE_NUMBER = 3
"""The largest input of products whose sums have to be exact in any order."""

MAX_ORIGIN_STEPS = 200
"""Instructions that are followed to where a register's value comes from."""

MAX_LOOP_STEPS = 12
"""Instructions of the loop around a wait that is mutated."""

MAX_REGION_STEPS = 60
"""Instructions that a branch skips, if it is mutated."""

DEVICE_START_SECONDS = 120.0
"""Seconds until a new process has opened the GPU."""

MAX_TEXTS_PER_PROCESS = 2000
"""Files of one ptxas: their names must fit a command line."""

PTXAS_TIMEOUT_SECONDS = 120
"""Seconds for one ptxas; some inputs make it hang."""

MAX_TEST_NAME_CHARS = 80
"""Characters of a test's name in the name of a file; file systems allow 255 bytes."""

MAX_BREAKING_ATTEMPTS = 6
"""Changes of an instruction that may leave it legal before it gets an operand too many."""

MAX_HOSTILE_CHARS = 8000
"""Characters of the largest text that becomes as no compiler writes it."""

MAX_SOAK_WORDS = 50_000
"""Words of the largest case of a builder's kernel that is run many times."""

MAX_SOAK_CTAS = 12
"""CTAs of the largest such case."""

MAX_SOAK_CASES = 3
"""Cases of a kernel that take turns."""
