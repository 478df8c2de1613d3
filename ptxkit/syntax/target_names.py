"""The names in a list of branch or call targets.

`L<3>` in such a list represents `L0, L1, L2`, as it does in a declaration of registers. The manual names such prefixes
for variables only; ptxas accepts them in lists, too. Source: PTX ISA, "Parameterized Variable Names".
"""

from __future__ import annotations

from collections.abc import Iterator


def target_names(word: str) -> Iterator[str]:
    """Yields the names that one word of a `.branchtargets` or `.calltargets` list represents, in order.

    These may be up to 2^32 - 1 names, so a caller stops at the first one that is not declared.
    """
    prefix, _, count = word.partition("<")
    return (f"{prefix}{number}" for number in range(int(count[:-1]))) if count else iter((word,))
