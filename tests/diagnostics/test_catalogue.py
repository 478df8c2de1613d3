"""The catalogue contains each code once, and all others name codes by its constants."""

from __future__ import annotations

import ast
import pickle
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

from ptxkit.diagnostics import Severity
from ptxkit.diagnostics.catalogue import ptx2xx, ptx4xx
from ptxkit.diagnostics.catalogue.index import CODES, GROUPS, TEMPLATES
from ptxkit.rules import RULES
from ptxkit.rules.docs_index import all_pages
from tests.python_sources import nodes_of

PACKAGE = Path(__file__).resolve().parents[2] / "ptxkit"
CODE = re.compile(r"PTX\d{3}")
PROSE = re.compile(r"(?:\b[a-z]+ ){3}[a-z]")
"""Four words in a row."""


def string_literals(path: Path) -> Iterator[ast.Constant]:
    """Yields the strings of a module that are not docstrings."""
    nodes = nodes_of(path)
    documentation = {
        id(statement.value)
        for node in nodes
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        for statement in node.body
        if isinstance(statement, ast.Expr)
    }
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            yield node


def test_codes_are_written_only_in_the_catalogue() -> None:
    modules = [path for path in PACKAGE.rglob("*.py") if PACKAGE / "diagnostics" not in path.parents]
    assert len(modules) > 700
    wrong = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}: {node.value[:60]}"
        for path in modules
        for node in string_literals(path)
        if CODE.search(node.value)
    ]
    assert wrong == []


def test_messages_are_worded_only_in_the_catalogue() -> None:
    packages = ("syntax", "validate", "rules", "fixes")
    pages = PACKAGE / "rules" / "code_docs.py"
    modules = [path for package in packages for path in (PACKAGE / package).rglob("*.py") if path != pages]
    assert len(modules) > 140
    wrong = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}: {node.value[:60]}"
        for path in modules
        for node in string_literals(path)
        if PROSE.search(node.value)
    ]
    assert wrong == []


def is_of_catalogue(title: ast.expr) -> bool:
    """Returns whether a title is made by a template, or is that of another fix."""
    match title:
        case ast.Call(func=ast.Name(id="str"), args=[ast.Call(func=ast.Attribute())]):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(id="fix_titles"))) | ast.Attribute(attr="message"):
            return True
        case ast.IfExp(body=body, orelse=other):
            return is_of_catalogue(body) and is_of_catalogue(other)
    return False


def is_template(annotation: ast.expr | None) -> bool:
    """Returns whether a parameter is a template, which only the catalogue makes."""
    return isinstance(annotation, ast.Name) and annotation.id == "TextTemplate"


def test_the_title_of_a_fix_is_one_of_the_catalogue() -> None:
    titles = []
    for path in PACKAGE.rglob("*.py"):
        for function in nodes_of(path):
            if not isinstance(function, ast.FunctionDef):
                continue
            within = list(ast.walk(function))
            if not any(isinstance(node, ast.Name) and node.id in {"Fix", "FixCandidate"} for node in within):
                continue
            named: dict[str, list[ast.expr]] = {}
            for node in within:
                match node:
                    case ast.Assign(targets=[ast.Name(id=name)], value=value):
                        named.setdefault(name, []).append(value)
            templates = {each.arg for each in function.args.args if is_template(each.annotation)}
            for node in within:
                match node:
                    case ast.Call(
                        func=ast.Name(id="Fix" | "FixCandidate"), args=[ast.Call(func=ast.Name(id=name)), *_]
                    ) if name in templates:
                        titles.append((f"{path.relative_to(PACKAGE)}:{node.lineno}", True))
                    case ast.Call(func=ast.Name(id="Fix" | "FixCandidate"), args=[title, *_]):
                        place = f"{path.relative_to(PACKAGE)}:{node.lineno}"
                        shown = named.get(title.id, [title]) if isinstance(title, ast.Name) else [title]
                        titles += [(place, is_of_catalogue(each)) for each in shown]
    assert len(titles) > 60
    assert {place for place, is_right in titles if not is_right} == set()


def test_codes_and_names_are_unique_and_in_order() -> None:
    assert len(CODES) == 86
    assert list(CODES) == sorted(CODES)
    assert len({*CODES}) == len({code.name for code in CODES}) == len(CODES)


def test_a_code_is_defined_in_the_module_of_its_group_by_a_constant_of_its_name() -> None:
    for code in CODES:
        assert CODE.fullmatch(code)
        group = GROUPS[int(code[3]) - 1]
        assert group.__name__.endswith(f"ptx{code[3]}xx")
        assert getattr(group, code.name.upper().replace("-", "_")) is code


def test_each_code_has_a_page_and_each_rule_its_own_code() -> None:
    assert [(page.code, page.name) for page in all_pages()] == [(code, code.name) for code in CODES]
    assert len({rule.code for rule in RULES}) == len(RULES)


def test_rules_name_the_sections_that_findings_break() -> None:
    assert all(rule.code.sections for rule in RULES)


def test_notes_that_are_off_by_default_are_notes() -> None:
    assert {rule.code for rule in RULES if rule.on_request} == {
        code for code in CODES if code.severity is Severity.NOTE
    }


def test_a_code_is_its_string() -> None:
    code = ptx4xx.MISSING_PROXY_FENCE
    assert code == "PTX401"
    assert {code: 1}["PTX401"] == 1
    assert f"{code} {code!r}" == "PTX401 'PTX401'"
    assert (code.name, code.severity) == ("missing-proxy-fence", Severity.ERROR)
    assert type(pickle.loads(pickle.dumps(code))) is str


def test_messages_have_the_fields_that_their_templates_name() -> None:
    """Each call of a template passes fields of its text; `with_fields` may add the others."""
    assert len(TEMPLATES) > 300
    called = set()
    for path in PACKAGE.rglob("*.py"):
        for node in nodes_of(path):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id=module), attr=name)) if (module, name) in TEMPLATES:
                    fields = {field for _, field, _, _ in Formatter().parse(TEMPLATES[module, name].text) if field}
                    given = {keyword.arg for keyword in node.keywords if keyword.arg is not None}
                    assert node.args == []
                    assert given <= fields, f"{path}:{node.lineno}: {given - fields}"
                case ast.Attribute(value=ast.Name(id=module), attr=name) if (module, name) in TEMPLATES:
                    called.add((module, name))
    assert TEMPLATES.keys() == called


def test_the_fields_of_templates_have_names_or_are_lines_of_labels() -> None:
    for each in TEMPLATES.values():
        assert all(
            field is None or field.isidentifier() or field.isdecimal()
            for _, field, _, _ in Formatter().parse(each.text)
        )


def test_a_message_is_its_template_with_values() -> None:
    message = ptx2xx.ADDRESS_NOT_ALIGNED(address=18, size=16)
    assert str(message) == "the address 0x12 of an access of 16 bytes is misaligned: it must be a multiple of 16"
    assert message.code == "PTX205"
    assert message.under(ptx4xx.MISSING_PROXY_FENCE).code == "PTX401"
