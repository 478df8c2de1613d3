"""One renderer for each output format. They read results and know no rule.

`full_report(results)` yields styled lines as results arrive: `plain(lines)` converts them to text, `to_terminal(lines,
...)` colors them. `json_report(results)` returns the document that `--format json` prints.
`ptxkit.report.transfer_table` and `ptxkit.report.transfers_json` do the same for tables of transfers.

Input: results as data. Output: text in one format. It imports `model` and `baseline`, and no analysis.
"""

from __future__ import annotations

from ptxkit.report.as_json import json_report
from ptxkit.report.full import diagnostic_lines, full_report
from ptxkit.report.style import Line, TextRole, plain, plain_line, to_terminal

__all__ = ["Line", "TextRole", "diagnostic_lines", "full_report", "json_report", "plain", "plain_line", "to_terminal"]
