"""All threads of a CTA with their events of some effect classes, found once for all users."""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.limits import MAX_THREAD_EVENTS
from ptxkit.analysis.symexec.trace import GroupTrace


class AllThreads:
    """The threads of the groups of one CTA. is_complete: whether these are all of its threads."""

    def __init__(self, groups: Sequence[GroupTrace], *, is_complete: bool) -> None:
        self._groups, self._is_complete = groups, is_complete
        self._known: dict[tuple[type, ...], list[ThreadView] | None] = {}

    def with_effects(self, kinds: tuple[type, ...]) -> list[ThreadView] | None:
        """Returns all threads with their events of these effect classes; None where there are too many.

        Threads to which the same events happened share the list of events.
        """
        if kinds not in self._known:
            groups = [group.filter_effects(*kinds) for group in self._groups]
            count = sum(len(group.tids) * len(group.events) for group in groups)
            traces = (trace for group in groups for trace in group.thread_traces())
            is_known = self._is_complete and count <= MAX_THREAD_EVENTS
            self._known[kinds] = [ThreadView(trace) for trace in traces] if is_known else None
        return self._known[kinds]

    def with_distinct_effects(self, kinds: tuple[type, ...]) -> list[ThreadView] | None:
        """Returns one of these threads for each sequence of events, in their order."""
        threads = self.with_effects(kinds)
        if threads is None:
            return None
        by_events = {id(thread.trace.events): thread for thread in reversed(threads)}
        return list(reversed(by_events.values()))
