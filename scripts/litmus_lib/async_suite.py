"""All litmus tests of asynchronous instructions, by name."""

from __future__ import annotations

from litmus_lib import async_families as families
from litmus_lib import async_handoffs as handoffs
from litmus_lib.async_words import SuiteTest

__all__ = ["SuiteTest", "suite"]

FAMILIES = (
    *(families.generic_to_async, families.async_to_generic, families.bulk_groups, families.reuse, families.copies),
    *(families.mbarriers, families.clusters, families.tensor_cores),
    *(handoffs.within_a_cta, handoffs.between_ctas, handoffs.spellings_of_waits, handoffs.phases, handoffs.overlaps),
    *(handoffs.counts, handoffs.values, handoffs.remote_operations),
)


def suite() -> dict[str, SuiteTest]:
    """Returns all tests by name."""
    found: dict[str, SuiteTest] = {}
    for family in FAMILIES:
        for test in family():
            assert test.name not in found, test.name
            found[test.name] = test
    return found
