"""The pages of the reference: their code blocks run, and they describe the output of the commands."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from docs_lib.code_links import concepts_of, link_codes
from docs_lib.cuda_examples import example_lines
from docs_lib.field_docs import with_field_list
from docs_lib.instruction_pages import syntax_lines
from docs_lib.json_page import keys_without_meaning
from docs_lib.ptx_lexer import ModularPtxLexer
from docs_lib.site_hook import reference_pages
from pygments.token import Error, Keyword, Name, Number, Operator, Punctuation

from ptxkit.isa import table
from ptxkit.isa.effect_words import effect_sentences
from ptxkit.rules.docs_index import all_pages
from ptxkit.settings.schema import KEYS
from tests.docs.block_runner import BlockRunner
from tests.docs.markdown_blocks import ROOT
from tests.docs.shell_session import ShellSession


def test_the_pages_agree_with_the_code_and_their_blocks_run(tmp_path: Path) -> None:
    pages = dict(reference_pages())
    assert {f"codes/{page.code}.md" for page in all_pages()} < pages.keys()
    assert [key for key in KEYS if f"| `{key}` |" not in pages["settings.md"]] == []
    done = 0
    for number, (path, text) in enumerate(pages.items()):
        if "```" not in text or re.match("codes/PTX10[1-5]", path):  # their examples are wrong PTX
            continue
        folder = tmp_path / str(number)
        folder.mkdir()
        page = tmp_path / path.replace("/", "-")
        page.write_text(text, "utf-8")
        runner = BlockRunner(page, folder)
        done += runner.run()
        assert runner.corrections == {}, path
    assert done > 100


@pytest.mark.parametrize(
    "command",
    [
        "lint --show-undecided corpus/rules/PTX401_bad_store_then_bulk_copy.ptx corpus/compilers/nvcc/tiled.sm_90.ptx",
        "lint corpus/rules/PTX301_bad_bulk_store_without_commit.ptx missing.ptx",
        "verify corpus/kernels/bulk_add_one.sm_90.ptx",
        "lint --obligations corpus/rules/PTX301_ok_bulk_store_with_commit.ptx",
    ],
)
def test_each_key_of_the_document_has_a_description(command: str) -> None:
    name, *rest = command.split()
    document = json.loads(ShellSession(ROOT).run(f"ptxkit {name} --format json {' '.join(rest)}"))
    assert document["files"]
    assert list(keys_without_meaning(document)) == []


def test_an_example_in_cuda_is_the_missing_line() -> None:
    lines = list(example_lines("PTX401"))
    assert [line for line in lines if line.startswith(("+", "-"))] == ["+  ptx::fence_proxy_async(ptx::space_shared);"]
    assert [line for line in lines if "expect" in line or "FAULT" in line] == []
    assert list(example_lines("PTX101")) == []


def test_a_form_is_shown_in_the_syntax_of_the_manual() -> None:
    [form] = table().forms("cvta")[:1]
    first, *words = syntax_lines(form)
    assert first == "cvta.ss.t d, a;"
    assert words[-1] == "    .t  = .u32, .u64"
    [store] = [form for form in table().forms("st") if "bulk" in form.syntax][:1]
    assert next(iter(syntax_lines(store))) == "st.bulk{.weak}{.ss} [a], n, value;"


@pytest.mark.parametrize(
    ("opcode", "words"),
    [
        ("mbarrier", "Ends the life of the mbarrier `bar`."),
        ("and", "Writes `d`: `and(bits(t), a, b)`."),
        (
            "cp",
            "Waits until at most `n` bulk groups of the thread are pending (with `read`: still read their sources).",
        ),
        ("wgmma", "Asynchronously reads and writes the registers `d` until its wgmma group is complete."),
    ],
)
def test_effects_are_sentences(opcode: str, words: str) -> None:
    assert words in {sentence for form in table().forms(opcode) for sentence in effect_sentences(form.effects)}


def test_no_sentence_is_incomplete() -> None:
    forms = [form for name in table().names for form in table().forms(name)]
    sentences = [sentence for form in forms for sentence in effect_sentences(form.effects)]
    assert len(sentences) > 700
    assert [text for text in sentences if not text.endswith(".") or re.search("absent|``|  |None", text)] == []


def test_fields_of_a_docstring_become_a_list_with_their_types() -> None:
    text = "One finding.\n\ncode: stable, e.g. `PTX401`; never reused. span, end: the place. Note: not a field.\n"
    types = {"code": "str", "span": "Span", "end": "Span"}
    assert with_field_list(text, types) == (
        "One finding.\n\n- `code` (`str`): stable, e.g. `PTX401`; never reused.\n"
        "- `span`, `end` (`Span`): the place. Note: not a field."
    )
    assert with_field_list("Reads `code: x`.", types) == "Reads `code: x`."


@pytest.mark.parametrize(
    "path",
    ["kernels/bulk_add_one.sm_90.ptx", "compilers/nvcc/misc.sm_90a.ptx", "compilers/triton/add.sm_90a.ptx"],
)
def test_every_token_of_real_ptx_has_a_color(path: str) -> None:
    text = (ROOT / "corpus" / path).read_text("utf-8")
    tokens = list(ModularPtxLexer().get_tokens(text))
    assert "".join(value for _, value in tokens).strip() == text.strip()
    assert [value for kind, value in tokens if kind in Error] == []
    assert {Keyword, Name.Function, Name.Variable, Number, Keyword.Type} <= {kind for kind, _ in tokens}


def test_an_instruction_is_an_opcode_and_modifiers() -> None:
    tokens = [each for each in ModularPtxLexer().get_tokens("@%p1 fence.proxy.async.shared::cta;") if each[1].strip()]
    assert tokens == [
        (Operator, "@"),
        (Name.Variable, "%p1"),
        (Keyword, "fence"),
        (Name.Function, ".proxy.async.shared::cta"),
        (Punctuation, ";"),
    ]


def test_mentions_of_codes_are_links_except_in_code_headings_and_links() -> None:
    text = "# `PTX401`\n\n`PTX401`, `PTX999`, [`PTX402`](x.md)\n\n"
    text += "```text\n`PTX401`\n```\n\n  ```ptx\n`PTX403`\n  ```\n`PTX404`\n"
    assert link_codes(text, "howto/a.md") == text.replace(
        "`PTX401`, ", "[`PTX401`](../reference/codes/PTX401.md), "
    ).replace("`PTX404`\n", "[`PTX404`](../reference/codes/PTX404.md)\n")
    assert link_codes("`PTX401`", "reference/codes/PTX401.md") == "`PTX401`"
    assert link_codes("`PTX401`", "index.md") == "[`PTX401`](reference/codes/PTX401.md)"


def test_codes_lead_to_the_concepts_that_explain_them() -> None:
    assert ("Proxies and fences", "proxies.md") in list(concepts_of("PTX401"))
    assert list(concepts_of("PTX192")) == []
