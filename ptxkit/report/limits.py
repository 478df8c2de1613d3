"""How much a page or a summary shows; the rest is counted."""

from __future__ import annotations

MAX_REASONS = 5
"""Reasons of open questions that the summary names; the rest are counted."""

MAX_RANKS_CROSSED = 5
"""Ranks that an edge crosses between blocks; a longer one is drawn along the right side."""

MAX_TRACE_FINDINGS = 20
"""Findings of a page of traces, each with a picture."""

MAX_TRACE_LINES = 60
"""Lines of PTX next to a picture: it is drawn for those that matter."""

MAX_LISTED_QUESTIONS = 500
"""Open questions that a page lists: a browser has to lay them out."""

MAX_STATEMENT_CHARS = 90
"""Characters of a statement in a list of findings."""

MAX_DRAWN_NODES = 2_500
"""Blocks of a graph that are drawn, chains counted as one: the layout of more takes minutes."""

MAX_FENCE_DISTANCE = 10
"""Rows between a fence and the bar that it is for, if it is drawn at the bar."""

MAX_LOOP_BRACKETS = 4
"""Nested loops that are bracketed: each takes a column."""

MAX_LINE_CHARS = 2_000
"""Characters of a line of PTX that are shown."""

MAX_INLINE_FINDINGS = 1_000
"""Findings that are shown below their lines: a browser has to lay them out."""

MAX_DRAWN_FUNCTIONS = 500
"""Functions whose graphs and transfers are drawn."""

MAX_FUNCTION_NAME_CHARS = 90
"""Characters of a function's name; the middle of a longer, mangled one is left out."""

MAX_STATEMENT_CHARS = 90
"""Characters of a statement in a list of findings."""

MAX_TITLE_CHARS = 400
"""Characters of a statement that a tooltip shows."""

MAX_LABEL_CHARS = 26
"""Characters of a label in a block of the graph."""

MAX_GUARD_CHARS = 16
"""Characters of a guard at an edge of the graph."""

MAX_ROWS = 3_000
"""Rows of one function that are drawn."""

MAX_LANES = 48
"""Bars side by side that are drawn."""
