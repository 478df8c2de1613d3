"""The table of the catalogue in corpus/rules/README.md: all items that the pages of rules, and families of faults,
name."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from ptxkit.rules import RULES, Rule
from ptxkit.rules.code_docs import PAGES
from ptxkit.testing.mutation.campaign import OPERATORS

_TABLE = Path(__file__).resolve().parents[2] / "corpus" / "rules" / "README.md"
_ROW = re.compile(r"^\| ([A-Z]{2}\d+) \| .+ \| (.+) \|$", re.MULTILINE)
#: Item -> its code.
ITEMS = dict(_ROW.findall(_TABLE.read_text(encoding="utf-8")))


def is_named(rule: Rule) -> list[str]:
    """Returns the items that the page of a rule names."""
    page = sys.modules[rule.check.__module__].__doc__ or ""
    _, _, reported = page.partition("Catalogue:")
    return re.findall(r"\b[A-Z]{2}\d+\b", reported)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_the_table_has_the_items_of_each_page_with_its_code(rule: Rule) -> None:
    missing = [item for item in is_named(rule) if rule.code not in ITEMS.get(item, "")]
    assert not missing, f"add {rule.code} to the rows of {', '.join(missing)}"


def test_the_table_names_existing_codes() -> None:
    known = {rule.code for rule in RULES} | {page.code for page in PAGES}
    reported = {code for found in ITEMS.values() for code in re.findall(r"PTX\d+", found)}
    assert reported <= known


def test_each_family_of_faults_breaks_items_of_the_table() -> None:
    broken = {item for operator in OPERATORS for item in operator.rules} - {"race"}
    assert broken <= set(ITEMS)


def test_an_item_without_a_code_has_a_reason() -> None:
    assert all(re.search(r"PTX\d+|no rule: |no rule yet|no fault", found) for found in ITEMS.values())
