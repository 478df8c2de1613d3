"""The number of findings of each code, as an overview of a large tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from ptxkit.diagnostic_groups import fold_groups
from ptxkit.report.full import severity_role, summary_line
from ptxkit.report.style import Line, TextRole
from ptxkit.results import FileResult, ResultCounter


def statistics_report(results: Iterable[FileResult], names: Mapping[str, str]) -> Iterator[Line]:
    """` 12 PTX401 error missing-proxy-fence`, the most frequent first, and the line of counts."""
    counted = ResultCounter()
    counts = Counter(
        (item.code, item.severity) for result in results for item in fold_groups(counted.add(result).diagnostics)
    )
    width = max((len(str(count)) for count in counts.values()), default=0)
    for (code, severity), count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield (
            (f"{count:>{width}}  ", TextRole.PLAIN),
            (f"{code} {severity:<7}", severity_role(severity)),
            (f"  {names.get(code, '')}", TextRole.PLAIN),
        )
    if counts:
        yield ()
    yield summary_line(counted.summary)


def statistics_json(results: Iterable[FileResult], names: Mapping[str, str]) -> str:
    """The statistics as a document; like the document of findings, it counts each place of a fault."""
    import json

    counts = Counter((item.code, item.severity) for result in results for item in result.diagnostics)
    rows = [
        {"code": code, "severity": str(severity), "name": names.get(code), "count": count}
        for (code, severity), count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]
    return json.dumps({"version": 1, "statistics": rows}, indent=2) + "\n"
