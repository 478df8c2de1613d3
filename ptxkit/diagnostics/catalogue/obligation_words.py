"""Why an obligation is open, and what proves that it is satisfied, in words."""

from __future__ import annotations

from ptxkit.diagnostics.message import TextTemplate

NOT_COVERED = TextTemplate("the executions do not cover every path, thread and value, and no proof covers the rest")
COVERED_BY_EXECUTIONS = TextTemplate("the executions cover all paths and threads of every launch, and satisfy it")
UNREACHABLE = TextTemplate("no path leads to it")
