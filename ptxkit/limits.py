"""Limits of the size of an input, and of the work that is done for it.

If a limit is exceeded, a diagnostic names it; there is never a traceback or a silent truncation.
"""

from __future__ import annotations

MAX_FILE_BYTES = 128 * 1024 * 1024
"""The bytes read of one file. The largest known PTX files have 12 MB."""

MAX_SETTINGS_BYTES = 1024 * 1024
"""The bytes of a settings file, a baseline, or the description of a saved example."""

MAX_COMMENTS_REPORTED = 50
"""The number of ptxkit comments of one text that are reported as unused, and of those that are reported as invalid."""

MAX_ELF_SECTIONS = 1 << 20
"""The number of sections of one ELF file. Libraries of device code have tens of thousands."""

MAX_ELF_NAME_BYTES = 64 * 1024 * 1024
"""The total bytes of names that are read of one ELF file, because all headers may refer to one long text."""

MAX_COMPILED_COPIES = 4
"""The number of copies of one compiled file: older ones may serve another checkout."""

MAX_STATEMENT_CHARS = 200
"""The number of characters of a statement that a baseline stores and compares: enough to identify it."""

MAX_BASELINE_COUNT = 1 << 32
"""The largest count of one finding in a baseline; ptxkit writes no larger number."""

MAX_ERROR_CHARS = 20
"""The number of characters of a baseline's version that an error message repeats: the file may contain anything."""

MAX_GROUP_LINES = 8
"""The number of lines that a finding with several locations names; more would fill the terminal."""

MAX_UNCOLLECTED_OBJECTS = 500_000
"""The number of objects that analyses may leave before garbage is collected: less than a second's work, and about 100
MB.
"""

MAX_UNCOLLECTED_BYTES = 4 * 1024 * 1024
"""The bytes of memory of finished launches of the reference machine that may be freed later. Records about each byte
take up to fifty times as much.
"""

MAX_DRAWN_BLOCKS = 20_000
"""The number of basic blocks of one function that are drawn: the layout of more takes minutes."""

MAX_CTA_THREADS = 1024
"""The number of threads of a CTA on any GPU. Source: CUDA C++ Programming Guide, "Technical Specifications per Compute
Capability".
"""

MAX_SHARED_BYTES = 227 * 1024
"""The bytes of shared memory of a CTA, on the GPUs that have the most. Source: CUDA C++ Programming Guide, "Technical
Specifications per Compute Capability".
"""
