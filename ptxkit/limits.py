"""How large an input may be, and how much work is done for it.

Over a limit there is a diagnostic that names the limit; never a traceback, and never a silent cut.
"""

from __future__ import annotations

MAX_FILE_BYTES = 128 * 1024 * 1024
"""Bytes read of one file. The largest PTX files seen in the wild have 12 MB."""

MAX_SETTINGS_BYTES = 1024 * 1024
"""Bytes of a settings file, a baseline, or the description of a kept example."""

MAX_SETTINGS_DEPTH = 64
"""Parts that a key of a settings file may have."""

MAX_SYNTAX_ERRORS = 50
"""Syntax errors reported for one text; the parser stops there."""

MAX_COMMENTS_REPORTED = 50
"""Comments for ptxkit that are told to be idle, and those that cannot be read, of one text."""

MAX_NESTING = 200
"""How deep `{ ... }` blocks, vectors and parenthesised expressions may nest."""

MAX_CACHED_MATCHES = 50_000
"""Kinds of instructions that the validator remembers for one version and target, whatever modules they came from."""

MAX_STATEMENT_TOKENS = 200_000
"""Tokens of one statement. Tables of plain constants and lines of debugging data are read apart and have no limit."""

MAX_EMBEDDED_BYTES = 128 * 1024 * 1024
"""Bytes of one PTX text inside another file, unpacked."""

MAX_UNPACKED_BYTES = 8 * 1024 * 1024 * 1024
"""Bytes that the members of one archive unpack to, taken together; one member at a time is kept, on disk."""

MAX_UNPACKED_RATIO = 200
"""Bytes that one byte of an archive may unpack to. Libraries full of machine code reach 20."""

MAX_FIXES = 200
"""Mends that are applied to one text; each is tried by checking the whole text."""

MAX_FIX_ATTEMPTS = 32
"""Mends that are tried for one finding."""

MAX_FIX_WORK = 6_000_000
"""Characters that are checked and steps that are walked, all in all, to find the mends of one text: one or two minutes'
work."""

MIN_FIX_ATTEMPTS = 8
"""Mends that are tried of a text however long it is."""

MAX_CHECK_MEMORY = 4 * 1024 * 1024 * 1024
"""Bytes of address space of a process that checks texts beside others."""

MAX_RETAINED_MEMORY = 256 * 1024 * 1024
"""Bytes that such a process may have had and go on; with more, another takes its place before the next text."""

MAX_QUEUED_TEXT = 48 * 1024 * 1024
"""Characters of texts that are read ahead, or whose results wait for their turn."""

MAX_CACHED_RESULTS_BYTES = 256 * 1024 * 1024
"""Bytes of results kept from earlier runs, and MAX_KEPT_RESULTS how many there are; the longest unused go first."""

MAX_CACHED_RESULTS = 50_000

MAX_ARGUMENT_BYTES = 4 * 1024 * 1024 * 1024
"""Bytes of one argument that `run` and `verify` make as they are told. Tables and maps count as what they hold."""
