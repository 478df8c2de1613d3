"""The build hook of the wheel: what ptxkit compiles from its grammars at the first use is brought along ready made.

An editable installation gets none: its grammars change, and a copy is kept in the user's cache folder.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent.parent


class Prebuild(BuildHookInterface):  # type: ignore[type-arg, misc, unused-ignore]  # hatchling is not always typed
    """Compiles the instruction table and the grammar into a folder next to the modules."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before the wheel is put together; `version` is `standard` or `editable`."""
        if version == "editable":
            return
        self._folder = tempfile.TemporaryDirectory(prefix="ptxkit-")  # goes when the hook does
        sys.path.insert(0, str(ROOT))
        from ptxkit.compile_cache import PREBUILT
        from ptxkit.prebuild_cache import write_all

        for path in write_all(self._folder.name):
            build_data["force_include"][path] = f"ptxkit/{PREBUILT}/{Path(path).name}"
