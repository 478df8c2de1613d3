"""How much text the parser takes in one piece, remembers and quotes."""

from __future__ import annotations

MAX_DIGITS = 100
"""Characters of a number: Python refuses very long ones; with leading zeros none of 64 bits is written longer."""

MAX_EXAMINED_TOKENS = 4096
"""Tokens of one statement that Lark parses again to find the one that it refuses."""

MAX_SHOWN_CHARS = 40
"""Characters of a token that a message quotes."""

MAX_ALTERNATIVES = 5
"""Alternatives that a message about a syntax error lists; a longer list helps no reader."""

MAX_RECIPES = 4096
"""Sequences of token types whose trees are remembered; real modules have some hundred."""

MAX_UNMATCHED_BRACES = 10_000
"""Braces without their partners; comments may have some."""

MAX_CACHED_TOKENS = 65536
"""Words whose types are remembered; with more, all are discarded."""

MAX_FAST_CHARS = 65536
"""Characters of a statement whose tokens are not counted while they are read: it cannot have too many."""

MAX_SYNTAX_ERRORS = 50
"""Syntax errors reported for one text; the parser stops there."""

MAX_NESTING = 200
"""How deep `{ ... }` blocks, vectors and parenthesised expressions may nest."""

MAX_STATEMENT_TOKENS = 200_000
"""Tokens of one statement. Tables of plain constants and lines of debugging data are read apart and have no limit."""
