"""Statements that commit groups and wait for them are found by their effects."""

from __future__ import annotations

import pytest

from ptxkit.analysis.sync.async_groups import GROUP_MECHANISMS
from ptxkit.isa.group_opcodes import commit_opcode, wait_opcode

OPCODES = {
    "cp.async": ("cp.async.commit_group", "cp.async.wait_group"),
    "bulk": ("cp.async.bulk.commit_group", "cp.async.bulk.wait_group"),
    "wgmma": ("wgmma.commit_group.sync.aligned", "wgmma.wait_group.sync.aligned"),
}


@pytest.mark.parametrize("group", GROUP_MECHANISMS)
def test_each_kind_of_group_has_a_commit_and_a_wait(group: str) -> None:
    name = "wgmma" if group == "wgmma" else "cp"
    assert (commit_opcode(name, group), wait_opcode(name, group)) == OPCODES[group]


def test_a_wait_for_all_is_not_a_wait_for_a_number() -> None:
    with pytest.raises(KeyError):
        wait_opcode("tcgen05", "tcgen05.ld")
