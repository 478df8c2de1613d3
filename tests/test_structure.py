"""The names and packages of the tree: unique classes, the order of sub-packages, sizes of files."""

from __future__ import annotations

import ast
import importlib
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.python_sources import nodes_of, tree_of

PACKAGE = Path(__file__).resolve().parent.parent / "ptxkit"
MODULES = sorted(PACKAGE.rglob("*.py"))

SHARED_NAMES = {"Address", "Barrier", "Function", "Label", "Program", "TensorMap", "TensorMemory"}
"""Public classes with the same name: one of them is the builder's or the device's, and users import it."""

ANALYSIS = (
    *(
        "ir",
        "values",
        "cfg",
        "dataflow",
        "abstract_interpretation",
        "symexec",
        "intervals",
        "phase_order",
        "sync",
        "context",
    ),
    *("mbarrier", "cluster", "memory", "tensor", "registers", "redundancy", "inventory", "contract"),
)
"""The packages of `ptxkit.analysis`: each imports only those before it, for types as well."""

EMULATOR = ("limits", "core", "state", "tensor", "threads", "sync", "races", "engine", "actions", "driver")
"""The packages of `ptxkit.emulator`: each imports only those before it, for types as well."""

MAX_LINES = 500

MAX_RULE_LINES = 150
"""Lines of code in a rule: more of them compute what belongs in the analysis, or in a module of findings."""

LIMITED = ("build", "device", "emulator", "kernel_model")
"""Packages whose limits are all in a module `limits`."""

MAX_CYCLE = 5
"""Modules that may import each other in a circle, for types and inside functions as well."""

MAX_MRO = 4
"""Classes of ptxkit in the MRO of one of them: itself and three more."""


def test_public_classes_have_unique_names() -> None:
    homes = defaultdict(list)
    for path in MODULES:
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(path.relative_to(PACKAGE).as_posix())
    assert len(homes) > 600
    assert {name for name, paths in homes.items() if len(paths) > 1} == SHARED_NAMES
    assert len(SHARED_NAMES) <= 10


def test_the_packages_of_the_analysis_import_only_earlier_ones() -> None:
    folder = PACKAGE / "analysis"
    assert {path.parent.name for path in folder.rglob("*.py") if path.parent != folder} == set(ANALYSIS)
    wrong, looked_at = [], 0
    for path in folder.rglob("*.py"):
        if path.parent == folder:
            continue
        for node in nodes_of(path):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ptxkit.analysis."):
                other = (node.module or "").split(".")[2]
                if other == "limits":
                    continue
                looked_at += 1
                if ANALYSIS.index(other) > ANALYSIS.index(path.parent.name):
                    wrong.append(f"{path.relative_to(PACKAGE)}:{node.lineno}: {node.module}")
    assert looked_at > 300
    assert wrong == []


def test_the_packages_of_the_emulator_import_only_earlier_ones() -> None:
    folder = PACKAGE / "emulator"
    modules = [path for path in folder.rglob("*.py") if path.parent != folder]
    assert {path.relative_to(folder).parts[0] for path in modules} == set(EMULATOR) - {"limits"}
    arrows = [
        (path.relative_to(folder), node.lineno, (node.module or "").split(".")[2])
        for path in modules
        for node in nodes_of(path)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ptxkit.emulator.")
    ]
    assert len(arrows) > 400
    assert [arrow for arrow in arrows if EMULATOR.index(arrow[2]) > EMULATOR.index(arrow[0].parts[0])] == []


def test_packages_have_descriptions() -> None:
    packages = [path for path in MODULES if path.name == "__init__.py"]
    assert len(packages) > 40
    assert [path.relative_to(PACKAGE).as_posix() for path in packages if not ast.get_docstring(tree_of(path))] == []


def test_packages_state_what_they_may_import() -> None:
    packages = {path: ast.get_docstring(tree_of(path)) or "" for path in MODULES if path.name == "__init__.py"}
    assert len(packages) > 60
    assert [path.relative_to(PACKAGE).as_posix() for path, text in packages.items() if "import" not in text] == []


def test_modules_have_a_readable_size() -> None:
    long = {
        path.relative_to(PACKAGE).as_posix()
        for path in MODULES
        if len(path.read_text("utf-8").splitlines()) > MAX_LINES
    }
    assert long == set()


def count_lines_of_code(text: str) -> int:
    """Returns the number of lines without imports, docstrings, comments and blank lines."""
    omitted: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant(value=str())):
                omitted.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = enumerate(map(str.strip, text.splitlines()), 1)
    return sum(bool(line) and not line.startswith("#") and number not in omitted for number, line in lines)


def test_lines_of_code_are_counted_without_imports_and_comments() -> None:
    code = "def one(\n    first: int,\n) -> int:\n    return 2  # a comment\n"
    assert count_lines_of_code(code) == 4
    rest = '"""A\n\nmodule."""\n\nfrom sys import (\n    path,\n)\n\n# a comment\n'
    assert count_lines_of_code(rest + code + '"""Its docstring."""\n') == 4


