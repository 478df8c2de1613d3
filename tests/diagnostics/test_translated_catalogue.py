"""No fix and no judgment of the verifier depends on the words of a message: they work with a translated catalogue."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from string import Formatter

import pytest

from ptxkit.diagnostics import MessageTemplate, TextTemplate
from ptxkit.diagnostics.catalogue.index import TEMPLATES
from ptxkit.fixes.validate_fixes import with_verified_fixes
from ptxkit.linter import lint_source
from ptxkit.settings.model import Settings
from ptxkit.source import SourceFile
from ptxkit.verifier import VerifyRequest, verify_source

FIXTURES = Path(__file__).resolve().parents[2] / "corpus" / "rules"

FIXED = (
    *("PTX201_bad_shared_load_of_generic", "PTX205_bad_declared_for_words", "PTX302_bad_bulk_copy_with_barrier_only"),
    *("PTX401_bad_bulk_reduction", "PTX905_bad_by_the_issuing_thread"),
)
RUN = ("PTX302_bad_bulk_copy_with_barrier_only", "PTX504_bad_fewer_arrivals_than_the_count")

OLD_HEADING = """.version 6.4
.target sm_75
.address_size 64
.visible .entry k() { cp.async.wait_all; ret; }
"""
TENSOR_COPY = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 map)
.reqntid 32
{
	.reg .b64 %rd<3>;
	.shared .align 128 .b8 tile[128];
	.shared .align 8 .b64 bar;
	ld.param.u64 %rd1, [map];
	cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::complete_tx::bytes [tile], [%rd1, {0}], [bar];
	ret;
}
"""


def translate(template: MessageTemplate | TextTemplate) -> str:
    """Other words around the same fields."""
    fields = [
        f"{{{name}{f'!{conversion}' if conversion else ''}{f':{spec}' if spec else ''}}}"
        for _, name, spec, conversion in Formatter().parse(template.text)
        if name is not None
    ]
    return " ".join(["§", *fields])


@contextmanager
def translated_catalogue() -> Iterator[None]:
    templates = list(TEMPLATES.values())
    texts = [each.text for each in templates]
    for each in templates:
        object.__setattr__(each, "text", translate(each))
    try:
        yield
    finally:
        for each, text in zip(templates, texts, strict=True):
            object.__setattr__(each, "text", text)


def in_both_languages(name: str, text: str, observe: Callable[[SourceFile], object]) -> tuple[object, object]:
    source = SourceFile(f"{name}.ptx", text)
    here = observe(source)
    with translated_catalogue():
        return here, observe(source)


def fixture_text(name: str) -> str:
    return (FIXTURES / f"{name}.ptx").read_text("utf-8")


def fixes_of(source: SourceFile) -> object:
    settings = Settings(notes=True)
    result = with_verified_fixes(source, lint_source(source, settings), settings)
    return [(item.code, item.span, item.fix and (item.fix.edits, item.fix.safe)) for item in result.diagnostics]


def verdict_of(source: SourceFile) -> object:
    result = verify_source(source, VerifyRequest())
    return (
        [(item.code, item.span, item.severity) for item in result.diagnostics],
        [(item.code, item.span) for item in result.undecided],
    )


@pytest.mark.parametrize(("name", "text"), [*((name, fixture_text(name)) for name in FIXED), ("heading", OLD_HEADING)])
def test_fixes_do_not_read_messages(name: str, text: str) -> None:
    here, translated = in_both_languages(name, text, fixes_of)
    assert here == translated
    assert isinstance(here, list)
    assert any(fix is not None for _, _, fix in here)


@pytest.mark.parametrize(
    ("name", "text"), [*((name, fixture_text(name)) for name in RUN), ("tensor_copy", TENSOR_COPY)]
)
def test_the_verifier_does_not_read_messages(name: str, text: str) -> None:
    here, translated = in_both_languages(name, text, verdict_of)
    assert here == translated


def test_the_messages_of_rules_are_translated() -> None:
    source = SourceFile("k.ptx", fixture_text(FIXED[0]))
    with translated_catalogue():
        assert all(item.message.startswith("§") for item in lint_source(source).diagnostics)
