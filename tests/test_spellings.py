"""Instructions in the notation of the languages that compile to PTX."""

from __future__ import annotations

import re
import tomllib

import pytest

from ptxkit.isa import table
from ptxkit.isa.forms import Match
from ptxkit.resources import grammar_path
from ptxkit.source import SourceLine
from ptxkit.spellings import spell, spellings, with_spellings
from ptxkit.syntax import parse
from ptxkit.syntax.tree import Declaration, Instruction
from ptxkit.user_code import source_languages

ENTRIES = tomllib.loads((grammar_path() / "isa" / "spellings.toml").read_text("utf-8"))["spelling"]
OPERANDS = {"n": "32", "threads": "64", "bar": "bar", "base": "%r1", "map": "%rd1", "to": "%r2", "from": "%rd2"}
LANGUAGES = {"cuda", "cutlass", "cute-dsl", "gluon"}


def parse_statement(statement: str) -> object:
    """Returns the first statement of a kernel."""
    module = parse(f".version 8.8\n.target sm_100a\n.address_size 64\n.entry k() {{\n{statement};\nret;\n}}\n")
    body = next(iter(module.functions())).body
    assert body is not None
    return body.statements[0]


def exists(code: str) -> bool:
    """Returns whether a text is an instruction, an attribute of a variable, or the beginning of an opcode."""
    if code.startswith("."):
        return isinstance(parse_statement(f".shared {code} .b8 data[64]"), Declaration)
    instruction = parse_statement(code)
    assert isinstance(instruction, Instruction)
    name, *words = code.split(".")
    return isinstance(table().match(instruction), Match) or any(
        set(words) <= set(re.findall(r"[\w:]+", form.syntax)) for form in table().forms(name)
    )


@pytest.mark.parametrize("entry", ENTRIES, ids=[entry["ptx"] for entry in ENTRIES])
def test_each_entry_exists_in_ptx(entry: dict[str, str]) -> None:
    code = entry["ptx"].format(**OPERANDS)
    assert exists(code)
    assert set(entry) > {"ptx"}
    assert set(entry) <= {"ptx", *LANGUAGES}
    for language in set(entry) - {"ptx"}:
        assert spell(f"{code};", (language,)) == entry[language].format(**OPERANDS)


def test_operands_are_translated() -> None:
    assert spell("cp.async.wait_group 3;", ("cuda",)) == "__pipeline_wait_prior(3)"
    assert spell("bar.sync 2, 64;", ("cuda", "cutlass")) == "cutlass::arch::NamedBarrier::sync(64, 2)"
    assert spell("bar.sync 2, 64;", ("cuda",)) is None
    assert spell("mov.u32 %r1, 2;", ("cuda",)) is None
    assert spell(".align 16", ("cuda",)) == "alignas(16)"
    assert spell("mbarrier.init", ("cuda", "cutlass")) == "cuda::ptx::mbarrier_init()"
    assert not exists("mbarrier.initialize")
    assert len(spellings()) == len(ENTRIES) > 20


def test_a_text_has_both_spellings() -> None:
    text = "add `bar.warp.sync -1;` before `%r1`"
    assert with_spellings(text, ("cuda",)) == "add `__syncwarp()` (`bar.warp.sync -1;`) before `%r1`"
    assert with_spellings(text, ()) == text


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (["k.cu"], ("cuda", "cutlass")),
        (["/lib/include/cute/arch/mma.hpp", "k.cu"], ("cutlass", "cuda")),
        (["/lib/python3/site-packages/triton/language/core.py", "k.py"], ("gluon",)),
        (["/lib/python3/site-packages/cutlass/cute/arch/mbar.py", "k.py"], ("cute-dsl",)),
    ],
)
def test_the_language_is_determined_by_the_files(files: list[str], expected: tuple[str, ...]) -> None:
    assert source_languages([SourceLine(file, 1) for file in files]) == expected
