"""Prints the combined settings in the form of a settings file, with the origin of each line."""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.settings.model import EFFORTS, ON_REQUEST, ConfigLayer, Settings
from ptxkit.untrusted_text import escape_text


def render_settings(name: str, levels: Sequence[ConfigLayer], settings: Settings) -> str:
    """Returns the settings of the input `name` as TOML; later levels override earlier ones."""
    lines = [f"# {escape_text(name)}"]
    for level in levels:
        lines += [f"{text}  # {escape_text(level.origin)}" for text in _render_layer(level)]
    lines += [f"{text}  # default" for text in _render_defaults(settings, levels)]
    return "".join(f"{line}\n" for line in lines)


def _render_layer(level: ConfigLayer) -> list[str]:
    lines = []
    if level.select is not None:
        lines.append(f"select = {_render_list(level.select)}")
    if level.extend_select:
        lines.append(f"extend-select = {_render_list(level.extend_select)}")
    if level.ignore:
        lines.append(f"ignore = {_render_list(level.ignore)}")
    if level.severity:
        lines.append(f"severity = {{ {', '.join(f'{code} = {_render_text(word)}' for code, word in level.severity)} }}")
    if level.policy is not None:
        lines.append(f"policy = {_render_text(level.policy)}")
    if level.notes is not None:
        lines.append(f"notes = {str(level.notes).lower()}")
    if level.effort is not None:
        lines.append(f"effort = {_render_effort(level.effort)}")
    if level.target is not None:
        lines.append(f"target = {_render_text(level.target)}")
    if level.ptx_version is not None:
        lines.append(f'ptx-version = "{level.ptx_version[0]}.{level.ptx_version[1]}"')
    if level.launch:
        lines.append(f"launch = {_render_list([each.text for each in level.launch])}")
    if level.per_file_ignores:
        pairs = ", ".join(
            f"{_render_text(pattern)} = {_render_list(codes)}" for pattern, codes in level.per_file_ignores
        )
        lines.append(f"per-file-ignores = {{ {pairs} }}")
    if level.baseline is not None:
        lines.append(f"baseline = {_render_text(level.baseline)}")
    return lines


def _render_defaults(settings: Settings, levels: Sequence[ConfigLayer]) -> list[str]:
    lines = []
    if all(level.select is None for level in levels):
        lines.append('select = ["PTX"]')
        if not settings.notes:
            lines.append(f"ignore = {_render_list([ON_REQUEST])}")
    if all(level.policy is None for level in levels):
        lines.append(f"policy = {_render_text(settings.policy)}")
    if all(level.notes is None for level in levels):
        lines.append(f"notes = {str(settings.notes).lower()}")
    if all(level.effort is None for level in levels):
        lines.append(f"effort = {_render_effort(settings.effort)}")
    return lines


def _render_effort(effort: float) -> str:
    return next((_render_text(name) for name, factor in EFFORTS.items() if factor == effort), f"{effort:g}")


def _render_list(items: Sequence[str]) -> str:
    return f"[{', '.join(map(_render_text, items))}]"


def _render_text(word: str) -> str:
    """Returns a text as a TOML string, without characters that control a terminal."""
    return '"' + "".join(map(_escape_character, word)) + '"'


def _escape_character(char: str) -> str:
    if char in '\\"':
        return f"\\{char}"
    if char.isprintable():
        return char
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"
