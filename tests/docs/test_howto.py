"""The how-to guides agree with the code where no code block shows it."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from types import ModuleType
from typing import Any
from unittest import SkipTest

import pytest
from hypothesis import Phase, settings

import ptxkit
from ptxkit.rules import RULES
from ptxkit.rules.docs_index import all_pages
from tests.cli.support import shell
from tests.docs.markdown_blocks import ROOT, blocks_of

COMPILER_TESTS = ROOT / "docs" / "howto" / "compiler-tests.md"
TRANSFERS = ROOT / "docs" / "howto" / "transfers-and-view.md"

DOUBLE = """.version 8.0
.target sm_80
.address_size 64
.visible .entry double(.param .u64 data) {
.reg .b64 %d<3>; .reg .b32 %r<3>;
ld.param.u64 %d0, [data]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4; add.u64 %d2, %d0, %d1;
ld.global.f32 %r1, [%d2]; add.rn.f32 %r2, %r1, %r1; st.global.f32 [%d2], %r2;
ret;
}
"""


def test_every_code_that_is_used_has_a_page() -> None:
    sources = [path.read_text("utf-8") for path in (ROOT / "ptxkit").rglob("*.py")]
    used = {code for text in sources for code in re.findall(r'"(PTX\d{3})"', text)}
    assert {rule.code for rule in RULES} <= used
    assert used == {page.code for page in all_pages()}


def test_every_rule_belongs_to_a_concept() -> None:
    concepts = "".join(path.read_text("utf-8") for path in (ROOT / "docs" / "concepts").glob("*.md"))
    asynchronous = {rule.code for rule in RULES if re.match("PTX[34567]", rule.code)}
    assert len(asynchronous) > 30
    assert {code for code in asynchronous if code not in concepts} == set()


def test_the_documented_keys_of_a_transfer_are_those_that_are_printed() -> None:
    [schema] = [block.text for block in blocks_of(TRANSFERS) if block.text.startswith('{"line"')]
    path = ROOT / "corpus/compilers/nvcc/memcpy_async.sm_80.ptx"
    document = json.loads(shell("transfers", "--format", "json", path).stdout)
    [kernel] = [each for each in document["files"][0]["kernels"] if each["name"] == "tested"]
    row = next(row for row in kernel["transfers"] if row["waits"])
    for part in (row, row["completion"], row["waits"][0], row["choice"]):
        assert [key for key in part if f'"{key}"' not in schema] == []
    page = TRANSFERS.read_text("utf-8")
    assert [key for key in (*document, *document["files"][0], *kernel) if f"{key}" not in page] == []


def shown_tests(file: str, **compiler: Callable[..., str]) -> dict[str, Any]:
    """The tests that the page shows, with a user's compiler."""
    [shown] = [block.text for block in blocks_of(COMPILER_TESTS) if block.options.get("title") == file]
    module = ModuleType("my_compiler")
    vars(module).update(compiler)
    namespace: dict[str, Any] = {}
    settings.register_profile("few", max_examples=50, phases=[Phase.generate], derandomize=True, database=None)
    settings.load_profile("few")
    sys.modules[module.__name__] = module  # `patch.dict` would also remove what is imported here for the first time
    try:
        exec(shown, namespace)
    finally:
        del sys.modules[module.__name__]
    settings.load_profile("suite")
    return namespace


def test_the_documented_test_of_an_optimizer_accepts_a_correct_one_and_rejects_a_wrong_one() -> None:
    name = "test_my_optimizer_changes_no_result"
    shown_tests("test_my_compiler.py", optimize=lambda text: str(ptxkit.parse(text)))[name]()
    change = ", 1, 0, %pred", ", 0, 1, %pred"
    wrong = shown_tests("test_my_compiler.py", optimize=lambda text: text.replace(*change))[name]
    with pytest.raises(AssertionError, match="bytes differ"):
        wrong()


def test_the_documented_test_of_a_generator_passes_or_is_skipped() -> None:
    shown = shown_tests("test_my_generator.py", generate=lambda: DOUBLE)["test_my_generator_on_edges_of_f32"]
    with suppress(SkipTest):
        shown()
