"""The resources of compiled kernels, as a table and as JSON. The schema is in the documentation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptxkit.mangled_names import distinct_short_names
from ptxkit.model.machine_code import FunctionResources, MachineCode
from ptxkit.report.as_json import replace_surrogates
from ptxkit.report.style import Line, TextRole
from ptxkit.untrusted_text import escape_path, escape_text

VERSION = 1

_HEADS = ("registers", "barriers", "shared", "stack", "spill stores", "spill loads", "constant")
"""The columns after the name; all but the first two are bytes."""
_GAP = "  "


def resource_lines(code: MachineCode) -> Iterator[Line]:
    """A heading, and a row for each function; `-` is a number that is not known."""
    place = [(f"{escape_path(code.path)}: ", TextRole.LOCATION)] if code.path is not None else []
    yield (*place, (f"{code.target}, {escape_text(code.compiler)}", TextRole.PLAIN))
    names = distinct_short_names(each.name for each in code.functions)
    rows = [
        (f"{escape_text(name)}{'' if each.is_kernel else ' (function)'}", *map(_cell, _numbers(each)))
        for name, each in zip(names, code.functions, strict=True)
    ]
    if not rows:
        yield ((f"{_GAP}no kernels", TextRole.PLAIN),)
    for row, role in _aligned_rows([("kernel", *_HEADS), *rows] if rows else []):
        yield ((_GAP + row, role),)
    for size, what in ((code.constant_bytes, "constant"), (code.global_bytes, "global")):
        if size:
            yield ((f"{_GAP}{size} bytes of variables in {what} memory", TextRole.PLAIN),)


def machine_code_json(code: MachineCode) -> str:
    """The document as ASCII text with a final line end."""
    import json

    document = {
        "version": VERSION,
        "path": code.path,
        "target": code.target,
        "compiler": code.compiler,
        "functions": [
            {
                "name": each.name,
                "kind": "kernel" if each.is_kernel else "function",
                "registers": each.registers,
                "barriers": each.barriers,
                "shared_bytes": each.shared,
                "stack_bytes": each.stack,
                "spill_store_bytes": each.spill_stores,
                "spill_load_bytes": each.spill_loads,
                "constant_bytes": each.constant,
            }
            for each in code.functions
        ],
        "constant_bytes": code.constant_bytes,
        "global_bytes": code.global_bytes,
        "sass": code.listing,
    }
    return json.dumps(replace_surrogates(document), indent=2) + "\n"


def _numbers(each: FunctionResources) -> tuple[int | None, ...]:
    return (
        each.registers,
        each.barriers,
        each.shared,
        each.stack,
        each.spill_stores,
        each.spill_loads,
        each.constant,
    )


def _cell(number: int | None) -> str:
    return "-" if number is None else str(number)


def _aligned_rows(rows: Sequence[tuple[str, ...]]) -> Iterator[tuple[str, TextRole]]:
    """The rows with columns as wide as their cells: the first one to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for number, (name, *cells) in enumerate(rows):
        texts = (cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))
        yield _GAP.join([name.ljust(widths[0]), *texts]), TextRole.PLAIN if number else TextRole.DIM
