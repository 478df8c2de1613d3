"""Limits of pages and summaries; what exceeds them is counted."""

from __future__ import annotations

MAX_REASONS = 5
"""Reasons of undecided questions that the summary lists; the others are counted."""

MAX_RANKS_CROSSED = 5
"""Ranks that an edge crosses between blocks; a longer one is drawn along the right side."""

MAX_TRACE_FINDINGS = 20
"""Findings of a page of traces, each with a drawing."""

MAX_TRACE_LINES = 60
"""Lines of PTX next to a drawing."""

MAX_LISTED_QUESTIONS = 500
"""Undecided questions that a page lists: a browser must lay them out."""

MAX_STATEMENT_CHARS = 90
"""Characters of a statement in a list of findings."""

MAX_DRAWN_NODES = 2_500
"""Blocks of a graph that are drawn, chains counted as one: the layout of more takes minutes."""

MAX_DRAWN_LOOPS = 60
"""Loops of a function, up to which each has a separate drawing."""

MAX_FENCE_DISTANCE = 10
"""Rows between a fence and its bar up to which the fence is drawn at the bar."""

MAX_LOOP_BRACKETS = 4
"""Nested loops with brackets: each takes a column."""

MAX_LINE_CHARS = 2_000
"""Characters of a line of PTX that are shown."""

MAX_PROGRAM_FILES = 8
"""Files of the program that are shown next to the PTX."""

MAX_PROGRAM_LINES = 20_000
"""Lines of all these files."""

MAX_INLINE_FINDINGS = 1_000
"""Findings that are shown below their lines: a browser must lay them out."""

MAX_DRAWN_FUNCTIONS = 500
"""Functions whose graphs and transfers are drawn."""

MAX_FUNCTION_NAME_CHARS = 90
"""Characters of a function's name; the middle of a longer, mangled name is omitted."""

MAX_TITLE_CHARS = 400
"""Characters of a statement that a tooltip shows."""

MAX_LABEL_CHARS = 26
"""Characters of a label in a block of the graph."""

MAX_GUARD_CHARS = 16
"""Characters of a guard at an edge of the graph."""

MAX_ROWS = 3_000
"""Rows of one function that are drawn."""

MAX_LANES = 48
"""Bars that are drawn side by side."""
