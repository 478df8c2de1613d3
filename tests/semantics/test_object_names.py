"""Names of variables in messages."""

from __future__ import annotations

import pytest

from ptxkit.semantics.limits import MAX_NAME_LENGTH
from ptxkit.semantics.object_names import quote_variable

LONG_KERNEL = "_ZZN8myengine12long_kernelsIfLi128ELi64EEvPKT_PS1_iiNS_6LayoutILi3EEEE4tile"


@pytest.mark.parametrize(
    ("name", "shown"),
    [("tile", "`tile`"), (LONG_KERNEL, f"`{LONG_KERNEL}`"), ("t" * (MAX_NAME_LENGTH + 1), None)],
)
def test_a_name_is_too_long_where_its_author_wrote_a_long_one(name: str, shown: str | None) -> None:
    assert quote_variable(name) == shown
    assert len(LONG_KERNEL) > MAX_NAME_LENGTH
