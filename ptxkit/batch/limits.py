"""Limits of the texts that are in use at once, and of their memory and time."""

from __future__ import annotations

import sys

MAX_LOCAL_PROCESSES = 1024
"""The number of processes of `--cluster local:N`, more than any machine can use."""

JOBS_AHEAD_PER_THREAD = 32
"""The number of texts for each thread of the cluster that are sent together: only the last of them wait for others."""

MAX_IN_PROCESS_CHARS = 32 * 1024
"""The number of characters of texts that are checked before processes are started: checking them takes as long as
starting one.
"""

JOBS_AHEAD_PER_PROCESS = 16
"""The number of texts for each process that are read, or whose results wait for those of earlier texts: this limits
memory.
"""

MAX_OVERTAKEN = 16
"""The number of later texts that may be checked before an earlier one, because results are printed in order."""

WALL_TIME_FACTOR = 20 if sys.platform != "win32" else 1
"""The ratio of elapsed time to processor time at which a check is terminated.

Elapsed time includes sleep. On Windows, which does not limit processor time, this is the only limit.
"""

MAX_CHECK_MEMORY = 4 * 1024 * 1024 * 1024
"""The bytes of address space of a process that checks texts in parallel with others."""

MAX_RETAINED_MEMORY = 256 * 1024 * 1024
"""The bytes of memory after which such a process is replaced before the next text."""

MAX_QUEUED_TEXT = 48 * 1024 * 1024
"""The number of characters of texts that are read ahead, or whose results wait for those of earlier texts."""

MAX_CACHED_RESULTS_BYTES = 256 * 1024 * 1024
"""The bytes of cached results on disk, and MAX_CACHED_RESULTS their number; the least recently used are removed
first.
"""

MAX_CACHED_RESULTS = 50_000
"""The number of cached results on disk."""
