"""The limits of the enumeration of executions. Beyond each of them there is no verdict, but a message."""

from __future__ import annotations

MAX_LOOP_TURNS = 3
"""How often a thread may execute an operation of a loop. Turns that only read, and leave all as it was, don't count."""

MAX_EVENTS_OF_THREAD = 64
"""The events of one execution of one thread: more belong to no litmus test."""

MAX_LOCAL_STEPS = 10_000
"""The computations and branches of a thread between two events."""

MAX_TRACES = 20_000
"""The executions of one thread, for all values that its reads may return."""

MAX_COMBINATIONS = 2_000_000
"""The combinations of executions of single threads that are considered."""

MAX_CANDIDATES = 400_000
"""The candidate executions whose axioms are evaluated."""

MAX_RENDEZVOUS_STATES = 50_000
"""The states of barriers and mbarrier objects that are explored for one combination."""

MAX_THREADS = 16
"""The threads of a test."""

MAX_TEST_BYTES = 1 << 20
"""The length of the text of a test."""

MAX_LOCATIONS = 256
"""The memory locations of a test."""
