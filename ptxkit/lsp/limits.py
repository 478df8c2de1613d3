"""How long the server waits and computes, and how much it sends: an editor needs a quick answer."""

from __future__ import annotations

DEBOUNCE_SECONDS = 0.12
"""Seconds without a change after which a text is checked: a check after each character would be outdated at once."""

MAX_DEBOUNCE_SECONDS = 1.0
"""Seconds of continuous changes after which a text is checked all the same, as far as that takes no time."""

WORKER_PROCESSES = 2
"""Processes that check: a long check of one text does not delay that of another."""

MAX_COMPLETION_ITEMS = 500
"""Items of one completion; editors show a few dozen."""

MAX_NUMBERED_REGISTERS = 64
"""Registers of one declaration such as `%r<9999>` that are offered by name."""

MAX_STATEMENT_LINES = 8
"""Lines that a statement may have before the one that is being written."""

MAX_HOVER_CHARS = 600
"""Characters of a declaration that are shown: a table of constants has thousands."""

MAX_SHOWN_FORMS = 6
"""Forms that are shown of an instruction that fits none."""

REQUEST_TIMEOUT_SECONDS = 10.0
"""Seconds for which a request waits for the analysis; the answer is then what is known."""

MAX_FIXED_FINDINGS = 10
"""Findings of one selection whose fixes are looked for: each may cost a check of the text."""

SERVER_THREADS = 2
"""Threads for short work: while one reads a large text, another answers for a small one."""

MAX_PARSE_ATTEMPTS = 12
"""Times that lines with errors are removed before a text counts as unreadable."""

MAX_PARSE_SECONDS = 2.0
"""Processor time for all of these attempts; a text that takes longer is not one that is being written."""

MAX_JOB_SECONDS = 300.0
"""Seconds of a process's own time for one job; the analysis bounds itself, so that none should come near."""
