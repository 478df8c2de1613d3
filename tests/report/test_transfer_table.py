"""The two formats of tables of transfers."""

from __future__ import annotations

import json
from dataclasses import replace

from inline_snapshot import snapshot

from ptxkit.diagnostics import Diagnostic, Severity
from ptxkit.linter import unchecked_result
from ptxkit.model.survey import Survey
from ptxkit.model.transfer import (
    Completion,
    Fence,
    KernelTransfers,
    Size,
    SourceLine,
    Transfer,
    Unit,
    UnitSelection,
    Wait,
)
from ptxkit.report import plain
from ptxkit.report.transfer_table import WIDTH, transfer_report
from ptxkit.report.transfers_json import transfers_json
from ptxkit.results import Status
from ptxkit.source import SourceFile, Span

LOAD = Transfer(
    line=67,
    source_line=SourceLine("/src/k.cu", 22),
    operation="copy",
    source="global",
    destination="shared",
    unit=Unit.BULK,
    size=Size(4096),
    completion=Completion("mbarrier", "bar"),
    variable="tile",
    waits=(Wait(78),),
    choice=UnitSelection("compile time", "nothing tests for the alignment to 16 bytes"),
)
STORE = Transfer(
    line=158,
    source_line=SourceLine("/src/k.cu", 31),
    operation="reduction",
    source="shared",
    destination="global",
    unit=Unit.TENSOR,
    size=Size(None, "the box of the tensor map", None),
    completion=Completion("bulk group", None, (161,)),
    variable="tile",
    waits=(Wait(164, 1, reads_only=True), Wait(170, 0)),
    fences=(Fence(145, "generic and async", 126), Fence(12, "tensormap")),
)
SLOW = Transfer(
    line=90,
    source_line=None,
    operation="copy",
    source="global",
    destination="shared",
    unit=Unit.PLAIN,
    size=Size(16, "", None),
    completion=Completion("at once"),
    choice=UnitSelection(
        "run time", "when the addresses do not differ by a multiple of 16 " + "or so or not", 80, (67,)
    ),
    fences=(Fence(None, "generic and async", 126),),
    loads=(89,),
)
LOST = replace(LOAD, line=200, source_line=None, waits=(), reached=False, choice=None, size=Size(None, "by n"))


def table(*transfers: Transfer, kind: str = "entry", name: str = "copy") -> Survey[KernelTransfers]:
    return Survey("k.ptx", "sm_90a", (KernelTransfers(name, kind, transfers),))


def text(*results: Survey[KernelTransfers]) -> str:
    return plain(transfer_report(results))


def test_a_table_with_every_kind_of_cell_is_rendered() -> None:
    assert text(table(LOAD, replace(LOAD, line=70), STORE, SLOW, LOST)) == snapshot("""\
k.ptx for sm_90a

copy
        line  moves                       unit     bytes     completes by      waited for at  fence
  k.cu:22
  67-70 (2x)  global -> shared tile       TMA      4096      mbarrier bar      78             -
  k.cu:31
         158  reduce shared tile ->       TMA map  box       bulk group (161)  164 (1,        145,
              global                                                           read), 170     12
                                                                               (0)            (map)
  no source line
          90  global -> shared            plain    16 or 0s  at once           -              none
              = when the addresses do not differ by a multiple of 16 or so or not (line 80 decides)
         200  global -> shared tile       TMA      by n      mbarrier bar      not reached    -
  = TMA at 67-70 (2x): nothing tests for the alignment to 16 bytes

5 transfers in 1 kernel: 3 TMA, 1 TMA with tensor map, 1 plain, 1 not reached
""")


def test_no_line_is_wider_than_the_page() -> None:
    long = replace(STORE, variable="a_very_long_name_of_twenty8", waits=tuple(Wait(1000 + n, n) for n in range(9)))
    report = text(table(long, SLOW, name="n" * 300))
    assert max(map(len, report.splitlines())) <= WIDTH
    assert all(str(1000 + n) in report for n in range(9))


