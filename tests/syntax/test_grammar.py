"""Lark's result for the shapes of which modules consist is compiled; for others Lark is called."""

from __future__ import annotations

import subprocess
import sys
from random import Random

import pytest

from ptxkit import PTXSyntaxError
from ptxkit.installation import grammar_files
from ptxkit.syntax import parse
from ptxkit.syntax.errors import UnexpectedTokenError
from ptxkit.syntax.grammar import Grammar, compile_grammar, grammar
from ptxkit.syntax.lark_tables import lark_parser, terminals
from tests.syntax.support import CORPUS, HEADING, ROOT, plainly

HEADERS = [
    ".visible .entry k(.param .u64 .ptr .global .align 1 a, .param .align 8 .b8 b[12], .param .u32 c)",
    ".entry k\n(\n\t.param .u64 a // first, second\n,\n\t.param .f32 b /* b */\n)\n.maxntid 1, 1, 1\n.minnctapersm 2",
    ".entry k ()",
    ".entry k",
    ".weak .func (.reg .b32 r) f (.reg .b32 a, .reg .b64 b) .noreturn",
    ".func .attribute(.unified(1, 2)) (.param .align 16 .b8 r[16]) f (.param .b32 a)",
    ".visible .entry .attribute(.unified(0x1, 0x2)) k(.param .u64 a) .reqntid 32 .maxnreg 64",
    '.entry k(.param .u64 a) .pragma "a(b), c"; .explicitcluster .reqnctapercluster 2, 1, 1',
    ".entry k(.param .v4 .f32 a, .param .b8 s[]) .maxnreg 32 .explicitcluster",
]  # fmt: skip

_SCRAPS = [
    ",", "(", ")", ".", " ", "\n", ".param", ".b32", "a", "1", "[", "]", "//", "/*", "*/", '"', ";", ".maxntid", ".u64",
    "{", "}", "=", "_", ".noreturn", "@", "x.y", ".reg", "-", "\0",
]  # fmt: skip


def damage_text(text: str, random: Random) -> str:
    for _ in range(random.choice((1, 1, 2, 3))):
        place = random.randrange(len(text) + 1)
        if random.randrange(2):
            text = text[:place] + random.choice(_SCRAPS) + text[place:]
        else:
            text = text[:place] + text[place + random.choice((1, 2, 5)) :]
    return text


def agree(text: str) -> bool:
    """Returns whether the text is PTX, on which the parser and Lark must agree, and on its tree."""
    try:
        fast = parse(text)
    except PTXSyntaxError:
        fast = None
    assert fast == plainly(text), text
    return fast is not None


@pytest.mark.parametrize("header", HEADERS)
def test_a_header_read_part_by_part_is_the_one_that_lark_reads(header: str) -> None:
    assert agree(f"{HEADING}{header}\n{{\nret;\n}}\n")
    declared = header.replace(".entry", ".func")
    if '"' not in declared and "(unified" not in declared:
        agree(f"{HEADING}.extern {declared};\n")


@pytest.mark.parametrize(
    "place", ["k\0", "k (.param .b32 a\0)", "k (.param .b32 a\0, .param .b32 b)", "k () .noreturn\0"]
)
def test_a_nul_ends_the_whole_text_and_no_part_of_it(place: str) -> None:
    assert not agree(f"{HEADING}.entry {place}\n{{\nret;\n}}\n")
    assert agree(f"{HEADING}.entry {place}\n{{\nret;\n}}\n".replace("\0", "") + "\0")


@pytest.mark.parametrize("seed", range(4))
def test_damaged_headers_are_accepted_as_lark_accepts_them(seed: int) -> None:
    random = Random(seed)
    texts = [damage_text(random.choice(HEADERS), random) for _ in range(120)]
    accepted = [agree(f"{HEADING}{text}\n{{\nret;\n}}\n") or agree(f"{HEADING}{text};\n") for text in texts]
    assert True in accepted
    assert False in accepted


def test_every_shape_is_a_sentence_of_the_grammar() -> None:
    known, plans = compile_grammar()
    assert len(plans) > 300
    assert "statement" in {start for start, _ in plans}
    assert known[0] == grammar().terminals.names


def test_a_shape_that_is_not_a_sentence_is_rejected() -> None:
    with pytest.raises(UnexpectedTokenError):
        Grammar(terminals()).plan("add.s32 %r1 %r2;", "statement")
    assert Grammar(terminals()).plan("add.s32 %r1, %r2;", "statement")


def test_larks_tables_are_the_same_from_the_cache() -> None:
    parser = lark_parser()
    tree = parser.parse("mov.b32 %r1, 1;", start="statement")
    assert tree.data == "instruction"
    assert tree.meta.end_pos == 15


def loaded_by(code: str) -> set[str]:
    script = f"{code}\nimport sys\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(done.stdout.split())


@pytest.mark.parametrize("name", ["nvcc/misc.sm_90a.ptx", "tilelang/attn.sm_90a.ptx", "triton/attn_ptr.sm_90a.ptx"])
def test_a_module_that_a_compiler_wrote_is_parsed_without_loading_lark(name: str) -> None:
    path = CORPUS / "compilers" / name
    grammar()  # compiles it, where that was not done before
    loaded = loaded_by(f"from ptxkit.syntax import parse; parse(open({str(path)!r}).read())")
    assert loaded.isdisjoint({"lark", "dataclasses", "inspect", "pathlib", "click", "rich"})


def test_an_unknown_shape_is_learned_from_lark() -> None:
    text = f"{HEADING}.global .u32 a = (1 + 2) * 3 ? 4 : 5;"
    assert "lark" in loaded_by(f"from ptxkit.syntax import parse; parse({text!r})")


def test_the_file_of_shapes_contains_no_duplicates() -> None:
    (path,) = grammar_files("shapes.txt")
    with open(path, encoding="utf-8") as file:
        lines = [line for line in file if not line.startswith("#")]
    assert len(set(lines)) == len(lines)
