"""The combination of levels of settings: the codes that are shown, and their severities."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.diagnostics import Severity
from ptxkit.settings.globs import matches
from ptxkit.settings.model import DEFAULT, ConfigLayer, Settings
from ptxkit.settings.parsers import known_codes


def is_enabled(*levels: ConfigLayer, path: str | None = None) -> set[str]:
    settings = Settings.of(levels, path)
    return {code for code in known_codes() if settings.is_enabled(code)}


def test_by_default_all_codes_are_shown_except_optional_ones() -> None:
    assert is_enabled() == {code for code in known_codes() if not code.startswith("PTX9")}
    assert is_enabled(ConfigLayer("x", notes=True)) == set(known_codes())
    assert all(DEFAULT.is_enabled(code) == (code in is_enabled()) for code in known_codes())


def test_select_keeps_the_selected_codes_and_those_without_which_nothing_is_checked() -> None:
    assert is_enabled(ConfigLayer("x", select=("PTX40",))) == {"PTX100", "PTX101"} | {
        c for c in known_codes() if c[:5] == "PTX40"
    }


def test_the_longest_prefix_decides_and_of_equal_ones_the_ignored_one() -> None:
    refined = is_enabled(ConfigLayer("x", ignore=("PTX4",), extend_select=("PTX401",)))
    assert ("PTX401" in refined, "PTX403" in refined, "PTX501" in refined) == (True, False, True)
    assert "PTX401" not in is_enabled(ConfigLayer("x", select=("PTX401",), ignore=("PTX401",)))


def test_a_later_level_refines_an_earlier_one_and_starts_again_with_select() -> None:
    file = ConfigLayer("file", select=("PTX4",), ignore=("PTX401",))
    assert "PTX401" not in is_enabled(file, ConfigLayer("options", extend_select=("PTX5",)))
    assert "PTX403" in is_enabled(file, ConfigLayer("options", extend_select=("PTX5",)))
    assert "PTX401" in is_enabled(file, ConfigLayer("options", extend_select=("PTX401",)))
    assert is_enabled(file, ConfigLayer("options", select=("PTX5",))) == is_enabled(
        ConfigLayer("options", select=("PTX5",))
    )


def test_optional_codes_can_be_selected_and_one_of_them_ignored() -> None:
    assert "PTX903" in is_enabled(ConfigLayer("x", extend_select=("PTX9",)))
    assert "PTX903" not in is_enabled(ConfigLayer("file", ignore=("PTX903",)), ConfigLayer("options", notes=True))
    assert "PTX901" in is_enabled(ConfigLayer("file", ignore=("PTX903",)), ConfigLayer("options", notes=True))


def test_syntax_errors_are_shown_even_if_ignored() -> None:
    assert {"PTX100", "PTX101"} == is_enabled(ConfigLayer("x", ignore=("PTX",)))


def test_a_severity_is_that_of_the_longest_prefix_and_then_of_the_last_level() -> None:
    levels = [
        ConfigLayer("file", severity=(("PTX4", Severity.NOTE), ("PTX401", Severity.WARNING))),
        ConfigLayer("options", severity=(("PTX4", Severity.WARNING),)),
    ]
    settings = Settings.of(levels)
    assert settings.severity("PTX403", Severity.ERROR) is Severity.WARNING
    assert Settings.of(levels[:1]).severity("PTX403", Severity.ERROR) is Severity.NOTE
    assert Settings.of(levels[:1]).severity("PTX401", Severity.ERROR) is Severity.WARNING
    assert settings.severity("PTX501", Severity.ERROR) is Severity.ERROR


def test_a_severity_does_not_lower_a_syntax_error() -> None:
    settings = Settings.of([ConfigLayer("x", severity=(("PTX", Severity.NOTE),))])
    assert settings.severity("PTX101", Severity.ERROR) is Severity.ERROR
    assert settings.severity("PTX102", Severity.ERROR) is Severity.NOTE


def test_the_last_level_with_a_value_counts() -> None:
    low = ConfigLayer("file", policy="strict", target="sm_90", ptx_version=(8, 0), baseline="a.json")
    both = Settings.of([low, ConfigLayer("options", target="sm_90a")])
    assert (both.policy, both.target, both.ptx_version, both.baseline) == ("strict", "sm_90a", (8, 0), "a.json")


def test_codes_are_ignored_in_the_matching_files(tmp_path: Path) -> None:
    level = ConfigLayer("x", str(tmp_path), per_file_ignores=(("generated/*", ("PTX4",)),))
    assert "PTX401" not in is_enabled(level, path=str(tmp_path / "generated" / "deep" / "k.ptx"))
    assert "PTX401" in is_enabled(level, path=str(tmp_path / "k.ptx"))
    assert "PTX401" in is_enabled(level)


@pytest.mark.parametrize(
    ("pattern", "fit"),
    [
        ("k.ptx", True),
        ("*.ptx", True),
        ("build", True),
        ("build/", True),
        ("build/**", True),
        ("./build/*", True),
        ("build/sm_90/k.ptx", True),
        ("*/sm_9?/*", True),
        ("sm_90", False),
        ("sm_90/*", False),
        ("other/*", False),
        ("k", False),
        ("build/sm_80/*", False),
    ],
)
def test_a_pattern_is_for_names_and_for_paths_below_its_folder(tmp_path: Path, pattern: str, fit: bool) -> None:
    assert matches(str(tmp_path / "build" / "sm_90" / "k.ptx"), pattern, str(tmp_path)) is fit


def test_a_pattern_with_a_star_or_a_whole_path_matches_outside_its_folder(tmp_path: Path) -> None:
    outside = str(tmp_path / "other" / "k.ptx")
    inside = str(tmp_path / "project")
    assert matches(outside, f"{tmp_path.as_posix()}/other/*", inside)
    assert not matches(outside, "other/*", inside)
