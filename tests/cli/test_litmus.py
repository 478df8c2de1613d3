"""`ptxkit litmus`: answers, executions, exit statuses, formats."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from click.testing import Result
from inline_snapshot import snapshot

Run = Callable[..., Result]

FORBIDDEN = """\
PTX mp
{ x = 0; }
 P0@cta 0,gpu 0      | P1@cta 1,gpu 0       ;
 st.weak x, 1        | ld.acquire.gpu r0, y ;
 st.release.gpu y, 1 | ld.weak r1, x        ;
~exists (P1:r0 == 1 /\\ P1:r1 == 0)
"""
RACY = FORBIDDEN.replace("~exists (P1:r0 == 1 /\\ P1:r1 == 0)", "race")


def test_a_forbidden_state_comes_with_an_execution_and_the_axiom(tmp_path: Path, ptxkit: Run) -> None:
    file = tmp_path / "mp.litmus"
    file.write_text(FORBIDDEN)
    result = ptxkit("litmus", file)
    assert result.exit_code == 0
    assert result.stdout.replace(str(tmp_path), "DIR") == snapshot("""\
DIR/mp.litmus: mp: forbidden (an execution has a data race)
  ~exists P1:r0 == 1 and P1:r1 == 0: holds
  P0 @ cta 0               P1 @ cta 1
  a: st.weak x, 1          c: ld.acquire.gpu r0, y  = 1
  b: st.release.gpu y, 1   d: ld.weak r1, x  = 0
  rf  init x -> d
  rf  b -> c
  fr  d -> a
  axiom Causality: d fr a
    causality: a -po-> b -synchronizes-> c -po-> d
""")


def test_a_race_comes_with_an_execution_and_exits_with_1(tmp_path: Path, ptxkit: Run) -> None:
    file = tmp_path / "mp.litmus"
    file.write_text(RACY)
    result = ptxkit("litmus", file)
    assert result.exit_code == 1
    assert result.stdout.replace(str(tmp_path), "DIR") == snapshot("""\
DIR/mp.litmus: mp: racy
  P0 @ cta 0               P1 @ cta 1
  a: st.weak x, 1          c: ld.acquire.gpu r0, y  = 0
  b: st.release.gpu y, 1   d: ld.weak r1, x  = 1
  rf  init y -> c
  rf  a -> d
  fr  c -> b
  data race: a and d access x, and neither causality order nor moral strength relates them (Conflict and Data-races)
""")


def test_a_statement_that_does_not_hold_exits_with_1(tmp_path: Path, ptxkit: Run) -> None:
    file = tmp_path / "mp.litmus"
    file.write_text(FORBIDDEN.replace("~exists", "exists"))
    result = ptxkit("litmus", "--format", "concise", file)
    assert result.exit_code == 1
    assert result.stdout.splitlines()[1].endswith(": does not hold")


def test_a_folder_includes_its_tests_in_order_and_json_has_their_executions(tmp_path: Path, ptxkit: Run) -> None:
    (tmp_path / "b.litmus").write_text(FORBIDDEN)
    (tmp_path / "a.litmus").write_text(RACY)
    (tmp_path / "c.txt").write_text("no test")
    result = ptxkit("litmus", "--format", "json", tmp_path)
    document = json.loads(result.stdout)
    assert (document["version"], result.exit_code) == (1, 1)
    racy, forbidden = document["tests"]
    assert (racy["answer"], forbidden["answer"]) == ("racy", "forbidden")
    assert forbidden["axioms"] == [{"name": "Causality", "section": "Causality"}]
    assert racy["race"]["events"]
    assert {edge["label"] for edge in forbidden["execution"]["edges"]} == {"rf", "fr"}
    page = (Path(__file__).resolve().parents[2] / "docs" / "howto" / "litmus.md").read_text("utf-8")
    keys = {*racy, *racy["race"], *forbidden["execution"]["events"][0], *forbidden["execution"]["edges"][0]}
    assert len(keys) > 20
    assert [key for key in sorted(keys) if f"`{key}`" not in page] == []


def test_a_test_that_cannot_be_read_exits_with_2_after_the_others(tmp_path: Path, ptxkit: Run) -> None:
    (tmp_path / "a.litmus").write_text(FORBIDDEN)
    (tmp_path / "b.litmus").write_text("PTX b\n")
    result = ptxkit("litmus", "--format", "concise", tmp_path)
    assert result.exit_code == 2
    assert "mp: forbidden" in result.stdout
    assert "b.litmus: error: " in result.stderr
