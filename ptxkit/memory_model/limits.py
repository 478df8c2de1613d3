"""The limits of the enumeration of executions. Beyond each of them there is no verdict, but a message."""

from __future__ import annotations

MAX_LOOP_TURNS = 3
"""How often a thread may execute an operation of a loop. Turns that only read, and leave all as it was, don't count."""

MAX_EVENTS_OF_THREAD = 64
"""The events of one execution of one thread: more belong to no litmus test."""

MAX_LOCAL_STEPS = 10_000
"""The computations and branches of a thread between two events."""

MAX_TRACE_STEPS = 40_000
"""The operations of all executions of single threads, for all values that their reads may return, in all rounds."""

MAX_COMBINATIONS = 60_000
"""The combinations of executions of single threads that are considered."""

MAX_CANDIDATES = 10_000
"""The candidate executions whose axioms are evaluated, and the combinations for which they are made."""

MAX_EVENT_PAIRS = 1_500_000
"""The pairs of events of which relations are computed, over all combinations with different events."""

MAX_RENDEZVOUS_STATES = 20_000
"""The states of barriers and mbarrier objects that are explored for one combination."""

MAX_THREADS = 16
"""The threads of a test."""

MAX_TEST_BYTES = 1 << 20
"""The length of the text of a test."""

MAX_LOCATIONS = 256
"""The memory locations of a test."""
