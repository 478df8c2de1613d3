"""`ptxkit transfers`: what a kernel copies, by which unit, and what waits for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxkit.cli.survey_command import SurveyParts, survey_command

if TYPE_CHECKING:
    from ptxkit.model.transfer import KernelTransfers


@survey_command(
    ("ptxkit transfers k.ptx", "List what each kernel copies, and what waits for it."),
    ("ptxkit transfers --launch k:block=128 k.ptx", "Give the number of threads, which determines the bytes."),
    listed="transfers",
)
def transfers() -> SurveyParts[KernelTransfers]:
    """List the data transfers of the kernels in PTX files and in every *.ptx file of folders; - reads standard input.

    Each row shows the line of the transfer, its source and destination, the unit that performs it (LDGSTS: cp.async;
    TMA: bulk copy; TMA map: bulk copy with a tensor map; plain: loads and stores), the bytes per executing thread, the
    completion mechanism, the lines that wait for it (with the number of groups that may still be pending) and the proxy
    fence that covers it. Where another unit could have been used, the row gives the reason for the choice.
    """
    from ptxkit.file_survey import survey_transfers
    from ptxkit.report.transfer_table import transfer_report
    from ptxkit.report.transfers_json import transfers_json

    return survey_transfers, transfer_report, transfers_json
