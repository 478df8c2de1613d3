"""What a register holds at a point, as far as its definitions tell."""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.lsp.names import Meaning, Names, Word


def value_words(names: Names, word: Word, meaning: Meaning) -> Iterator[str]:
    """The value of a register where a word names it, in words."""
    return iter(())