def test_rows_that_differ_in_more_than_their_line_are_separate() -> None:
    one = replace(LOAD, choice=None)
    same = text(table(one, replace(one, line=70)))
    other = text(table(one, replace(one, line=70, size=Size(16))))
    assert ("67-70 (2x)" in same, "67-70 (2x)" in other) == (True, False)


def test_a_kernel_without_transfers_and_an_uncalled_function_are_described() -> None:
    assert "copy: no transfers\n" in text(table())
    assert "copy, a function that no analyzed kernel calls\n" in text(table(LOST, kind="func"))


def test_rows_of_a_called_function_are_below_its_name() -> None:
    report = text(table(replace(LOAD, function="copy"), replace(LOAD, line=300, function="helper"), LOST))
    assert [line.strip() for line in report.splitlines() if "k.cu" in line] == ["k.cu:22", "k.cu:22 in helper"]


def test_input_text_cannot_control_the_terminal() -> None:
    report = text(table(replace(LOAD, variable="a\x1b[1m", source_line=SourceLine("\x1b]0;k.cu", 1)), name="k\x07"))
    assert "\x1b" not in report
    assert "\x07" not in report


def test_a_file_without_a_table_shows_the_reason() -> None:
    failed = Survey("lost.ptx", diagnostics=unchecked_result("lost.ptx", "cannot be read").diagnostics)
    assert failed.status == Status.FAILED
    assert text(failed) == "lost.ptx: PTX100 error: cannot be read\n\n0 transfers in 0 kernels: 1 not checked\n"


def test_an_error_with_a_table_is_a_finding() -> None:
    error = Diagnostic("PTX102", Severity.ERROR, "unknown", SourceFile("k.ptx", "x"), Span(0, 1))
    assert replace(table(LOAD), diagnostics=(error,)).status == Status.FINDINGS
    assert table(LOAD).status == Status.CLEAN


def test_json_contains_every_fact() -> None:
    document = json.loads(transfers_json([table(STORE, SLOW)]))
    assert document["version"] == 1
    (file,) = document["files"]
    assert (file["path"], file["status"], file["target"], file["diagnostics"]) == ("k.ptx", "clean", "sm_90a", [])
    assert file["kernels"][0]["transfers"] == snapshot(
        [
            {
                "line": 158,
                "function": "",
                "source_file": "/src/k.cu",
                "source_line": 31,
                "operation": "reduction",
                "from": "shared",
                "to": "global",
                "variable": "tile",
                "unit": "TMA, tensor map",
                "loads": [],
                "bytes": None,
                "bytes_depend_on": "the box of the tensor map",
                "zero_bytes": None,
                "completion": {"mechanism": "bulk group", "object": None, "lines": [161]},
                "waits": [
                    {"line": 164, "pending": 1, "reads_only": True},
                    {"line": 170, "pending": 0, "reads_only": False},
                ],
                "fences": [
                    {"line": 145, "between": "generic and async", "other": 126},
                    {"line": 12, "between": "tensormap", "other": None},
                ],
                "choice": None,
                "reached": True,
            },
            {
                "line": 90,
                "function": "",
                "source_file": None,
                "source_line": None,
                "operation": "copy",
                "from": "global",
                "to": "shared",
                "variable": None,
                "unit": "plain",
                "loads": [89],
                "bytes": 16,
                "bytes_depend_on": None,
                "zero_bytes": None,
                "completion": {"mechanism": "at once", "object": None, "lines": []},
                "waits": [],
                "fences": [{"line": None, "between": "generic and async", "other": 126}],
                "choice": {
                    "decided": "run time",
                    "words": "when the addresses do not differ by a multiple of 16 or so or not",
                    "branch": 80,
                    "alternatives": [67],
                },
                "reached": True,
            },
        ]
    )