def test_rules_hand_their_computing_to_the_analysis() -> None:
    rules = {path.name: count_lines_of_code(path.read_text("utf-8")) for path in (PACKAGE / "rules").glob("ptx*.py")}
    assert len(rules) > 50
    assert {name: lines for name, lines in rules.items() if lines > MAX_RULE_LINES} == {}


def test_limits_are_in_one_module_of_their_package() -> None:
    wrong = []
    for package in LIMITED:
        for path in (PACKAGE / package).rglob("*.py"):
            targets = [
                target
                for node in tree_of(path).body
                if isinstance(node, ast.Assign | ast.AnnAssign)
                for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            ]
            names = {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}
            if path.name == "limits.py":
                assert names, path
            else:
                wrong += [f"{path}: {name}" for name in sorted(names) if {"MAX", "LIMIT"} & set(name.split("_"))]
    assert wrong == []


@cache
def module_names() -> dict[str, Path]:
    names = {path: ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in MODULES}
    return {name.removesuffix(".__init__"): path for path, name in names.items()}


def imports_of(path: Path) -> set[str]:
    """Returns the modules of ptxkit that a module names in its imports, those for types and inside functions
    included."""
    names = module_names()
    found = set()
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            parts = {alias.name: f"{node.module}.{alias.name}" for alias in node.names}
            found |= {whole if whole in names else node.module for whole in parts.values()}
    return found & names.keys()


def find_cycles(graph: dict[str, set[str]]) -> list[set[str]]:
    """Yields the strongly connected components of several modules."""
    reaches: dict[str, set[str]] = {}
    for start in graph:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            for each in graph[waiting.pop()] - seen:
                seen.add(each)
                waiting.append(each)
        reaches[start] = seen
    cycles = {frozenset({start, *(each for each in reaches[start] if start in reaches[each])}) for start in graph}
    return [set(cycle) for cycle in cycles if len(cycle) > 1]


def test_few_modules_import_each_other_in_a_circle() -> None:
    graph = {name: imports_of(path) - {name} for name, path in module_names().items()}
    assert sum(map(len, graph.values())) > 3000
    assert [sorted(cycle) for cycle in find_cycles(graph) if len(cycle) > MAX_CYCLE] == []


def test_cycles_are_found() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set(), "e": {"f"}, "f": {"e", "a"}}
    assert sorted(map(sorted, find_cycles(graph))) == [["a", "b", "c"], ["e", "f"]]


def test_classes_inherit_from_few_others() -> None:
    kinds: set[type] = set()
    for name in module_names():
        if not name.endswith("__main__"):
            module = importlib.import_module(name)
            kinds |= {each for each in vars(module).values() if isinstance(each, type) and each.__module__ == name}
    deep = {}
    for kind in kinds:
        own = [each for each in kind.__mro__ if each.__module__.startswith("ptxkit.")]
        if len(own) > MAX_MRO and not issubclass(kind, BaseException):
            deep[kind.__qualname__] = len(own)
    assert len(kinds) > 800
    assert deep == {}


LIMIT = re.compile(r"(^|_)(MAX|LIMITS?|BUDGETS?|TIMEOUTS?)(_|$)")

ARCHITECTURE = {
    "semantics/mbarrier_state.py": {"MAX_ARRIVALS", "MAX_TX_COUNT"},
}
"""Numbers that are named as limits and are facts of the instruction set, where they are used."""

LIMIT_FILES = {"limits.py", "tensormap_limits.py"}


def is_number(node: ast.expr) -> bool:
    """Returns whether an expression consists of numbers only: `1 << 20`, `-1`, `2.0 if windows else 3.0`, `8, 4`."""
    match node:
        case ast.Constant(value=value):
            return isinstance(value, int | float) and not isinstance(value, bool)
        case ast.BinOp(left=left, right=right) | ast.IfExp(body=left, orelse=right):
            return is_number(left) and is_number(right)
        case ast.UnaryOp(operand=operand):
            return is_number(operand)
        case ast.Tuple(elts=elements):
            return all(is_number(each) for each in elements)
    return False


def limits_of(path: Path) -> Iterator[str]:
    """Yields the limits that a module defines."""
    for node in tree_of(path).body:
        match node:
            case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
                names = [each.id for each in ast.walk(target) if isinstance(each, ast.Name)]
                if is_number(value):
                    yield from (name for name in names if LIMIT.search(name))


def test_limits_are_in_the_limits_of_their_package() -> None:
    found = {path.relative_to(PACKAGE).as_posix(): set(limits_of(path)) for path in MODULES}
    elsewhere = {path: names for path, names in found.items() if names and path.rpartition("/")[2] not in LIMIT_FILES}
    assert elsewhere == ARCHITECTURE
    assert sum(map(len, found.values())) > 150


def test_each_limit_states_its_meaning() -> None:
    silent = []
    for path in MODULES:
        if path.name != "limits.py":
            continue
        body = tree_of(path).body
        for node, following in zip(body, [*body[1:], None], strict=True):
            if isinstance(node, ast.Assign | ast.AnnAssign) and not (
                isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
            ):
                silent.append(f"{path.relative_to(PACKAGE)}:{node.lineno}")
    assert silent == []
