"""All possible changes of an instruction: each operand, element, register and modifier in turn."""

from __future__ import annotations

from random import Random

from ptxkit.isa import table
from ptxkit.isa.instance_generator import InstructionInstance, instances
from ptxkit.testing.differential.campaign import VERSION_TARGETS, FormWorkUnit, all_forms, run_form_unit
from ptxkit.testing.differential.exhaustive_sweep import enumerate_changes
from ptxkit.testing.oracles.ptxas import installed_ptxas


def one(name: str) -> InstructionInstance:
    known = table()
    (made, *_) = instances(known.forms(name)[0], known.value_gates, Random(5), 1)
    return made


def test_a_sweep_changes_every_part_once() -> None:
    instance = InstructionInstance("mad.lo.u32 %u32_1, [%b64_2, {%s32_1, 3}], %u32_3;", one("mad").match)
    found = dict(enumerate_changes(instance, ["sat"]))
    assert instance.text not in found
    assert (
        found["mad.lo.u32 %u32_1, [%b64_2, {%s32_1, callee}], %u32_3;"]
        == "in operand 2: in operand 2: operand 2 exchanged"
    )
    assert found["mad.lo.u32 %u32_1, [%b64_2, {%s32_1}], %u32_3;"] == "in operand 2: in operand 2: 2 dropped"
    assert found["mad.lo.u32 %u32_1, [%b64_2, {%f64_1, 3}], %u32_3;"] == "register of another type in 2"
    assert found["mad.lo.u32 %u32_1, [%b64_2, {%s32_1, 3}];"] == "operand 3 dropped"
    assert found["mad.lo.u32 [%u32_1], [%b64_2, {%s32_1, 3}], %u32_3;"] == "operand 1 wrapped"
    assert found["mad.u32.lo %u32_1, [%b64_2, {%s32_1, 3}], %u32_3;"] == "modifiers swapped"
    assert found["mad.lo.sat.u32 %u32_1, [%b64_2, {%s32_1, 3}], %u32_3;"] == "modifier added"
    assert found["mad.lo.u32.u32 %u32_1, [%b64_2, {%s32_1, 3}], %u32_3;"] == "modifier doubled"


def test_a_sweep_is_the_same_each_time_and_repeats_no_text() -> None:
    texts = [text for text, _ in enumerate_changes(one("atom"), ["add", "or"])]
    assert texts == [text for text, _ in enumerate_changes(one("atom"), ["add", "or"])]
    assert len(texts) == len(set(texts)) > 500


def test_a_share_contains_the_part_of_a_sweep_that_it_names() -> None:
    place = next(place for place, form in enumerate(all_forms()) if form.name == "bfind")
    whole, part = (
        run_form_unit(FormWorkUnit(VERSION_TARGETS[0], (place,), 1, 9, sweep), installed_ptxas()[:1])
        for sweep in (1.0, 0.1)
    )
    assert whole.probe_count > 300
    assert 0 < part.probe_count < 0.3 * whole.probe_count


def test_a_share_sweeps_nothing_that_its_target_lacks() -> None:
    place = next(place for place, form in enumerate(all_forms()) if form.file == "tcgen05.isa")
    assert run_form_unit(FormWorkUnit(VERSION_TARGETS[0], (place,), 1, 9, 1.0), installed_ptxas()[:1]).probe_count == 1
