"""The results of campaigns as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptxkit.testing.fuzz.campaign_kinds import FuzzCampaign
from ptxkit.testing.fuzz.store import FuzzStore
from ptxkit.testing.limits import MAX_REPORT_WIDTH


def summary(campaigns: Sequence[FuzzCampaign], store: FuzzStore) -> Iterator[str]:
    """Yields a line for each campaign with its totals over all runs, then a line for each cause of failures."""
    yield f"{'oracle':<15} {'asked':>9} {'passed':>9} {'skipped':>8} {'failed':>7} {'a second':>9}"
    reasons: dict[str, None] = {}
    for each in campaigns:
        total = store.campaign_total(each)
        passed = total.run_count - total.skip_count - total.failure_count
        rate = total.run_count / total.seconds if total.seconds else 0.0
        yield (
            f"{each.oracle:<15} {total.run_count:>9} {passed:>9} {total.skip_count:>8} "
            f"{total.failure_count:>7} {rate:>9.1f}"
        )
        if total.run_count == total.skip_count:
            reasons[f"{each.oracle}: no examples: {total.reason or 'the time was over before its turn'}"] = None
        elif total.reason:
            reasons[f"{each.oracle}: skipped: {total.reason}"] = None
    yield from reasons
    for cause in store.causes(dict.fromkeys(each.oracle for each in campaigns)):
        yield ""
        yield f"{cause.count} times, {cause.oracle}: {cause.cause}"
        yield f"    {cause.message.partition(chr(10))[0][:MAX_REPORT_WIDTH]}"
        yield f"    ptxkit fuzz --replay {cause.folder}"
