"""The list of known differences."""

from __future__ import annotations

import pickle
import subprocess
from pathlib import Path

import pytest

from ptxkit.isa.harness_module import harness_module
from ptxkit.testing.corpus import tolerated_differences
from ptxkit.testing.differential.campaign import ptxkit_refusal
from ptxkit.testing.corpus.tolerated_differences import KnownDifference, Refusal, known_differences
from ptxkit.testing.oracles.ptxas import installed_ptxas

SHOWN = known_differences()


def module_of(entry: KnownDifference) -> str:
    version, _, target = entry.pair.partition("/")
    major, _, minor = version.partition(".")
    whole = entry.example.startswith(".version")
    return entry.example if whole else harness_module([entry.example], (int(major), int(minor)), target)


@pytest.mark.parametrize("entry", SHOWN, ids=lambda entry: entry.example[:70])
def test_the_example_of_a_difference_shows_it(entry: KnownDifference) -> None:
    module, target = module_of(entry), entry.pair.partition("/")[2]
    ours = ptxkit_refusal(module)
    opcode = entry.example.partition(" ")[0].rstrip(";") if entry.opcode != "*" else ""
    for oracle in installed_ptxas():
        if oracle.release == (entry.ptxas or "13.5"):
            theirs = oracle.refusal(module, target)
            assert (ours is None) != (theirs is None)
            accepts = "ptxkit" if ours is None else "ptxas"
            assert entry.covers(opcode, oracle.release, accepts, ours or theirs or "", entry.example), ours or theirs


def test_the_example_of_a_rejection_is_rejected_for_the_named_reason() -> None:
    refused = [each for each in SHOWN if each.accepts == "ptxas"]
    assert len(refused) > 40
    for entry in refused:
        opcode = entry.example.partition(" ")[0].rstrip(";") if entry.opcode != "*" else ""
        ours = ptxkit_refusal(module_of(entry))
        assert ours is not None
        assert entry.covers(opcode, entry.ptxas or "13.5", "ptxas", ours, entry.example), ours


def test_a_rejection_is_identified_by_the_templates_of_its_message() -> None:
    text = "wmma.load.a.sync.aligned.row.m8n8k4.f64 {%v2s64_1.y}, [%b64_1];"
    refused = ptxkit_refusal(harness_module([text], (9, 5), "sm_100a"))
    assert refused is not None

    def is_covered(named: str, **fields: str) -> bool:
        return KnownDifference("ptxas", "why", refusal=named, fields=fields).covers("wmma", "13.5", "ptxas", refused)

    assert is_covered("PTX104")
    assert is_covered("PTX104", operand="1")
    assert is_covered("operand_reasons.TYPE_DIFFERS", type="f64", actual="s64")
    assert not is_covered("PTX104", operand="2")
    assert not is_covered("PTX103")
    assert not is_covered("operand_reasons.TYPE_DIFFERS", type="f32")
    assert not is_covered("operand_reasons.IS_SUM")
    assert not KnownDifference("ptxas", "why", refusal="PTX104").covers("wmma", "13.5", "ptxas", str(refused))


def test_a_rejection_keeps_its_fields_between_processes() -> None:
    refused = ptxkit_refusal(harness_module(["add.u32 1, 2;"], (9, 5), "sm_100a"))
    assert isinstance(refused, Refusal)
    again = pickle.loads(pickle.dumps(refused))
    assert again == refused
    assert again.statements == refused.statements != ()


def test_every_known_difference_has_an_example() -> None:
    assert all(each.example and each.pair for each in SHOWN)


def asked_for_a_program(entry: KnownDifference, folder: Path, *options: str) -> int:
    newest, path = installed_ptxas()[0], folder / "k.ptx"
    path.write_text(module_of(entry))
    target = entry.pair.partition("/")[2]
    command = [str(newest.path), f"-arch={target}", *options, str(path), "-o", str(folder / "out")]
    return subprocess.run(command, capture_output=True, check=False).returncode


def test_differences_that_depend_on_the_invocation_of_ptxas_do_so(tmp_path: Path) -> None:
    (undefined,) = (each for each in SHOWN if each.refusal == "PTX802")
    assert asked_for_a_program(undefined, tmp_path) != 0
    (unified,) = (each for each in SHOWN if "--compile-only" in each.ptxas_message)
    assert asked_for_a_program(unified, tmp_path) != 0
    assert asked_for_a_program(unified, tmp_path, "-c") == 0


def test_every_known_difference_has_a_reason() -> None:
    assert all(len(each.reason) > 20 for each in known_differences())


def test_a_difference_is_covered_only_where_all_its_conditions_hold() -> None:
    entry = KnownDifference("ptxkit", "why", ptxas="13.0", opcode="atom.*", ptxas_message="status -11")
    assert entry.covers("atom.add.u32", "13.0", "ptxkit", "ends with status -11")
    assert not entry.covers("red.add.u32", "13.0", "ptxkit", "ends with status -11")
    assert not entry.covers("atom.add.u32", "13.5", "ptxkit", "ends with status -11")
    assert not entry.covers("atom.add.u32", "13.0", "ptxas", "ends with status -11")
    assert not entry.covers("atom.add.u32", "13.0", "ptxkit", "syntax error")


def test_a_difference_may_be_restricted_to_some_operands() -> None:
    entry = KnownDifference("ptxas", "why", text=r"\[\S+, texture_, ")
    assert entry.covers("tex.1d", "13.5", "ptxas", "", "tex.1d.v4.f32.f32 %v4f32_1, [%b64_1, texture_, {%f32_1}];")
    assert not entry.covers("tex.1d", "13.5", "ptxas", "", "tex.1d.v4.f32.f32 %v4f32_1, [texture_, {%f32_1}];")
    assert not entry.covers("tex.1d", "13.5", "ptxas", "")


@pytest.mark.parametrize(
    "entry",
    [
        'accepts = "nobody"\nreason = "x"',
        'accepts = "ptxas"',
        'accepts = "ptxas"\nreason = "x"\nrelease = "1"',
        'accepts = "ptxas"\nreason = "x"\nptxas_message = "PTX104"',
        'accepts = "ptxas"\nreason = "x"\nrefusal = "PTX999"',
        'accepts = "ptxkit"\nreason = "x"\nrefusal = "PTX104"',
    ],
)
def test_a_wrong_entry_is_reported_with_its_file_and_number(
    entry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "isa").mkdir()
    (tmp_path / "isa" / "tolerated.toml").write_text(f"[[difference]]\n{entry}\n")
    monkeypatch.setattr(tolerated_differences, "grammar_path", lambda: tmp_path)
    with pytest.raises(ValueError, match=r"tolerated\.toml: difference 1: "):
        known_differences.__wrapped__()
