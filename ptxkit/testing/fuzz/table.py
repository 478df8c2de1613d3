"""What campaigns came to, as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptxkit.testing.fuzz.questions import Campaign
from ptxkit.testing.fuzz.store import Store

_WIDE = 100


def summary(campaigns: Sequence[Campaign], store: Store) -> Iterator[str]:
    """A line for each campaign with all that it ever did, then one for each cause of failures."""
    yield f"{'oracle':<15} {'asked':>9} {'passed':>9} {'skipped':>8} {'failed':>7} {'a second':>9}"
    reasons: dict[str, None] = {}
    for each in campaigns:
        total = store.total(each)
        passed = total.asked - total.skipped - total.failed
        rate = total.asked / total.seconds if total.seconds else 0.0
        yield f"{each.oracle:<15} {total.asked:>9} {passed:>9} {total.skipped:>8} {total.failed:>7} {rate:>9.1f}"
        if total.asked == total.skipped:
            reasons[f"{each.oracle}: asked nothing: {total.reason or 'the time was over before its turn'}"] = None
        elif total.reason:
            reasons[f"{each.oracle}: skipped: {total.reason}"] = None
    yield from reasons
    for cause in store.causes(dict.fromkeys(each.oracle for each in campaigns)):
        yield ""
        yield f"{cause.count} times, {cause.oracle}: {cause.cause}"
        yield f"    {cause.said.partition(chr(10))[0][:_WIDE]}"
        yield f"    ptxkit fuzz --replay {cause.folder}"
