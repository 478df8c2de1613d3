"""Tables of transfers as JSON. The schema is in the documentation; `version` changes if it becomes incompatible."""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.model.transfer import FileTransfers, KernelTransfers, Transfer
from ptxkit.report.as_json import diagnostic_object, replace_surrogates

VERSION = 1


def transfers_json(results: Sequence[FileTransfers]) -> str:
    """The document as ASCII text with a final line end."""
    import json

    document = {"version": VERSION, "files": [_file(result) for result in results]}
    return json.dumps(replace_surrogates(document), indent=2) + "\n"


def _file(result: FileTransfers) -> dict[str, object]:
    table = result.table
    return {
        "path": result.path,
        "status": str(result.status),
        "target": table.target if table is not None else None,
        "kernels": [_kernel(kernel) for kernel in table.kernels] if table is not None else [],
        "diagnostics": [diagnostic_object(item) for item in result.diagnostics],
    }


def _kernel(kernel: KernelTransfers) -> dict[str, object]:
    return {"name": kernel.name, "kind": kernel.kind, "transfers": [_transfer(row) for row in kernel.transfers]}


def _transfer(row: Transfer) -> dict[str, object]:
    place, choice = row.source_line, row.choice
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
        "completion": {
            "mechanism": row.completion.mechanism,
            "object": row.completion.object,
            "lines": list(row.completion.lines),
        },
        "waits": [{"line": each.line, "pending": each.pending, "reads_only": each.reads_only} for each in row.waits],
        "fences": [{"line": each.line, "between": each.between, "other": each.other} for each in row.fences],
        "choice": None
        if choice is None
        else {
            "decided": choice.decided,
            "words": choice.words,
            "branch": choice.branch,
            "alternatives": list(choice.alternatives),
        },
        "reached": row.reached,
    }
