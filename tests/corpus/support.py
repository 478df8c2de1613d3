"""Shared by the tests of corpus/: its files, their expectations, and ptxas from the package index."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ptxkit import Diagnostic, Severity
from ptxkit.diagnostics.catalogue import ptx9xx
from ptxkit.linter import lint_source
from ptxkit.model.transfer import KernelTransfers
from ptxkit.settings.model import ConfigLayer, Settings
from ptxkit.source import SourceFile
from ptxkit.testing.oracles.ptxas import probe_ptxas

CORPUS = Path(__file__).resolve().parents[2] / "corpus"
_EXPECTATION = re.compile(r"// expect(?:\((strict|notes)\))?: (PTX\d{3})\s*$")


@dataclass(frozen=True, slots=True)
class CompilerFile:
    """One entry of corpus/compilers/manifest.toml."""

    path: Path
    kind: str
    accepted_by_ptxas: bool

    @property
    def name(self) -> str:
        return str(self.path.relative_to(CORPUS / "compilers"))


@cache
def compiler_files() -> tuple[CompilerFile, ...]:
    manifest = tomllib.loads((CORPUS / "compilers" / "manifest.toml").read_text())
    return tuple(
        CompilerFile(CORPUS / "compilers" / entry["path"], entry["kind"], entry["ptxas"]) for entry in manifest["file"]
    )


def more_found_in(path: Path, code: str) -> tuple[Diagnostic, ...]:
    """The findings of one code in a file, with notes; callers search for no others.

    The policy is `strict`, but `isa` for PTX907, whose proofs do not examine what `strict` demands.
    """
    policy = "isa" if code == ptx9xx.INEFFECTIVE_SYNC else "strict"
    settings = Settings.of([ConfigLayer("test", policy=policy, notes=True, select=(code,))])
    return lint_source(SourceFile(path.name, path.read_text()), settings).diagnostics


def fixtures() -> list[Path]:
    return sorted((CORPUS / "rules").glob("PTX*.ptx"))


def non_errors() -> list[Path]:
    return sorted((CORPUS / "rules").glob("silent_*.ptx"))


def kernels() -> list[Path]:
    return sorted((CORPUS / "kernels").glob("*.ptx"))


def seed_programs() -> list[Path]:
    return sorted((CORPUS / "seeds").glob("*.ptx"))


SEED_UNITS = {
    "plain_staging.sm_80": {"plain"},
    "group_copy.sm_80": {"LDGSTS"},
    "group_copy.sm_90a": {"LDGSTS"},
    "barrier_copy.sm_80": {"LDGSTS"},
    "barrier_copy.sm_90a": {"TMA"},
    "split_barrier.sm_90a": {"plain"},
    "producer_consumer.sm_90a": {"plain"},
    "pipeline_one_stage.sm_90a": {"LDGSTS"},
    "pipeline_two_stages.sm_90a": {"LDGSTS"},
    "pipeline_roles.sm_90a": {"LDGSTS"},
    "bulk_both_ways.sm_90a": {"TMA"},
    "tensor_tile.sm_90a": {"TMA, tensor map"},
    "multicast.sm_90a": {"TMA"},
    "launch_sized.sm_80": {"plain"},
}
"""The instructions that copy in each seed program, in CUDA C++ and with the builder."""


def units(kernels: Sequence[KernelTransfers]) -> set[str]:
    """Returns the units that move data in a module."""
    return {str(transfer.unit) for kernel in kernels for transfer in kernel.transfers}


def expectations(text: str, asked: str | None = None) -> Counter[tuple[str, int]]:
    """Yields (code, line) of every `// expect: PTXnnn` comment, or `// expect(strict): PTXnnn` if `strict` is
    requested."""
    found = ((_EXPECTATION.search(line), number) for number, line in enumerate(text.splitlines(), 1))
    return Counter((match[2], number) for match, number in found if match and match[1] == asked)


def places(diagnostics: tuple[Diagnostic, ...], *severities: Severity) -> Counter[tuple[str, int]]:
    """Returns (code, line of the primary span) of the diagnostics that have one of these severities."""
    return Counter(
        (each.code, each.source.position(each.span.start)[0]) for each in diagnostics if each.severity in severities
    )


def stated_codes(diagnostics: tuple[Diagnostic, ...], *severities: Severity) -> list[str]:
    """Returns one line for each diagnostic, for the message of a failed test."""
    return [
        f"{each.source.position(each.span.start)[0]}: {each.code} {each.message}"
        for each in diagnostics
        if each.severity in severities
    ]


@cache
def ptxas() -> Path:
    """Returns the assembler of the development dependency `nvidia-cuda-nvcc`; never one that is installed on the
    machine."""
    spec = importlib.util.find_spec("nvidia")
    folders = spec.submodule_search_locations if spec and spec.submodule_search_locations else []
    for folder in folders:
        for program in Path(folder).glob("cu*/bin/ptxas"):
            return program
    raise FileNotFoundError("ptxas is missing: install the development dependencies (`sh scripts/test` does)")


def assemble(path: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Compiles a file for the target it names."""
    command = [str(ptxas()), f"-arch={_target(path.read_text())}", str(path), "-o", str(folder / "out.cubin")]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def refusals(texts: Mapping[str, str]) -> dict[str, str]:
    """Returns name and first message of each text that ptxas rejects; it checks them and generates nothing.

    All of a target are checked together, in two processes, because a process for each is slow: a text that is rejected
    with others is checked again, separately.
    """
    asked = probe_ptxas(ptxas())
    of_target: dict[str, list[str]] = {}
    for name, text in texts.items():
        of_target.setdefault(_target(text), []).append(name)
    found: dict[str, str] = {}
    for target, names in of_target.items():
        hidden = [texts[name].replace(".visible ", "") for name in names]
        for place in asked.refusals(hidden, target):
            message = asked.refusal(texts[names[place]], target)
            if message is not None:
                found[names[place]] = message
    return found


def _target(text: str) -> str:
    found = re.search(r"^\.target\s+(\w+)", text, re.MULTILINE)
    assert found is not None, "a text names no target"
    return found[1]
