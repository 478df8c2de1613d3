"""The reference of the settings: each key of `ptxkit.toml` with its type, its default and its option."""

from __future__ import annotations

from collections.abc import Iterator

import click

from docs_lib.markdown_text import code, mark_code, table
from ptxkit.cli.commands import cli
from ptxkit.settings.model import ALWAYS_ENABLED, POLICIES
from ptxkit.settings.schema import EXAMPLES, KEYS

_DEFAULTS = {
    "select": "all codes but PTX9xx",
    "policy": code(f'"{POLICIES[0]}"'),
    "notes": code("false"),
}
_FILE_ONLY = {
    "per-file-ignores": "Do not report these codes for the files that match a pattern, which is relative to the folder "
    'of the settings file. A text inside another file has its path: `"foo.whl!foo/gen/*"`.',
}
"""Settings without an option of `ptxkit lint`."""


def settings_page() -> tuple[str, str]:
    """(path below `reference/`, Markdown)."""
    return "settings.md", "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield from ("# Settings", "")
    yield from _HEAD.splitlines()
    lint = cli.commands["lint"]
    options = {name.removeprefix("--"): each for each in lint.params for name in each.opts}
    context = click.Context(lint)
    rows = []
    for key in KEYS:
        option = options.get(key)
        if option is None:
            text, written = _FILE_ONLY[key], "-"
        else:
            record = option.get_help_record(context)
            assert record is not None, key
            text, written = mark_code(record[1].partition("  [")[0]), f"`--{key}`"
        example = EXAMPLES.get(key, "true")
        rows.append((code(key), text, code(f"{key} = {example}"), _DEFAULTS.get(key, "-"), written))
    yield ""
    yield from table(("setting", "meaning", "example", "default", "option"), rows)
    always = " and ".join(f"[{each}](codes/{each}.md)" for each in ALWAYS_ENABLED)
    yield from ("", f"No setting hides or softens {always}: after them nothing was checked.", "")
    yield from _TAIL.splitlines()


_HEAD = """\
Settings are read from `ptxkit.toml`, or from `pyproject.toml` under `[tool.ptxkit]`. For each input the nearest such
file in its folder or above it applies, and options of the command line override it; `--config FILE` names another file,
`--isolated` ignores all. `ptxkit lint --show-settings PATH` prints what applies to a file, and where it is set.

```toml title="pyproject.toml"
[tool.ptxkit]
policy = "strict"
ignore = ["PTX706"]
severity = { PTX404 = "note" }
launch = ["gemm:block=128,cluster=2", "tile_*:block=16x8"]
per-file-ignores = { "generated/*" = ["PTX2"] }
baseline = "known.json"
```

Settings files and comments count for `lint`, `verify`, `run`, `transfers`, `contract`, `view` and the language server;
baselines for `lint` and `verify`. Codes are whole (`PTX401`), prefixes (`PTX4`) or names (`missing-proxy-fence`): of
several that match, the longest applies.
"""
_TAIL = """\
## Comments

A comment hides findings of a line (at its end, or on a separate line above), of a function (above its head, or on its
line) or of a file. One that hides nothing is reported as [PTX191](codes/PTX191.md), and one that cannot be read as
[PTX192](codes/PTX192.md).

```text
cp.async.bulk.global.shared::cta.bulk_group [%rd7], [%r55], %r56;  // ptxkit: ignore[PTX401] the host fences
// ptxkit: ignore-file[PTX5, PTX621] made by an old compiler
```

`ptxkit lint --add-ignores --reason TEXT` writes such comments for what is found.

## Baselines

`ptxkit lint --write-baseline --baseline known.json` stores the present findings; `--baseline known.json` then hides
them. A baseline knows a finding by its code, its function and its statement without the numbers of registers, so that
it still knows it when lines move.
"""
