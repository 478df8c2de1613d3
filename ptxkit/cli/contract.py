"""`ptxkit contract`: what a kernel needs from the code that launches it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxkit.cli.survey_command import SurveyParts, survey_command

if TYPE_CHECKING:
    from ptxkit.model.launch_contract import LaunchContract


@survey_command(
    ("ptxkit contract k.ptx", "List the conditions that launches of each kernel must satisfy."),
    ("ptxkit contract --launch k:block=128 k.ptx", "Give the number of threads, on which sizes may depend."),
    listed="conditions",
)
def contract() -> SurveyParts[LaunchContract]:
    """List the conditions that launches of the kernels in PTX files, and in every *.ptx file of folders, must satisfy;
    - reads standard input.

    Without a necessary condition, some instruction that the launch executes faults, deadlocks or is undefined.
    The conditions are about the threads of a block, the CTAs of a cluster, dynamic shared memory, the alignment of
    pointers, sizes, tensor maps and CTAs that wait for each other. Each has the line from which it follows. Others
    suffice for what lint cannot decide without the launch.
    """
    from ptxkit.contract_survey import survey_contracts
    from ptxkit.report.contract_list import contract_report
    from ptxkit.report.contracts_json import contracts_json

    return survey_contracts, contract_report, contracts_json
