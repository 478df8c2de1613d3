"""The playground: its files are consistent, and in a browser it finds, formats, draws and shares."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.markdown_blocks import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
from docs_lib.browser import BrowserPage, find_browser, open_page, serve
from docs_lib.playground import session
from docs_lib.playground.build_page import (
    PlaygroundError,
    build_page,
    example_groups,
    page_policy,
    pyodide_archive,
    write_own_files,
)

BROKEN = (ROOT / "docs" / "tutorial" / "broken.ptx").read_text("utf-8")
BUILT = {"ptxkit.zip", "lark.zip"}

SHOWN_BY_TABS = """(() => {
  const tabs = Array.from(document.querySelectorAll('[role=tab]'));
  const names = tabs.map(tab => tab.getAttribute('aria-controls'));
  const shown = tabs.map(tab => { tab.click(); return names.filter(name => !document.getElementById(name).hidden); });
  return [names, shown];
})()"""
"""The names of the panels of the pictures, and for each tab what is shown after a click on it."""


def codes(document: str) -> set[str]:
    return {item["code"] for item in json.loads(document)["files"][0]["diagnostics"]}


def test_each_file_that_the_page_names_exists(tmp_path: Path) -> None:
    write_own_files(tmp_path)
    written = {path.name for path in tmp_path.iterdir()}
    page = (tmp_path / "index.html").read_text("utf-8")
    named = set(re.findall(r'(?:href|src)="([^":]+)"', page))
    for script in tmp_path.glob("*.mjs"):
        text = script.read_text("utf-8")
        named |= set(re.findall(r'(?:from|load\(|URL\() ?"(?:\./)?([\w.]+)"', text))
        assert "innerHTML" not in text
        assert "insertAdjacentHTML" not in text
    assert {"playground.css", "playground.mjs", "worker.mjs", "shared_text.mjs", "session.py", "examples.json"} < named
    assert named <= written | BUILT
    assert "@" not in page
    assert re.search(r"<script(?![^>]* src=)| on\w+=|<style| style=", page) is None, "the policy would block it"


def test_the_policy_allows_the_pictures() -> None:
    """A frame whose text comes from the page has the policy of the page and its own."""
    hashes = re.findall(r"sha256-[^&']+", session.draw(BROKEN, "isa").partition("<style>")[0])
    assert len(hashes) == 2
    assert [each for each in hashes if f"'{each}'" not in page_policy()] == []
    assert "unsafe-inline" not in page_policy()
    assert "'unsafe-eval'" not in page_policy()


def test_examples_that_break_a_rule_have_its_finding() -> None:
    groups = example_groups()
    examples = [each for group in groups for each in group["examples"]]
    assert codes(session.check(examples[0]["text"], "isa")) == {"PTX401"}
    # The notes of PTX9xx are shown on request only, which a page has no setting for.
    broken = [each for each in examples if " is broken: " in each["name"] and each["name"] < "PTX9"][::12]
    assert len(broken) > 3
    for each in broken:
        assert each["name"].partition(" ")[0] in codes(session.check(each["text"], "strict")), each["name"]


def test_another_archive_is_rejected(tmp_path: Path) -> None:
    wrong = tmp_path / "pyodide.tgz"
    wrong.write_bytes(b"")
    with pytest.raises(PlaygroundError, match="its hash is another"):
        build_page(tmp_path / "playground", wrong)


@pytest.fixture(scope="module")
def open_playground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, BrowserPage]]:
    """Returns the address of the page, and a browser. `scripts/playground` fetches the archive that this needs."""
    browser, archive = find_browser(), pyodide_archive()
    if browser is None or not archive.is_file():
        pytest.skip("needs Chromium, and Pyodide in `build`")
    folder = tmp_path_factory.mktemp("site")
    build_page(folder / "playground", archive)
    with serve(folder) as address, open_page(browser) as page:
        yield f"{address}playground/index.html", page


def test_the_playground_works_in_a_browser(open_playground: tuple[str, BrowserPage]) -> None:
    """One test, since the start takes most of the time."""
    address, page = open_playground

    def text_of(selector: str) -> str:
        return str(page.evaluate(f"document.querySelector({selector!r}).textContent"))

    def wait() -> None:
        page.wait_for("['done', 'failed'].includes(document.body.dataset.state)")
        assert page.evaluate("document.body.dataset.state") == "done", text_of("#status")

    def open_pictures() -> None:
        """Returns when the frame has loaded what Python drew."""
        frame, pictures = (f"document.querySelector('{name}')" for name in ("#picture", "#pictures"))
        loaded = f"new Promise(resolve => {frame}.addEventListener('load', () => resolve(true), {{once: true}}))"
        assert page.evaluate(f"[{loaded}, {pictures}.open = true][0]")
        wait()

    page.open(address)
    wait()
    assert page.evaluate("document.querySelectorAll('#findings > li').length") == 1
    assert text_of("#findings strong") == "PTX401 error"
    assert "reads `tile` through the async proxy" in text_of("#findings p")
    line = next(number for number, each in enumerate(BROKEN.splitlines(), 1) if "cp.async.bulk.global" in each)
    assert text_of("#findings .line") == f"line {line}"
    assert text_of("#gutter b.error") == str(line)

    open_pictures()
    tabs, shown = page.evaluate_in_frame(SHOWN_BY_TABS)
    assert len(tabs) > 2
    assert shown == [[name] for name in tabs], "the script of the pictures did not run"
    assert page.evaluate_in_frame("origin") == "null", "the frame could read the page"

    examples = [each for group in example_groups() for each in group["examples"]]
    example = next(each for each in examples if "is kept" in each["name"])
    squeezed = re.sub(r"\n\t+", "\n", example["text"])
    assert squeezed != example["text"]
    page.evaluate(f"text.value = {json.dumps(squeezed)}; document.querySelector('#format').click()")
    page.wait_for(f"text.value !== {json.dumps(squeezed)}")
    wait()
    assert page.evaluate("text.value") == json.loads(session.format_text(squeezed))["text"]
    assert page.evaluate("document.querySelectorAll('#findings > li').length") == 0

    hostile = '.version 8.0\n<img src=x onerror="window.hit=1"><b>\n'
    page.evaluate(
        f"policy.value = 'strict'; text.value = {json.dumps(hostile)}; document.querySelector('#share').click()"
    )
    shared = page.wait_for("location.hash && location.href")
    page.open("about:blank")
    page.open(shared)
    wait()
    assert page.evaluate("[text.value, policy.value]") == [hostile, "strict"]
    assert text_of("#findings strong") == "PTX101 error"
    assert "<img src=x" in text_of("#findings pre")
    assert page.evaluate("[document.querySelector('img, section b:not(.error)'), window.hit ?? null]") == [None, None]
    open_pictures()
    assert "<img src=x" in page.evaluate_in_frame("document.body.textContent")
    assert page.evaluate_in_frame("[document.querySelector('img'), window.hit ?? null]") == [None, None]
    assert page.messages == []
