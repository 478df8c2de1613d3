"""A JUnit report: a suite for each file, a case for each finding; a file without findings has one case that passes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ptxkit.diagnostic_groups import fault_notes
from ptxkit.diagnostics import Diagnostic, Severity
from ptxkit.diagnostics.catalogue import ptx1xx
from ptxkit.report.code_frame import code_frame
from ptxkit.report.style import plain
from ptxkit.results import FileResult
from ptxkit.untrusted_text import escape_lines, escape_path

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


def junit_report(results: Sequence[FileResult]) -> str:
    """The document. Errors and warnings are failures, a file without a verdict is an error, and notes pass."""
    from xml.etree import ElementTree

    suites = [_suite(result) for result in results]
    root = ElementTree.Element("testsuites", {"name": "ptxkit", **_sums(suites)})
    root.extend(suites)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _suite(result: FileResult) -> Element:
    from xml.etree.ElementTree import Element

    path = escape_path(result.path)
    cases = [_case(item, path) for item in result.diagnostics]
    if not cases:
        cases = [Element("testcase", name="ptxkit", classname=path)]
    counts = {
        "tests": len(cases),
        "failures": sum(case.find("failure") is not None for case in cases),
        "errors": sum(case.find("error") is not None for case in cases),
    }
    suite = Element("testsuite", {"name": path, **{key: str(number) for key, number in counts.items()}})
    suite.extend(cases)
    return suite


def _case(item: Diagnostic, path: str) -> Element:
    from xml.etree.ElementTree import Element, SubElement

    line, column = item.source.position(item.span.start)
    case = Element("testcase", name=f"{item.code} {line}:{column}", classname=path, file=path, line=str(line))
    message = escape_lines(item.message)
    shown = plain(code_frame(item.source, item.span, item.labels)) if item.source.text else ""
    text = f"{path}:{line}:{column}: {item.code} {item.severity}: {message}\n{shown}"
    text += "".join(f"note: {escape_lines(note)}\n" for note in (*item.notes, *fault_notes(item)))
    text += f"help: {escape_lines(item.help)}\n" if item.help else ""
    if item.severity is Severity.NOTE:
        SubElement(case, "system-out").text = text
    else:
        kind = "error" if item.code == ptx1xx.NO_VERDICT else "failure"
        SubElement(case, kind, message=message, type=f"{item.code} {item.severity}").text = text
    return case


def _sums(suites: Sequence[Element]) -> dict[str, str]:
    return {key: str(sum(int(suite.get(key, "0")) for suite in suites)) for key in ("tests", "failures", "errors")}
