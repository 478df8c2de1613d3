"""Why an obligation is open, and what proves that it is satisfied, in words."""

from __future__ import annotations

from ptxkit.diagnostics.message import TextTemplate

NOT_COVERED = TextTemplate("the executions do not cover every path, thread and value, and no proof covers the rest")
COVERED_BY_EXECUTIONS = TextTemplate("the executions cover all paths and threads of every launch, and satisfy it")
COMMITTED = TextTemplate("on each path to an exit, it is committed or tracked at {lines}")
NO_PATH_TO_EXIT = TextTemplate("no path leads from it to an exit")
SOURCE_READ = TextTemplate("on each path to an exit, the commits and waits at {lines} complete its reads")
REGISTERS_FREE = TextTemplate("the commits and waits at {lines} complete all operations on its registers")
REGISTERS_UNUSED = TextTemplate(
    "no path leads to it from an operation on its registers, other than one of the same shape"
)
UNREACHABLE = TextTemplate("no path leads to it")
