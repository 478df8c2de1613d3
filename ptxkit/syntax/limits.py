"""Limits of the texts that the parser processes, caches and quotes."""

from __future__ import annotations

MAX_DIGITS = 100
"""The number of characters of a number, because Python rejects very long ones; 64-bit numbers are not longer, even with
leading zeros.
"""

MAX_EXAMINED_TOKENS = 4096
"""The number of tokens of one statement that Lark parses again to find the one that it rejects."""

MAX_SHOWN_CHARS = 40
"""The number of characters of a token that a message quotes."""

MAX_ALTERNATIVES = 5
"""The number of alternatives that a message about a syntax error lists; a longer list helps no reader."""

MAX_RECIPES = 4096
"""The number of sequences of token types whose trees are cached; real modules have some hundred."""

MAX_UNMATCHED_BRACES = 10_000
"""The number of unmatched braces; comments may contain some."""

MAX_CACHED_FRAGMENTS = 4096
"""The number of parsed fragments of statements that edits of a tree insert which are kept."""

MAX_CACHED_TOKENS = 65536
"""The number of words whose types are cached; with more, all are discarded."""

MAX_FAST_CHARS = 65536
"""The number of characters of a statement whose tokens are not counted, because it cannot have too many."""

MAX_SYNTAX_ERRORS = 50
"""The number of syntax errors reported for one text, after which the parser stops."""

MAX_NESTING = 200
"""The nesting depth of `{ ... }` blocks, vectors and parenthesized expressions."""

MAX_STATEMENT_TOKENS = 200_000
"""The number of tokens of one statement. Tables of plain constants and lines of debugging data are parsed separately
and have no limit.
"""
