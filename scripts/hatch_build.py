"""The build hook of the wheel, which adds what follows from the sources: the data that ptxkit compiles on first use,
the signatures of the builder's methods, and the manual pages.

An editable installation has no compiled data: its grammars change, and a copy is kept in the user's cache folder. The
signatures are written into the checkout then.
"""

from __future__ import annotations

import os
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent.parent
STUB = "ptxkit/build/methods.pyi"


class Prebuild(BuildHookInterface):  # type: ignore[type-arg, misc, unused-ignore]  # hatchling is not always typed
    """Compiles the instruction table and the grammar to a folder of the package, and writes signatures and pages."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Hatchling calls it before the wheel is built; `version` is `standard` or `editable`."""
        sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]
        from script_lib.stub_generator import render_stub

        if version == "editable":
            (ROOT / STUB).write_text(render_stub(), "utf-8")
            return
        self._folder = tempfile.TemporaryDirectory(prefix="ptxkit-")  # removed with the hook
        from script_lib.man_pages import man_pages

        from ptxkit.compile_cache import PREBUILT
        from ptxkit.prebuild_cache import write_all

        for name, text in man_pages(self.metadata.version, _date()).items():
            page = Path(self._folder.name) / name
            page.write_text(text, "utf-8")
            build_data["shared_data"][str(page)] = f"share/man/man1/{name}"
        stub = Path(self._folder.name) / Path(STUB).name
        stub.write_text(render_stub(), "utf-8")
        build_data["force_include"][str(stub)] = STUB
        for path in write_all(self._folder.name):
            build_data["force_include"][path] = f"ptxkit/{PREBUILT}/{Path(path).name}"


def _date() -> str:
    """Returns the date of the sources as packagers state it, since a build must not depend on the current date."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH")
    return "" if seconds is None else f"{datetime.fromtimestamp(int(seconds), UTC):%Y-%m-%d}"
