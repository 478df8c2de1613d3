"""How large an input may be, and how much work is done for it.

Over a limit there is a diagnostic that names the limit; never a traceback, and never a silent cut.
"""

from __future__ import annotations

MAX_FILE_BYTES = 128 * 1024 * 1024
"""Bytes read of one file. The largest PTX files seen in the wild have 12 MB."""

MAX_SETTINGS_BYTES = 1024 * 1024
"""Bytes of a settings file, a baseline, or the description of a kept example."""

MAX_COMMENTS_REPORTED = 50
"""Comments for ptxkit of one text that are reported to have no effect, and those that cannot be read."""

MAX_ELF_SECTIONS = 1 << 20
"""Sections of one ELF file. Libraries of device code have tens of thousands."""

MAX_ELF_NAME_BYTES = 64 * 1024 * 1024
"""Bytes of all names that are read of one ELF file: its headers may all name one long text."""

MAX_COMPILED_COPIES = 4
"""Copies of one thing that is compiled from the installation's files: older ones may serve another checkout."""

MAX_STATEMENT_CHARS = 200
"""Characters of a statement that a baseline keeps and compares: enough to identify it."""

MAX_BASELINE_COUNT = 1 << 32
"""The count of one finding in a baseline; a larger number is not one that ptxkit wrote."""

MAX_ERROR_CHARS = 20
"""Characters of a baseline's version that an error message repeats: the file may contain anything."""

MAX_GROUP_LINES = 8
"""Lines that a finding of several places names; more would fill the terminal."""

MAX_UNCOLLECTED_OBJECTS = 500_000
"""Objects that analyses may leave before garbage is collected: less than a second's work, and some 100 MB."""

MAX_DRAWN_BLOCKS = 20_000
"""Basic blocks of one function that are drawn: the layout of more takes minutes."""

MAX_CTA_THREADS = 1024
"""Threads of a CTA on any GPU. Source: CUDA C++ Programming Guide, "Technical Specifications per Compute
Capability"."""

MAX_SHARED_BYTES = 227 * 1024
"""Bytes of shared memory of a CTA, on the GPUs that have the most. Source: there."""
