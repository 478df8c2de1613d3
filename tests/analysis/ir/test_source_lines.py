"""`.loc` directives, followed to the line of the call."""

from __future__ import annotations

from ptxkit import parse
from ptxkit.analysis.ir.program import flatten
from ptxkit.analysis.ir.source_lines import SourceLines
from ptxkit.model.transfer import SourceLine

FILES = '.file 1 "k.cu"\n.file 2 "lib.h"\n.file 3 "deep.h"\n'


def places(body: str, files: str = FILES) -> list[SourceLine | None]:
    """The source location of each `bar.sync`."""
    module = parse(f".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{{\n{body}\nret;\n}}\n{files}")
    sources, function = SourceLines(module), module.function("k")
    steps = flatten(module, function).steps
    return [sources.location(function, step.start) for step in steps if step.instruction.opcode.startswith("bar")]


def test_an_instruction_belongs_to_the_last_loc_before_it() -> None:
    body = "bar.sync 0;\n.loc 1 7 0\nbar.sync 0;\nbar.sync 0;\n.loc 1 9 2\nbar.sync 0;"
    assert places(body) == [None, SourceLine("k.cu", 7), SourceLine("k.cu", 7), SourceLine("k.cu", 9)]


def test_inlined_code_belongs_to_the_line_of_the_call() -> None:
    body = (
        ".loc 1 7 0\n.loc 2 50 3, function_name $n, inlined_at 1 7 0\n"
        ".loc 3 99 1, function_name $m, inlined_at 2 50 3\nbar.sync 0;\n.loc 3 99 1\nbar.sync 0;"
    )
    assert places(body) == [SourceLine("k.cu", 7), SourceLine("deep.h", 99)]


def test_line_0_is_not_a_line_and_the_last_one_remains() -> None:
    assert places(".loc 1 7 0\n.loc 1 0 0\nbar.sync 0;") == [SourceLine("k.cu", 7)]


def test_a_nested_block_is_included() -> None:
    assert places(".loc 1 7 0\n{\n.loc 1 8 0\nbar.sync 0;\n}\nbar.sync 0;") == [
        SourceLine("k.cu", 8),
        SourceLine("k.cu", 8),
    ]


def test_a_location_within_itself_and_an_unknown_file_end_the_search() -> None:
    assert places(".loc 2 5 3, function_name $n, inlined_at 2 5 3\nbar.sync 0;") == [SourceLine("lib.h", 5)]
    assert places(".loc 9 5 3\nbar.sync 0;") == [None]
