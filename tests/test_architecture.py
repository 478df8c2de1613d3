"""The dependencies between the packages, determined from the imports."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.python_sources import nodes_of

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "ptxkit"

BASE = {
    *("byte_source", "compile_cache", "content_store", "elf", "installation", "limits", "resources", "small_files"),
    *(
        "diagnostic_groups",
        "diagnostics",
        "exit_status",
        "fast_dataclasses",
        "gc_control",
        "model",
        "number_runs",
        "processes",
        "results",
        "source",
    ),
    *(
        "mangled_names",
        "number_runs",
        "cuda_programs",
        "spellings",
        "refusal",
        "tensormap_limits",
        "untrusted_text",
        "user_code",
    ),
}
"""Plain data that every package may import."""

MAY_KNOW = {
    "syntax": set(),
    "isa": {"syntax"},
    "semantics": {"syntax", "isa"},
    "validate": {"syntax", "isa", "semantics"},
    "analysis": {"syntax", "isa", "semantics", "validate"},
    "rules": {"syntax", "isa", "semantics", "validate", "analysis"},
    "settings": {"isa", "rules"},
    "module_overrides": {"syntax", "settings"},
    "suppressions": {"syntax", "rules"},
    "baseline": set(),
    "inputs": set(),
    "linter": {"syntax", "isa", "validate", "analysis", "rules", "settings", "module_overrides", "suppressions"},
    "fixes": {"syntax", "isa", "analysis", "linter", "settings", "baseline"},
    "lint_server": set(),
    "batch": {"lint_server", "syntax", "isa", "validate", "rules", "settings", "baseline", "linter", "fixes"},
    "file_survey": {"syntax", "isa", "validate", "analysis", "settings", "linter"},
    "contract_survey": {"syntax", "validate", "analysis", "rules", "settings", "linter", "file_survey"},
    "view_builder": {"syntax", "analysis", "linter", "settings"},
    "verifier": {
        *("syntax", "isa", "semantics", "analysis", "module_overrides", "settings", "linter", "contract_survey"),
        "emulator",
    },
    "report": {"baseline"},
    "emulator": {"syntax", "isa", "semantics"},
    "memory_model": {"syntax", "isa", "semantics"},
    "prebuild_cache": {"syntax", "isa"},
    "kernel_model": {"syntax", "linter", "contract_survey"},
    "device": {"syntax", "isa", "kernel_model"},
    "device_runs": {"syntax", "isa", "emulator", "device"},
    "stress": {"syntax", "isa", "analysis", "emulator", "device", "device_runs"},
    "build": {"syntax", "isa", "kernel_model"},
    "kernels": {"build", "device"},
    "lsp": {
        "syntax",
        "isa",
        "semantics",
        "validate",
        "analysis",
        "rules",
        "settings",
        "suppressions",
        "baseline",
        "fixes",
        "linter",
        "report",
    },
    "cli": {
        "syntax",
        "isa",
        "rules",
        "settings",
        "suppressions",
        "module_overrides",
        "baseline",
        "inputs",
        "fixes",
        "batch",
        "lint_server",
        "linter",
        "file_survey",
        "contract_survey",
        "report",
        "memory_model",
        "verifier",
        "view_builder",
        "emulator",
        "device",
        "device_runs",
        "stress",
    },
    "ptxas_wrapper": {"rules", "settings", "batch", "lint_server", "report", "cli"},
    "resident_process": {"batch", "lint_server", "cli", "ptxas_wrapper"},
    "compile_hooks": {"batch", "baseline", "report"},
    "__init__": {"syntax", "linter", "device", "compile_hooks"},
    "__main__": {"cli"},
}
"""Package -> the packages that it may import. `testing` may import all of them."""

DOORS = {
    "build/launching.py": {"device"},
    "build/emulation.py": {"emulator", "device"},
    "cli/compile.py": {"device"},
    "cli/compile_inputs.py": {"device"},
    "cli/device_errors.py": {"device"},
    "cli/fuzz.py": {"testing"},
    "cli/watch.py": {"compile_hooks"},
    "cli/gpu_run.py": {"device", "device_runs"},
    "cli/lsp.py": {"lsp"},
}
"""File -> packages of the same or a higher level that it may import: it is loaded, or its functions run, at a
launch."""

ONLY_IN = {
    "cuda": {"device", "compile_hooks"},
    "hypothesis": {"testing"},
    "pygls": {"lsp"},
    "pytest": {"testing"},
    "click": {"cli"},
    "rich": {"report"},
    "lark": {"syntax", "isa"},
    "lsprotocol": {"lsp"},
    "lz4": {"inputs"},
    "zstandard": {"inputs"},
    "torch": {"compile_hooks"},
    "cupy": {"compile_hooks"},
}
"""Foreign package -> the only packages that may import it."""

MODULES = sorted(PACKAGE.rglob("*.py"))

DOTTED = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)+")


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


class Read(NamedTuple):
    """The properties of a module for the tests, from one traversal, because one over all modules costs seconds."""

    imports: tuple[tuple[str, str | None, int], ...]
    """(module, name or None, line) of each import, including those inside functions and under TYPE_CHECKING."""
    strings: tuple[tuple[str, int], ...]
    """(value, line) of each string that could name a module."""
    prints: tuple[int, ...]
    """The lines that call `print`."""


@cache
def read(path: Path) -> Read:
    imports: list[tuple[str, str | None, int]] = []
    strings: list[tuple[str, int]] = []
    prints: list[int] = []
    for node in nodes_of(path):
        match node:
            case ast.Import(names=names):
                imports += [(alias.name, None, node.lineno) for alias in names]
            case ast.ImportFrom(module=module, names=names):
                assert node.level == 0, f"{path}:{node.lineno}: relative import"
                imports += [(module or "", alias.name, node.lineno) for alias in names]
            case ast.Constant(value=str(value)) if DOTTED.fullmatch(value):
                strings.append((value, node.lineno))
            case ast.Call(func=ast.Name(id="print")):
                prints.append(node.lineno)
    return Read(tuple(imports), tuple(strings), tuple(prints))


def target_room(module: str, name: str | None) -> str | None:
    """Returns the package that an import loads; None for a foreign package or a public name of `ptxkit` itself."""
    parts = module.split(".")
    if parts[0] != "ptxkit":
        return None
    if len(parts) > 1:
        return parts[1]
    reached = name or ""
    return reached if (PACKAGE / reached).is_dir() or (PACKAGE / f"{reached}.py").is_file() else None


def allowed_in(path: Path) -> set[str]:
    """Returns the packages that a module may import."""
    here = room(path)
    if here in BASE:
        return BASE
    assert here in MAY_KNOW, f"{here} is a new package: add its imports to MAY_KNOW"
    return BASE | MAY_KNOW[here] | {here} | DOORS.get(path.relative_to(PACKAGE).as_posix(), set())


def test_a_package_imports_only_the_packages_below_it() -> None:
    wrong = [
        f"{path}:{line}: {room(path)} imports {module}"
        for path in MODULES
        if room(path) != "testing"
        for allowed in [allowed_in(path)]
        for module, name, line in read(path).imports
        if (reached := target_room(module, name)) is not None and reached not in allowed
    ]
    assert not wrong, "\n".join(wrong)


def test_a_lazy_import_is_executed_when_a_function_runs() -> None:
    after = tuple({f"ptxkit.{each}" for rooms in DOORS.values() for each in rooms})
    script = f"import sys, ptxkit.build; print([name for name in sys.modules if name.startswith({after})])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


def test_a_foreign_package_is_imported_only_by_its_packages() -> None:
    wrong = [
        f"{path}:{line}: {module} belongs in {sorted(ONLY_IN[module.split('.')[0]])}"
        for path in MODULES
        for module, _, line in read(path).imports
        if room(path) not in ONLY_IN.get(module.split(".")[0], {room(path)})
    ]
    assert not wrong, "\n".join(wrong)


def test_no_foreign_package_is_imported_by_a_string() -> None:
    wrong = [
        f"{path}:{line}: {value!r}"
        for path in MODULES
        for value, line in read(path).strings
        if room(path) not in ONLY_IN.get(value.split(".")[0], {room(path)})
    ]
    assert not wrong, "\n".join(wrong)


def test_nothing_private_is_imported_from_another_package() -> None:
    wrong = [
        f"{path}:{line}: {name or module} is private to {reached}"
        for path in MODULES
        for module, name, line in read(path).imports
        if (reached := target_room(module, name)) is not None and reached != room(path)
        for part in [*module.split("."), name or ""]
        if part.startswith("_") and not part.startswith("__")
    ]
    assert not wrong, "\n".join(wrong)


def test_only_the_command_line_and_the_terminal_renderer_print() -> None:
    wrong = [f"{path}:{line}" for path in MODULES if room(path) not in {"cli", "report"} for line in read(path).prints]
    assert not wrong, "\n".join(wrong)


def test_no_expression_repeats_a_group_possessively() -> None:
    """Python 3.11.0 to 3.11.4 lose matches of `(?:...)*+` whose last attempt fails half-way; `(?>(?:...)*)` is safe."""
    texts = [*MODULES, *sorted((ROOT / "grammars").rglob("*.lark"))]
    wrong = [
        f"{path}:{number}: {line.strip()}"
        for path in texts
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if re.search(r"\)[*+?]\+", line) and not line.lstrip().startswith("#")
    ]
    assert not wrong, "\n".join(wrong)


def loaded_after(code: str) -> set[str]:
    """Returns the top-level names in `sys.modules` of a fresh interpreter that ran `code`."""
    script = f"{code}\nimport sys\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(done.stdout.split())


def test_importing_ptxkit_loads_no_dependency() -> None:
    assert loaded_after("import ptxkit").isdisjoint({"lark", "click", "rich", "numpy", "cuda", "hypothesis", "pytest"})


def test_importing_a_public_name_works_and_still_loads_no_dependency_it_does_not_need() -> None:
    loaded = loaded_after("from ptxkit import Diagnostic, Severity, lint, parse")
    assert "ptxkit" in loaded
    assert loaded.isdisjoint({"click", "rich", "numpy", "cuda", "hypothesis", "pytest"})


def test_every_public_name_exists() -> None:
    import ptxkit

    for name in ptxkit.__all__:
        assert getattr(ptxkit, name) is not None
    assert set(ptxkit.__all__) <= set(dir(ptxkit))


def test_a_missing_name_is_an_attribute_error() -> None:
    import ptxkit

    with pytest.raises(AttributeError, match="no attribute 'lnt'"):
        ptxkit.lnt  # noqa: B018


def test_no_two_packages_import_each_other() -> None:
    knows: dict[str, set[str]] = {}
    for path in MODULES:
        reached = {target_room(module, name) for module, name, _ in read(path).imports}
        knows.setdefault(room(path), set()).update(each for each in reached if each is not None and each not in BASE)
    both = [(one, other) for one in knows for other in knows[one] if one < other and one in knows.get(other, ())]
    assert len(knows) > 30
    assert both == []
