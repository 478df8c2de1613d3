"""Tables of transfers as JSON. The schema is in the documentation."""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.model.survey import Survey
from ptxkit.model.transfer import KernelTransfers, Transfer
from ptxkit.report.as_json import record_object
from ptxkit.report.surveys_json import surveys_json


def transfers_json(results: Sequence[Survey[KernelTransfers]]) -> str:
    """The document as ASCII text with a final line end."""
    return surveys_json(results, _kernel)


def _kernel(kernel: KernelTransfers) -> dict[str, object]:
    return {"name": kernel.name, "kind": kernel.kind, "transfers": [_transfer(row) for row in kernel.transfers]}


def _transfer(row: Transfer) -> dict[str, object]:
    place = row.source_line
    return {
        "line": row.line,
        "function": row.function,
        "source_file": place.file if place is not None else None,
        "source_line": place.line if place is not None else None,
        "operation": row.operation,
        "from": row.source,
        "to": row.destination,
        "variable": row.variable,
        "unit": row.unit.value,
        "loads": list(row.loads),
        "bytes": row.size.number,
        "bytes_depend_on": row.size.depends_on or None,
        "zero_bytes": row.size.zeros,
        "completion": record_object(row.completion),
        "waits": [record_object(each) for each in row.waits],
        "fences": [record_object(each) for each in row.fences],
        "choice": None if row.choice is None else record_object(row.choice),
        "reached": row.reached,
    }
