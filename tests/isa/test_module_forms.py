"""The notation for modules: directives, types, versions; and errors in it, with their place."""

from __future__ import annotations

import pytest

from ptxkit.isa import table
from ptxkit.isa.forms import Immediates, Requirement
from ptxkit.isa.loader import load_texts
from ptxkit.isa.module_forms import ModuleForms
from ptxkit.isa.notation import NotationError


def module(text: str) -> ModuleForms:
    return load_texts({"directives.isa": text}).module


def test_a_directive_has_constants_places_neighbors_and_gates() -> None:
    forms = module(
        """
        section "Tuning"
        directive .size nx:#1..{, ny:#{2 4}{, nz:#0..8 step 2}} on entry func
          excludes .other
          gate ptx>=7.8 sm>=90
        directive .other on entry
          with .size
          idle without .size
          once
          first
          last on entry func
        """
    )
    size, other = forms.directives
    assert (size.name, size.places, size.section) == ("size", ("entry", "func"), "Tuning")
    assert [(each.role, each.optional) for each in size.arguments] == [("nx", False), ("ny", True), ("nz", True)]
    assert size.arguments[0].immediates == Immediates(1, None)
    assert size.arguments[1].immediates == Immediates(members=(2, 4))
    assert size.arguments[2].immediates == Immediates(0, 8, 2)
    assert size.gates[0].alternatives == (Requirement((7, 8), 90),)
    assert (size.excludes, size.once, size.first) == (("other",), False, False)
    assert (other.companions, other.idle_without, other.once, other.first) == (("size",), ("size",), True, True)
    assert (size.last, other.last) == ((), ("entry", "func"))


def test_a_type_states_where_variables_arrays_and_vectors_of_it_can_be() -> None:
    (found,) = module(
        """
        datatype .thing in .reg .param arrays in .global vectors in .reg
          initial fields
          fields width height
          symbols near far
        """
    ).types
    assert (found.spaces, found.arrays, found.vectors) == (("reg", "param"), ("global",), ("reg",))
    assert (found.initial, found.fields, found.symbols) == (("fields",), ("width", "height"), ("near", "far"))


def test_versions_targets_options_features_and_pragmas_are_read() -> None:
    forms = module(
        """
        versions 1.0 1.1
        target sm_10 sm_11
        target sm_12 needs ptx>=1.1
        option loud
          excludes quiet
        feature tables "a table of names"
          gate ptx>=1.1
        pragma "unroll" n:#1.. on body
        """
    )
    assert forms.versions == ((1, 0), (1, 1))
    assert [(each.name, bool(each.gates)) for each in forms.targets] == [
        ("sm_10", False),
        ("sm_11", False),
        ("sm_12", True),
    ]
    assert [(each.name, each.excludes) for each in forms.options] == [("loud", ("quiet",))]
    assert [(each.name, each.description) for each in forms.features] == [("tables", "a table of names")]
    assert [(each.name, each.places) for each in forms.pragmas] == [("unroll", ("body",))]


def test_a_chapter_may_contain_both_instructions_and_directives() -> None:
    loaded = load_texts(
        {
            "both.isa": """
            section "One"
            directive .size n:#1.. on entry
              gate ptx>=2.0
            section "Two"
            form nop
              gate ptx>=3.0
            """
        }
    )
    (form,) = loaded.forms["nop"]
    assert [gate.alternatives[0].version for gate in form.gates] == [(3, 0)]
    assert [gate.alternatives[0].version for gate in loaded.module.directives[0].gates] == [(2, 0)]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("directive .a on entry\n  excludes .b", 1, "there is no directive .b"),
        ("versions 1.0\n\ndirective .a [x] on entry", 3, "takes constants only"),
        ("versions 1.0\ndirective .a n:.u32 on entry", 2, "takes constants only"),
        ("directive .a entry", 1, "does not fit here"),
        ("target 90", 1, "does not fit here"),
    ],
)
def test_an_error_is_reported_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(NotationError, match=words) as caught:
        module(text)
    assert caught.value.line == line
    assert "^" in str(caught.value)


def test_every_directive_of_the_project_has_a_section_and_every_target_a_version() -> None:
    forms = table().module
    assert [each.name for each in (*forms.directives, *forms.types, *forms.features) if not each.section] == []
    assert len(forms.versions) == len(set(forms.versions))
    assert list(forms.versions) == sorted(forms.versions)
    assert len({each.name for each in forms.targets}) == len(forms.targets)
