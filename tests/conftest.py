"""What all tests share: none is answered from results that an earlier run kept, unless it says so."""

from __future__ import annotations

import os

os.environ["PTXKIT_NO_CACHE"] = "1"
