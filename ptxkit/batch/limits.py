"""How many texts, and how much memory and time for them, are in use at once."""

from __future__ import annotations

import sys

MAX_LOCAL_PROCESSES = 1024
"""Processes of `--cluster local:N`: more than any machine can use."""

JOBS_AHEAD_PER_THREAD = 32
"""Texts for each thread of the cluster that are sent together: only the last of them wait for others."""

MAX_IN_PROCESS_CHARS = 32 * 1024
"""Characters of texts that are checked before processes are started: that takes as long as a process needs to start."""

JOBS_AHEAD_PER_PROCESS = 16
"""Texts for each process that are read, or have their results and wait for those of earlier ones: memory is bounded."""

MAX_OVERTAKEN = 16
"""Later texts that may be checked before one: results are shown in the order of the inputs."""

WALL_TIME_FACTOR = 20 if sys.platform != "win32" else 1
"""How many times its processor time a text may take of the process's own time, which passes while it sleeps too. On
Windows, which does not limit processor time, nothing else ends a check."""

MAX_CHECK_MEMORY = 4 * 1024 * 1024 * 1024
"""Bytes of address space of a process that checks texts in parallel with others."""

MAX_RETAINED_MEMORY = 256 * 1024 * 1024
"""Bytes that such a process may have had and continue; with more, another replaces it before the next text."""

MAX_QUEUED_TEXT = 48 * 1024 * 1024
"""Characters of texts that are read ahead, or whose results wait for their turn."""

MAX_CACHED_RESULTS_BYTES = 256 * 1024 * 1024
"""Bytes of the results of earlier runs on disk, and MAX_CACHED_RESULTS how many there are; the longest unused are
removed first."""

MAX_CACHED_RESULTS = 50_000
"""Results of earlier runs on disk."""
