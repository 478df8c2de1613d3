"""An effect in a called function is one of the kernel: rules find the same if a function contains a kernel's code."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.diagnostics import Severity, Verdict
from ptxkit.fast_dataclasses import replace
from ptxkit.linter import lint
from ptxkit.syntax import parse, print_module
from ptxkit.syntax.tree import Function

FOLDER = Path(__file__).resolve().parents[2] / "corpus" / "rules"


def in_functions(text: str) -> str | None:
    """Returns a module in which each kernel only calls a function, with its arguments, that contains its code.

    The result is None where a parameter is an array: its address in a function is that of a copy.
    """
    module = parse(text)
    items = []
    for item in module.items:
        if isinstance(item, Function) and item.kind == "entry" and item.body is not None:
            given = [(each.type, name) for each in item.parameters for name in each.declarators]
            if any(name.dimensions for _, name in given):
                return None
            types = {name.name: f"b{kind.lstrip('bufs')}" for kind, name in given}
            formals = ", ".join(f".param .{kind} {name}" for name, kind in types.items())
            loads = "".join(
                f".reg .{kind} %{name}; ld.param.{kind} %{name}, [{name}];\n"
                f".param .{kind} pass_{name}; st.param.{kind} [pass_{name}], %{name};\n"
                for name, kind in types.items()
            )
            passed = ", ".join(f"pass_{name}" for name in types)
            code = parse(
                f".version 8.0\n.target sm_90\n.address_size 64\n.func inside({formals}) {{ ret; }}\n"
                f".entry k({formals}) {{ {{ {loads} call inside_{item.name}, ({passed}); }} ret; }}"
            )
            inside, outside = code.functions()
            items.append(replace(inside, name=f"inside_{item.name}", body=item.body))
            items.append(replace(item, body=outside.body))
        else:
            items.append(item)
    return print_module(replace(module, items=tuple(items)))


def errors_of(verdict: Verdict) -> set[str]:
    return {each.code for each in verdict.diagnostics if each.severity is Severity.ERROR}


def first_fixtures(kind: str) -> list[Path]:
    """Returns the first fixture of each rule."""
    by_code: dict[str, Path] = {}
    for path in sorted(FOLDER.glob(f"*_{kind}_*.ptx")):
        by_code.setdefault(path.name[:6], path)
    return list(by_code.values())


@pytest.mark.parametrize("path", first_fixtures("bad"), ids=lambda path: path.name[:6])
def test_an_error_in_a_function_is_an_error_or_a_question(path: Path) -> None:
    text = path.read_text()
    moved, found = in_functions(text), errors_of(lint(text))
    if moved is None or not found:
        pytest.skip("an argument is an array, or the fixture is wrong in another way")
    verdict = lint(moved)
    reported = {each.code for each in (*verdict.diagnostics, *verdict.undecided)}
    assert errors_of(verdict) or found & reported


@pytest.mark.parametrize("path", first_fixtures("ok"), ids=lambda path: path.name[:6])
def test_a_function_adds_no_finding(path: Path) -> None:
    text = path.read_text()
    moved = in_functions(text)
    if moved is None:
        pytest.skip("an argument is an array")
    before, after = ({each.code for each in lint(each).diagnostics} for each in (text, moved))
    assert after <= before
