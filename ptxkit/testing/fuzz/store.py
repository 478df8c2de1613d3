"""The results of campaigns: a database that stays consistent if a campaign is killed, and a folder for each failure.

folder/campaigns.sqlite      complete work units, and failures by their cause
folder/failures/NAME         the first example of a cause, minimized (`ptxkit.testing.corpus.examples`)
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from ptxkit.fast_dataclasses import dataclass
from ptxkit.testing.corpus.examples import Example
from ptxkit.testing.fuzz.campaign_kinds import FuzzCampaign
from ptxkit.testing.fuzz.errors import CannotRunError
from ptxkit.testing.fuzz.supervised_fuzzer import FuzzUnitResult

_TABLES = """
create table if not exists shares (
    campaign text, number integer, size integer, asked integer, skipped integer, failed integer, reason text,
    seconds real, primary key (campaign, number)
);
create table if not exists failures (
    oracle text, cause text, count integer, first integer, folder text, message text, primary key (oracle, cause)
);
"""


@dataclass(frozen=True, slots=True)
class CampaignTotal:
    """The totals of a campaign over all runs. reason: the reason why some examples were skipped."""

    run_count: int
    skip_count: int
    failure_count: int
    reason: str
    seconds: float


@dataclass(frozen=True, slots=True)
class FailureCause:
    """Failures with one cause. folder: of the first example."""

    oracle: str
    cause: str
    count: int
    folder: str
    message: str


class FuzzStore:
    """The database in a folder. All rows of a work unit are written in one transaction. Raises CannotRunError."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._base = sqlite3.connect(folder / "campaigns.sqlite", isolation_level=None)
            self._base.executescript("pragma journal_mode = wal; pragma synchronous = normal;" + _TABLES)
        except (OSError, sqlite3.Error) as error:
            what = f"the folder `{folder}` cannot be written: {error}"
            raise CannotRunError(what, "name another one with `--folder DIR`") from error

    def close(self) -> None:
        """Closes the database."""
        self._base.close()

    def completed_units(self, campaign: FuzzCampaign) -> dict[int, int]:
        """Returns the complete work units with their numbers of examples, since the last one may be incomplete."""
        return dict(self._base.execute("select number, size from shares where campaign = ?", (campaign.key,)))

    def add(self, outcome: FuzzUnitResult) -> None:
        """Adds a complete work unit with its failures."""
        share = outcome.unit
        oracle = share.campaign.oracle
        folders = {example.cause: self._save_example(oracle, example) for _, example in outcome.failures[::-1]}
        self._base.execute("begin immediate")
        row = (
            len(share.numbers),
            outcome.run_count,
            outcome.skip_count,
            len(outcome.failures),
            outcome.reason,
            outcome.seconds,
        )
        self._base.execute(
            "insert or replace into shares values (?, ?, ?, ?, ?, ?, ?, ?)", (share.campaign.key, share.number, *row)
        )
        for number, example in outcome.failures:
            self._base.execute(
                "insert into failures values (?, ?, 1, ?, ?, ?) "
                "on conflict (oracle, cause) do update set count = count + 1",
                (oracle, example.cause, number, folders[example.cause], example.message),
            )
        self._base.execute("commit")

    def _save_example(self, oracle: str, example: Example) -> str:
        """Saves a cause's first example and returns its folder."""
        known = self._base.execute(
            "select folder from failures where oracle = ? and cause = ?", (oracle, example.cause)
        ).fetchone()
        if known is not None:
            return str(known[0])
        words = re.sub(r"\W+", "-", example.cause).strip("-")[:48]
        folder = (
            self.folder
            / "failures"
            / f"{oracle.rpartition(':')[2]}-{words}-{sha256(example.cause.encode()).hexdigest()[:6]}"
        )
        example.save(folder)
        return str(folder)

    def known_causes(self) -> dict[str, set[str]]:
        """Returns the causes of failures with a saved example, by oracle."""
        found: dict[str, set[str]] = {}
        for oracle, cause in self._base.execute("select oracle, cause from failures"):
            found.setdefault(oracle, set()).add(cause)
        return found

    def campaign_total(self, campaign: FuzzCampaign) -> CampaignTotal:
        """Returns the totals of a campaign."""
        row = self._base.execute(
            "select sum(asked), sum(skipped), sum(failed), max(reason), sum(seconds) from shares where campaign = ?",
            (campaign.key,),
        ).fetchone()
        return CampaignTotal(row[0] or 0, row[1] or 0, row[2] or 0, row[3] or "", row[4] or 0.0)

    def causes(self, oracles: Iterable[str]) -> list[FailureCause]:
        """Returns all causes of failures, the most frequent first."""
        # columns are read by position, because databases of earlier releases have another name for the last one
        rows = self._base.execute("select * from failures order by count desc, cause")
        wanted = set(oracles)
        return [
            FailureCause(oracle, cause, count, folder, message)
            for oracle, cause, count, _, folder, message in rows
            if oracle in wanted
        ]
