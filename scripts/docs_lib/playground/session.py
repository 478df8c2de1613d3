"""The functions of the playground in the browser, where `worker.mjs` imports them with ptxkit and Lark only.

Texts and results are strings, since the page has no other types of Python. Findings have the form of `--format json`.
"""

from __future__ import annotations

import json

from ptxkit import PTXSyntaxError
from ptxkit.diagnostics import Verdict
from ptxkit.fast_dataclasses import replace
from ptxkit.linter import lint_source
from ptxkit.report.as_json import json_report
from ptxkit.report.readable_names import question_with_readable_names, with_readable_names
from ptxkit.results import FileResult
from ptxkit.settings.model import Policy, Settings
from ptxkit.source import SourceFile

NAME = "playground.ptx"
"""The name of the text in findings and pictures."""


def check(text: str, policy: Policy) -> str:
    """The findings and the open questions of lint, as the JSON document of one file."""
    return _document(lint_source(SourceFile(NAME, text), Settings(policy=policy)))


def format_text(text: str) -> str:
    """`{"text": ...}`, formatted as `ptxkit fmt` does it, or the JSON document of syntax errors."""
    from ptxkit.syntax import format_source

    try:
        return json.dumps({"text": format_source(SourceFile(NAME, text))})
    except PTXSyntaxError as error:
        return _document(FileResult.of(NAME, Verdict(error.diagnostics)))


def draw(text: str, policy: Policy) -> str:
    """The page of `ptxkit view`: the control flow and the transfers, in HTML that loads nothing else."""
    from ptxkit.report.view_page import view_page
    from ptxkit.view_builder import build_file_view

    return view_page(build_file_view(SourceFile(NAME, text), Settings(policy=policy)))


def _document(result: FileResult) -> str:
    findings = tuple(with_readable_names(each) for each in result.diagnostics)
    questions = tuple(question_with_readable_names(each) for each in result.undecided)
    return json_report([replace(result, diagnostics=findings, undecided=questions)])
