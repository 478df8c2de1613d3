"""Limits of the server's delays, computations and responses, because an editor needs quick responses."""

from __future__ import annotations

DEBOUNCE_SECONDS = 0.12
"""The seconds without a change after which a text is checked, because a check after each character would be outdated at
once.
"""

MAX_DEBOUNCE_SECONDS = 1.0
"""The seconds of continuous changes after which a text is checked nevertheless, as far as this takes no time."""

WORKER_PROCESSES = 2
"""The number of processes that check, so that a long check of one text does not delay that of another."""

MAX_COMPLETION_ITEMS = 500
"""The number of items of one completion; editors show a few dozen."""

MAX_FOLDING_RANGES = 5000
"""The number of folding ranges of one text; editors do not use more."""

MAX_SEMANTIC_TOKENS = 100_000
"""The number of classified words of one response. Editors ask for the visible lines of a larger text."""

MAX_INLAY_HINTS = 500
"""The number of inlay hints of one response; a screen shows a hundred lines."""

MAX_HINT_CHARS = 40
"""The number of characters of the value in an inlay hint, which is shown inside a line of the text."""

MAX_HINT_SECONDS = 0.5
"""The processor time in seconds after which no further inlay hint of a range is computed."""

MAX_NUMBERED_REGISTERS = 64
"""The number of registers of one declaration such as `%r<9999>` that are offered by name."""

MAX_STATEMENT_LINES = 8
"""The number of lines of a statement before the line that is being edited."""

MAX_HOVER_CHARS = 600
"""The number of characters of a declaration that are shown; a table of constants has thousands."""

MAX_SIGNATURES = 20
"""The number of forms of an opcode in one signature help; editors show one at a time."""

MAX_WORD_CHARS = 200
"""The number of characters before the cursor in which the beginning of a word is searched."""

MAX_SHOWN_FORMS = 6
"""The number of forms that are shown for an instruction that fits none."""

REQUEST_TIMEOUT_SECONDS = 10.0
"""The seconds for which a request waits for the analysis, after which the response contains what is known."""

MAX_FIXED_FINDINGS = 10
"""The number of findings of one selection whose fixes are computed, because each may need a check of the text."""

SERVER_THREADS = 2
"""The number of threads for short work: while one parses a large text, another serves a small one."""

MAX_PARSE_ATTEMPTS = 12
"""The number of times that lines with errors are removed before a text counts as unparsable."""

MAX_PARSE_SECONDS = 2.0
"""The processor time in seconds for all of these attempts."""

MAX_JOB_SECONDS = 300.0
"""The seconds of processor time for one job. The analysis is bounded itself, so no job should come near this limit."""
