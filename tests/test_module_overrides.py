"""Modules checked with other headings and launches than their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.linter import lint_source
from ptxkit.module_overrides import LaunchConflictError, apply_launches, override_heading
from ptxkit.settings import parsers
from ptxkit.settings.model import ConfigLayer, Settings
from ptxkit.source import SourceFile
from ptxkit.syntax import parse

ROOT = Path(__file__).resolve().parent.parent
HEAD = ".version 8.0\n.target sm_90, texmode_independent\n.address_size 64\n"
TEXT = HEAD + ".entry k() .maxntid 256 { barrier.cluster.arrive; barrier.cluster.wait; ret; }\n"


def lint_text(text: str, **given: object) -> list[str]:
    settings = Settings.of([ConfigLayer("x", **given)])  # type: ignore[arg-type]
    return [item.code for item in lint_source(SourceFile("k.ptx", text), settings).diagnostics]


def test_another_heading_changes_what_is_allowed_and_no_location() -> None:
    assert lint_text(TEXT) == []
    result = lint_source(SourceFile("k.ptx", TEXT), Settings(target="sm_80"))
    assert [item.code for item in result.diagnostics] == ["PTX801", "PTX801"]
    assert TEXT[result.diagnostics[0].span.start :].startswith("barrier.cluster.arrive")
    assert "sm_80" in result.diagnostics[0].message
    assert set(lint_text(TEXT, ptx_version=(7, 5))) == {"PTX801"}


def test_options_of_the_target_are_kept() -> None:
    module = override_heading(parse(TEXT), "sm_100a", (8, 6))
    assert (module.version, module.targets) == ((8, 6), ("sm_100a", "texmode_independent"))
    same = override_heading(parse(TEXT), None, None)
    assert same == parse(TEXT)


def test_a_launch_becomes_the_declaration_of_the_kernel() -> None:
    module = apply_launches(parse(TEXT), [parsers.parse_launch("k:block=16x8,cluster=2")])
    [kernel] = module.functions()
    reqntid, cluster = kernel.directive("reqntid"), kernel.directive("reqnctapercluster")
    assert reqntid is not None
    assert cluster is not None
    assert (reqntid.words, cluster.words) == (("16", "8", "1"), ("2", "1", "1"))


def test_the_last_matching_launch_counts_and_others_are_unchanged() -> None:
    module = parse(TEXT + ".entry other() { ret; }\n")
    launched = apply_launches(module, [parsers.parse_launch("block=64"), parsers.parse_launch("k*:block=32")])
    blocks = [kernel.directive("reqntid") for kernel in launched.functions()]
    assert [each.words[0] for each in blocks if each] == ["32", "64"]
    assert apply_launches(module, [parsers.parse_launch("nobody:block=64")]) == module


@pytest.mark.parametrize(
    ("directives", "launch", "message"),
    [
        (".reqntid 128", "k:block=64", "the launch `k:block=64` of k contradicts its `.reqntid 128, 1, 1`"),
        (".maxntid 64, 2", "k:block=256", "has more threads than its `.maxntid 64, 2, 1` allows"),
        (".reqnctapercluster 2", "k:cluster=4", "contradicts its `.reqnctapercluster 2, 1, 1`"),
    ],
)
def test_an_impossible_launch_is_reported(directives: str, launch: str, message: str) -> None:
    text = HEAD + f".entry k() {directives} {{ ret; }}\n"
    with pytest.raises(LaunchConflictError) as raised:
        apply_launches(parse(text), [parsers.parse_launch(launch)])
    assert message in str(raised.value)
    assert apply_launches(parse(text), [parsers.parse_launch(launch.replace("k:", ""))]) == parse(text)
    result = lint_source(SourceFile("k.ptx", text), Settings(launches=(parsers.parse_launch(launch),)))
    assert (result.status, result.diagnostics[0].code) == ("failed", "PTX100")


def test_a_launch_decides_an_open_question() -> None:
    """`mbarrier.init` counts 256 arrivals: correct for blocks of 256 threads, and for no others."""
    text = (
        HEAD
        + """.shared .align 8 .b64 bar;
.entry k() {
.reg .b32 %r<4>; .reg .pred %p; .reg .b64 %d;
mov.u32 %r1, %tid.x;
setp.ne.u32 %p, %r1, 0;
@%p bra ready;
mbarrier.init.shared.b64 [bar], 256;
ready:
bar.sync 0;
mbarrier.arrive.shared.b64 %d, [bar];
wait:
mbarrier.test_wait.shared.b64 %p, [bar], %d;
@!%p bra wait;
ret;
}
"""
    )
    assert lint_text(text, launch=(parsers.parse_launch("k:block=256"),)) == []
    assert lint_text(text, launch=(parsers.parse_launch("k:block=128"),)) == ["PTX504"]
