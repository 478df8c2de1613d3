"""The results of a campaign as text and JSON: the confusion table by form, and each kind of difference once."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain

from ptxkit.fast_dataclasses import dataclass
from ptxkit.testing.differential.campaign import CRASH_PREFIX, Difference, DifferentialCounts
from ptxkit.testing.differential.whole_files import FileVerdicts
from ptxkit.testing.limits import MAX_FORM_CHARS

_SPECIFIC_TOKENS = re.compile(r"`[^`]*`|'[^']*'|\d+")


@dataclass(frozen=True, slots=True)
class DifferenceKind:
    """A group of equal differences. example: the shortest. releases: of ptxas; pairs: the number of versions and
    targets.
    """

    example: Difference
    count: int
    releases: tuple[str, ...]
    pairs: tuple[str, ...]


def group_differences(differences: Sequence[Difference]) -> list[DifferenceKind]:
    """Groups differences by form, side and reason."""
    groups: dict[tuple[str, bool, str], list[Difference]] = defaultdict(list)
    for each in differences:
        reason = _SPECIFIC_TOKENS.sub("*", each.ours or each.theirs or "")
        groups[each.probe.form, each.ours is None, reason].append(each)
    return [_summarize_kind(groups[key]) for key in sorted(groups)]


def _summarize_kind(members: Sequence[Difference]) -> DifferenceKind:
    example = min(members, key=lambda each: (each.probe.change is not None, len(each.probe.text)))
    releases = tuple(sorted({each.release for each in members}))
    pairs = tuple(sorted({_version_target_name(each) for each in members}))
    return DifferenceKind(example, len(members), releases, pairs)


def _version_target_name(found: Difference) -> str:
    (major, minor), target = found.pair
    return f"{major}.{minor}/{target}"


def confusion_table(tally: DifferentialCounts) -> Iterator[str]:
    """Yields the table by form: instances and mutations, each with its four cells, for all releases of ptxas
    together.
    """
    cells: dict[str, dict[bool, list[int]]] = defaultdict(lambda: {False: [0] * 4, True: [0] * 4})
    for (form, mutated, _, ours, theirs), count in tally.counts.items():
        cells[form][mutated][_cell_index(ours, theirs)] += count
    yield "instances: both accept, both refuse, only ptxkit, only ptxas | mutations: the same | form"
    for form in sorted(cells):
        made, changed = cells[form][False], cells[form][True]
        row = " ".join(f"{number:6}" for number in made) + " | " + " ".join(f"{number:6}" for number in changed)
        yield f"{row} | {form[:MAX_FORM_CHARS]}"


def _cell_index(ours: bool, theirs: bool) -> int:
    if ours == theirs:
        return 0 if ours else 1
    return 2 if ours else 3


def total_lines(tally: DifferentialCounts) -> Iterator[str]:
    """Yields the number of instructions, and the four cells for each release of ptxas."""
    cells: dict[str, list[int]] = defaultdict(lambda: [0] * 4)
    for (_, _, release, ours, theirs), count in tally.counts.items():
        cells[release][_cell_index(ours, theirs)] += count
    yield f"{tally.probe_count:,} instructions compared"
    for release in sorted(cells, reverse=True):
        both, neither, wrongly_open, wrongly_closed = cells[release]
        verdict_count = sum(cells[release])
        yield (
            f"ptxas {release}: {verdict_count:,} verdicts; both accept {both:,}, both refuse {neither:,}, "
            f"accepted only by ptxkit {wrongly_open:,}, accepted only by ptxas {wrongly_closed:,}"
        )
    for known, count in tally.known_counts.most_common():
        yield f"known, {count:,} times, only {known.accepts} accepts {known.opcode}: {known.reason}"
    for form in sorted(tally.forms_without_instance):
        yield f"no instance could be made of {form}"


def kind_lines(kind: DifferenceKind) -> Iterator[str]:
    """Yields three lines for a kind of difference: which side accepts which text, why the other one rejects it, and
    where.
    """
    found = kind.example
    change = f"   [{found.probe.change}]" if found.probe.change else ""
    if (found.ours or "").startswith(CRASH_PREFIX):
        yield f"broken by  {found.probe.text}{change}"
        yield f"    {found.ours}"
        return
    accepts, other, reason = (
        ("ptxkit", f"ptxas {found.release}", found.theirs) if found.ours is None else ("ptxas", "ptxkit", found.ours)
    )
    yield f"only {accepts} accepts  {found.probe.text}{change}"
    yield f"    {other}: {reason}"
    places = ", ".join(kind.pairs[:4]) + (f" and {len(kind.pairs) - 4} more" if len(kind.pairs) > 4 else "")
    yield (f"    {kind.count} times, ptxas {' '.join(kind.releases)}, on {places}; {found.probe.form[:MAX_FORM_CHARS]}")


def slot_lines(differences: Sequence[Difference]) -> Iterator[str]:
    """Yields each form and place where the two sides differ, with an example and the kinds that only one side
    accepts.
    """
    groups: dict[tuple[str, str, bool], dict[str, list[Difference]]] = defaultdict(lambda: defaultdict(list))
    for each in differences:
        slot, _, kind = (each.probe.change or "plain").partition(": ")
        groups[each.probe.form, slot, each.ours is None][kind].append(each)
    for (form, slot, is_ours), by_kind in sorted(groups.items()):
        example = min(chain.from_iterable(by_kind.values()), key=lambda each: len(each.probe.text))
        releases = " ".join(sorted({each.release for found in by_kind.values() for each in found}))
        yield (
            f"only {'ptxkit' if is_ours else 'ptxas'} accepts, ptxas {releases}, place {slot} of "
            f"{form[:MAX_FORM_CHARS]}"
        )
        yield f"    {example.probe.text}  on {_version_target_name(example)}"
        yield f"    {example.theirs if is_ours else example.ours}"
        yield f"    {len(by_kind)} kinds: {'  '.join(by_kind)}"


def file_lines(verdicts: Sequence[FileVerdicts]) -> Iterator[str]:
    """Yields the results for whole files: every difference, then the number of agreements."""
    for each in verdicts:
        found = each.disagreements()
        if not found:
            continue
        releases = " ".join(release for release, _ in found)
        yield f"{each.sample.origin.rpartition('/')[2]}: {each.sample.change or 'as it is'}"
        if each.ours is None:
            yield f"    only ptxkit accepts; ptxas {releases}: {found[0][1]}"
        else:
            yield f"    only ptxas {releases} accepts; ptxkit: {each.ours}"
    for name, part in (
        ("as they are", [each for each in verdicts if each.sample.change is None]),
        ("changed", [each for each in verdicts if each.sample.change is not None]),
    ):
        if part:
            agreeing = sum(not each.disagreements() for each in part)
            accepted = sum(each.ours is None for each in part)
            yield (
                f"{len(part):,} files {name}: {agreeing:,} agree ({100 * agreeing / len(part):.2f} %), "
                f"ptxkit accepts {accepted:,}"
            )


def as_json(tally: DifferentialCounts) -> dict[str, object]:
    """Returns all results as JSON data: the counts, and every difference."""
    return {
        "asked": tally.probe_count,
        "counts": [
            {"form": form, "mutated": mutated, "ptxas": release, "ours": ours, "theirs": theirs, "count": count}
            for (form, mutated, release, ours, theirs), count in sorted(tally.counts.items())
        ],
        "differences": [
            {
                "text": each.probe.text,
                "form": each.probe.form,
                "change": each.probe.change,
                "pair": _version_target_name(each),
                "ptxas": each.release,
                "ours": each.ours,
                "theirs": each.theirs,
            }
            for each in tally.differences
        ],
        "without": sorted(tally.forms_without_instance),
    }
