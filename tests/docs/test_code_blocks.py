"""Every code block of the documentation has the displayed results."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.docs.block_runner import BlockRunner, matches, reason_not_to_run
from tests.docs.markdown_blocks import ROOT, CodeBlock, blocks_of, replace_blocks

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
"""The pages whose blocks run."""


def all_blocks() -> list[CodeBlock]:
    return [block for page in PAGES for block in blocks_of(page)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_shows_the_actual_results(page: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    runner = BlockRunner(page, tmp_path)
    runner.run()
    if runner.corrections and "fix" in (request.config.getoption("inline_snapshot") or ""):
        replace_blocks(page, runner.corrections)
        pytest.skip(f"{page.name} was rewritten")
    shown = {block.line: block.text for block in blocks_of(page) if block.line in runner.corrections}
    assert runner.corrections == shown


def test_blocks_that_do_not_run_state_their_requirements() -> None:
    reasons = Counter(reason for block in all_blocks() if (reason := reason_not_to_run(block)) is not None)
    listed = [f"{block.place}: {reason}" for block in all_blocks() if (reason := reason_not_to_run(block)) is not None]
    sys.stdout.write("\n".join(listed))  # `pytest -rP` shows it
    assert [reason for reason in reasons if reason != "is text" and not reason.startswith("needs ")] == []


@pytest.mark.parametrize(
    ("expected", "printed", "same"),
    [
        ("a\n", "a\n", True),
        ("a\n...\nd\n", "a\nb\nc\nd\n", True),
        ("in ...s\n", "in 0.1s\n", True),
        ("a\n\nb\n", "a \n  \nb\n", True),
        ("a\n", "b\n", False),
    ],
)
def test_dots_match_any_text(expected: str, printed: str, same: bool) -> None:
    assert matches(expected, printed) is same


PAGE = """\
```ptx title="k.ptx"
.version 8.0
.target sm_80
.address_size 64
.visible .entry k() { ret; }
```

```console
$ ptxkit lint k.ptx
checked 1 file: 0 errors, ...
$ echo $?
0
$ sed s/ret/rex/ k.ptx | ptxkit lint - | head -1
<stdin>:4:23: ...
$ ptxkit fmt --check k.ptx > out.txt
$ cat out.txt
k.ptx
```

```python
value = 20 + 1
print(2 * value)
```

``` { .text .output }
42
```

``` { .console .no-run reason="needs a GPU" }
$ nvidia-smi
```
"""


def run_page(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> BlockRunner:
    monkeypatch.setattr("tests.docs.markdown_blocks.ROOT", folder)
    page = folder / "pages" / "page.md"
    page.parent.mkdir()
    page.write_text(text, "utf-8")
    work = folder / "work"
    work.mkdir()
    runner = BlockRunner(page, work)
    runner.run()
    return runner


def test_a_correct_page_needs_no_correction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runner = run_page(PAGE, tmp_path, monkeypatch)
    assert runner.corrections == {}


def test_a_page_that_is_wrong_is_corrected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runner = run_page(PAGE.replace("42\n", "43\n").replace(": 0 errors", ": 3 errors"), tmp_path, monkeypatch)
    assert runner.corrections.keys() == {8, 25}
    replace_blocks(runner.page, runner.corrections)
    text = runner.page.read_text("utf-8")
    assert "\n42\n" in text
    assert "3 errors" not in text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("```\nx\n```\n", "a block without a language"),
        ("```sh\nptxkit lint --no-such-option k.ptx\n```\n", "has no option --no-such-option"),
        ("```sh\nptxkit no-such-command\n```\n", "there is no command"),
        ("```ptx\nmov.u32 %r1, %r2, %r3;\n```\n", "PTX104"),
        ("```console\nptxkit lint\n```\n", "text before the first"),
        ("```ptx\nret;\n", "is not closed"),
    ],
)
def test_a_wrong_block_is_rejected(text: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AssertionError, match=words):
        run_page(text, tmp_path, monkeypatch)
    assert (tmp_path / "pages" / "page.md").exists()
