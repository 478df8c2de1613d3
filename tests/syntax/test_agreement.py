"""The two requirements on the fast parser: it builds Lark's trees, and it seldom calls Lark."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from ptxkit import PTXSyntaxError
from ptxkit.syntax import parse
from ptxkit.syntax.grammar import grammar
from ptxkit.syntax.lark_tables import lark_parser
from tests.syntax.support import HEADING, all_starts, corpus_files, each_corpus_file, kernel, plainly, text_of

_SCRAPS = [
    ".", ",", ";", "{", "}", "[", "]", "(", ")", "@", "%", "!", '"', "/", "*", "//", "/*", "*/", "\n", " ", "+", "-",
    "|", "=", "?", ":", "::", "0", "19", "x", "U", ".b32", "%r1", "foo", ".reg", ".loc", "ret", ".section", ".entry",
    "0f", "1.", "<", ">", "\0", "_", "$", "&&", "é", ".pragma", ".version", ".target", "\\", "[-", "WARP_SZ",
]  # fmt: skip

EVERYTHING = f"""{HEADING}.file 1 "a b.cu", 123, 4
.extern .shared .align 16 .b8 sm[];
.global .align 4 .b32 g[2][2] = {{{{1, -2}}, {{0x3U, 4}}}};
.global .u64 p[] = {{generic(g), g+4, 0xFF00(generic(g)+4)}};
.const .f32 f = 1.5e-3; .global .samplerref s = {{filter_mode = nearest}};
.extern .func (.param .b32 r) vp (.param .b64 a, .param .b64 b);
.alias x, y;
.visible .entry k(.param .u64 .ptr .global .align 1 a, // first
 .param .align 8 .b8 b[12])
.maxntid 128, 1, 1 .noreturn
{{
	.reg .pred %p<3>; .reg .b32 %r<5>, t; .reg .v2 .u32 v;
	.loc 1 2 3, function_name $L1+4, inlined_at 1 2 3
$L1: L2:
	@!%p1 bra $L2; /* between */ add.s32 %r1, %r2, -1; // behind
	{{ .reg .b32 z; mov.b64 {{%r1, _}}, %rd3; {{ ret; }} }}
	ld.global.v4.f32 {{%f1,%f2,%f3,%f4}}, [%rd1+-16]; tex.2d.v4.f32.f32 {{a,b,c,d}}, [tx, sp, {{%f1, %f2}}];
	setp.lt.and.u32 %p1|%p2, %r1, 0x1f, !%p0;
	call (r), vp, (a, b); mov.u32 %r1, (3+4)*2 ? 1 : 0; mov.f32 %f1, 0f3F800000;
	.pragma "nounroll"; T: .branchtargets $L1, L2; P: .callprototype (.param .b32 _) _ (.param .b32 _) .noreturn;
	tcgen05.ld.sync.x2.b32{{%r1,%r2}},[%r58];
	add .s32 %r1, %tid .x, WARP_SZ; ld.b32 q, arr[4]; ld.b32 q, [-(16)*2]; ld.b32 q, [a+4-1<<2]; ld.b32 q, [WARP_SZ|1];
	\\ret; @!%p1 \\/* skipped */ ret; ld.b32 q, [16+4]; ld.b32 q, [-8]; ld.b32 q, [ WARP_SZ +2]; ld.b32 q, [a+1?2:3];
}}
	.section .debug_info {{ .b8 1, 2 // two
 L:
	.b32 a-b
	.b32 .debug_abbrev+4
	}}
"""


@each_corpus_file
def test_the_fast_parser_builds_the_trees_and_positions_of_lark(path: Path) -> None:
    text = text_of(path)
    fast, plain = parse(text), plainly(text)
    assert plain is not None
    assert fast == plain
    assert all_starts(fast) == all_starts(plain)


def test_the_fast_parser_builds_larks_tree_of_all_syntax_in_one_module() -> None:
    fast, plain = parse(EVERYTHING), plainly(EVERYTHING)
    assert plain is not None
    assert fast == plain
    assert all_starts(fast) == all_starts(plain)


def _damage(text: str, random: Random) -> str:
    for _ in range(random.choice((1, 1, 2, 3))):
        place = random.randrange(len(text))
        match random.randrange(4):
            case 0:
                text = text[:place] + text[place + random.choice((1, 2, 5, 20)) :]
            case 1:
                text = text[:place] + random.choice(_SCRAPS) + text[place:]
            case 2:
                text = text[:place] + random.choice(_SCRAPS) + text[place + 1 :]
            case _:
                other = random.randrange(len(text))
                text = text[:place] + text[other : other + random.choice((3, 10, 30))] + text[place:]
    return text


@pytest.mark.parametrize("seed", range(8))
def test_the_fast_parser_accepts_the_same_damaged_texts_as_lark(seed: int) -> None:
    random = Random(seed)
    accepted = 0
    for _ in range(60):
        text = _damage(EVERYTHING, random)
        plain = plainly(text)
        try:
            fast = parse(text)
        except PTXSyntaxError:
            fast = None
        assert fast == plain, text
        if fast is not None and plain is not None:
            assert all_starts(fast) == all_starts(plain), text
            accepted += 1
    assert accepted > 0, "all texts were refused: the damage is too great to test anything"


def test_lark_parses_each_kind_of_statement_once_and_not_each_statement() -> None:
    body = "\n".join(f"add.s32 %r{n}, %r{n + 1}, {n};\nld.global.b32 %r{n}, [%rd{n}+{4 * n}];" for n in range(2000))
    before = grammar().calls
    parse(kernel(body))
    assert grammar().calls - before <= 8, "heading, header, and nothing for each of 4,000 instructions"


def test_the_whole_corpus_takes_few_calls_of_lark() -> None:
    texts = [text_of(path) for path in corpus_files()]
    before = grammar().calls
    for text in texts:
        parse(text)
    calls = grammar().calls - before
    kilobytes = sum(map(len, texts)) / 1000
    assert calls <= 0.5 * kilobytes, f"{calls} calls for {kilobytes:.0f} kB: the parser no longer takes a shortcut"
    before = grammar().calls
    for text in texts:
        parse(text)
    assert grammar().calls - before <= 20, "shapes learned from the corpus are not reused"


@pytest.mark.parametrize("path", corpus_files()[::9], ids=lambda path: path.name)
def test_the_tokenizer_splits_text_as_larks_lexer_does(path: Path) -> None:
    text = text_of(path)[:30_000].rpartition("\n")[0]
    own, reached = grammar().tokenizer.scan(text)
    names = grammar().tokenizer.names
    larks = [(token.type, str(token), token.start_pos) for token in lark_parser().lex(text)]
    assert reached == len(text)
    assert [(names[kind], word, place) for kind, word, place in own] == larks
    known = grammar().tokenizer.tokenize_fast(text)
    assert known is not None
    assert known[0] == [word for _, word, _ in larks]
    assert [names[kind] for kind in known[1]] == [kind for kind, _, _ in larks]
