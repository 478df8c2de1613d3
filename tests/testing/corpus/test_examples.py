"""Examples are restored from their folder."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import ptxkit.testing
from ptxkit.emulator import TensorMapArgument
from ptxkit.testing.generators import litmus
from ptxkit.testing.oracles import assertions
from ptxkit.testing.fuzz import example_replay
from ptxkit.testing.oracles import rules_vs_emulator
from ptxkit.testing.pipelines.pipeline import GeneratedPipeline, random_pipeline
from ptxkit.device_runs.device_launch import DeviceLaunch
from ptxkit.testing.corpus.examples import Example, ExampleError, build_example, failure_cause, load_example
from ptxkit.testing.generators.litmus import Litmus, litmus_test
from tests.testing.oracles.test_assertions import DOUBLE

DATA = np.arange(64, dtype=np.float32).reshape(4, 16)


def test_texts_launch_and_options_are_restored(tmp_path: Path) -> None:
    arguments = (
        DATA,
        3,
        0.5,
        np.uint16(7),
        b"\1\2",
        TensorMapArgument.tiled(DATA, box=(16, 2), swizzle=64),
        [DATA, DATA],
    )
    launch = DeviceLaunch("k", (2, 1), 64, arguments, cluster=2, shared=512)
    example = Example("assert_same_kernel", ("first", "second \udcff"), launch, {"on": "machine"}, "said", "why")
    again = load_example(example.save(tmp_path / "kept"))
    assert (again.oracle, again.texts, again.options, again.message, again.cause) == (
        "assert_same_kernel",
        ("first", "second \udcff"),
        {"on": "machine"},
        "said",
        "why",
    )
    there = again.launch
    assert there is not None
    assert (there.name, there.grid, there.block, there.cluster, there.shared) == ("k", (2, 1), 64, 2, 512)
    array, whole, half, short, octets, tensor, entries = there.arguments
    assert array.dtype == np.float32
    assert (array == DATA).all()
    assert (whole, half, octets) == (3, 0.5, b"\1\2")
    assert short.dtype == np.uint16
    assert tensor.array is array
    assert tensor.fields == arguments[5].fields
    assert entries[0] is entries[1] is array


def test_a_folder_is_overwritten(tmp_path: Path) -> None:
    Example("assert_lints", ("one", "two")).save(tmp_path)
    Example("assert_lints", ("three",)).save(tmp_path)
    assert load_example(tmp_path).texts == ("three",)


@pytest.mark.parametrize(
    ("document", "printed"),
    [("{", "holds no example"), ("[]", "holds no example"), ('{"oracle": "a", "options": {}}', r"no kernel\.ptx")],
)
def test_a_folder_without_an_example_is_reported(tmp_path: Path, document: str, printed: str) -> None:
    (tmp_path / "launch.json").write_text(document)
    with pytest.raises(ExampleError, match=printed):
        load_example(tmp_path)


def test_an_argument_that_cannot_be_stored_is_reported(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="of type object cannot be kept"):
        Example("on_machine", (DOUBLE,), DeviceLaunch("double", 1, 32, (object(),))).save(tmp_path)


def test_an_example_is_executed_again() -> None:
    example_replay.run_oracle(Example("assert_round_trips", (DOUBLE,)))
    with pytest.raises(AssertionError, match="PTX401 is not found"):
        example_replay.run_oracle(Example("assert_lints", (DOUBLE,), None, {"codes": ["PTX401"]}))
    with pytest.raises(ExampleError, match="there is no oracle `os`"):
        example_replay.run_oracle(Example("os", (DOUBLE,)))
    with pytest.raises(ExampleError, match="cannot be loaded"):
        example_replay.run_oracle(Example("nobody.there:function", (DOUBLE,)))


def test_a_replay_calls_no_function_that_only_the_folder_names(tmp_path: Path) -> None:
    """Not any function that the folder names: `os:system` would run the text as a command."""
    trace = tmp_path / "called"
    harmful = f"touch {trace}"
    for oracle in ("os:system", "subprocess:getoutput", "ptxkit.testing.oracles.assertions:compile_at_level", "cubin_of", ""):
        with pytest.raises(ExampleError, match="no other is called unasked"):
            example_replay.replay(load_example(Example(oracle, (harmful,)).save(tmp_path / "kept")))
        with pytest.raises(ExampleError, match="no other is called unasked"):
            example_replay.replay(load_example(Example(oracle, (harmful,)).save(tmp_path / "kept")), ["other.module:judge"])
    assert not trace.exists()
    own = Example("tests.testing.fuzz.planted:judge", ("// fail",))
    with pytest.raises(AssertionError, match="it fails with 7 characters"):
        example_replay.replay(own, [own.oracle])


def test_every_built_in_oracle_is_available() -> None:
    """A replay calls by name the oracles that the campaigns and the plugin of pytest store."""
    assert len(example_replay.BUILT_IN) == 11
    for name in example_replay.BUILT_IN:
        assert callable(example_replay._load_oracle(name))
    assert {name for name in (*assertions.__all__, *ptxkit.testing.__all__) if name.startswith("assert_")} <= set(
        example_replay.BUILT_IN
    )


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("name", ["launch.json", "kernel.ptx", "argument_0.npy"])
def test_a_pipe_in_place_of_a_file_is_reported(tmp_path: Path, name: str) -> None:
    launch = DeviceLaunch("k", 1, 32, (DATA,))
    Example("on_machine", (DOUBLE,), launch).save(tmp_path)
    (tmp_path / name).unlink()
    os.mkfifo(tmp_path / name)
    with pytest.raises(ExampleError, match=r"is not a (regular )?file"):
        load_example(tmp_path)


@pytest.mark.parametrize(
    "document",
    [
        "[" * 100_000,
        '{"oracle": ["os:system"], "options": {}}',
        '{"oracle": "on_machine", "options": []}',
        '{"oracle": "on_machine", "options": {}, "launch": {"arguments": [{"number": 1e999, "type": "<i8"}]}}',
        f'{{"oracle": "on_machine", "options": {{"x": {"9" * 5000}}}}}',
        '{"x": "' + "y" * (1 << 20) + '"}',
    ],
    ids=["deep", "oracle", "options", "infinite", "digits", "long"],
)
def test_a_document_that_attacks_the_reader_is_reported(tmp_path: Path, document: str) -> None:
    (tmp_path / "kernel.ptx").write_text(DOUBLE)
    (tmp_path / "launch.json").write_text(document)
    with pytest.raises(ExampleError, match=r"launch\.json"):
        load_example(tmp_path)


def kept_again(oracle: str, folder: Path, **given: object) -> None:
    """Asserts that an argument of an oracle is stored, read, and rejected again."""
    build_example(oracle, given, AssertionError("x")).save(folder)
    example_replay.run_oracle(load_example(folder))


def test_pipelines_are_generated_again_with_their_faults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[GeneratedPipeline] = []

    def judge(source: GeneratedPipeline) -> None:
        asked.append(source)

    monkeypatch.setattr(rules_vs_emulator, "assert_verdicts_agree", judge)
    correct = random_pipeline(Random(3))
    broken = correct.with_fault(0)
    for each in (correct, broken):
        kept_again("assert_verdicts_agree", tmp_path, source=each)
    assert asked == [correct, broken]


def test_litmus_tests_are_generated_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Litmus, int]] = []
    monkeypatch.setattr(litmus, "assert_litmus", lambda test, seeds: asked.append((test, seeds)))
    wanted = litmus_test(Random(1).randrange)
    kept_again("assert_litmus", tmp_path, test=wanted, seeds=3)
    assert asked == [(wanted, 3)]
    assert asked[0][0].module() == wanted.module()


def test_text_with_its_launch_is_checked_by_both_verdicts_again(tmp_path: Path) -> None:
    launch = DeviceLaunch("double", 1, 32, (np.arange(32, dtype=np.uint32),))
    kept_again("assert_verdicts_agree", tmp_path, source=DOUBLE, launch=launch)


def test_an_example_that_cannot_be_generated_again_is_reported() -> None:
    recipe = {"class": "Pipeline", "fields": {"plan": 3, "nothing": 4}}
    with pytest.raises(ExampleError, match="cannot be made again"):
        example_replay.run_oracle(Example("assert_verdicts_agree", (DOUBLE,), None, {"made": {"source": recipe}}))


def test_messages_can_be_stored_for_any_text() -> None:
    example = build_example("assert_survives", {"source": DOUBLE}, AssertionError("\udcff is wrong"))
    assert (example.message, example.cause) == ("\\udcff is wrong", "\\udcff is wrong")


def raise_and_catch(error: Exception) -> Exception:
    try:
        raise error
    except Exception as caught:
        return caught


def test_a_cause_is_the_same_for_other_numbers_and_names() -> None:
    first = raise_and_catch(AssertionError("argument 0: 31 bytes differ, first in element 1: machine np.uint32(2), GPU 3\ntext"))
    other = raise_and_catch(AssertionError("argument 1: 4 bytes differ, first in element 17: machine np.uint32(0), GPU 5\nmore"))
    assert (
        failure_cause(first) == failure_cause(other) == "argument # # bytes differ, first in element # machine # GPU #"
    )
    assert failure_cause(raise_and_catch(KeyError("x"))) == failure_cause(raise_and_catch(KeyError("y"))) == "KeyError"


def test_a_cause_names_a_location_of_this_package_wherever_the_folders_are() -> None:
    with pytest.raises(ExampleError) as caught:
        load_example(Path("/no/such/folder"))
    assert failure_cause(caught.value) == "ExampleError at examples.py:load_example"
    text = "def fails():\n    raise KeyError('x')\ntry:\n    fails()\nexcept KeyError as caught:\n    error = caught\n"
    for name, place in (("mine", ""), ("ptxkit_of_mine", ""), ("ptxkit.rules", " at mine.py:fails")):
        known: dict[str, Any] = {"__name__": name}
        exec(compile(text, "/home/me/ptxkit/mine.py", "exec"), known)
        assert failure_cause(known["error"]) == f"KeyError{place}"
