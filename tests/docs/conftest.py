"""Makes the modules of `scripts/` importable, as they are for `scripts/docs`."""

from __future__ import annotations

import sys

from tests.docs.markdown_blocks import ROOT

sys.path.append(str(ROOT / "scripts"))
