"""The English of the project: words that its documentation, its messages and its names do not use.

The models are the documentation of rustc, ruff and LLVM: whole sentences, the field's terms, no figures of speech.
Documentation is docstrings, docstrings of attributes, comments, and the texts beside the code. Messages are all other
strings of more than one word. What is between backticks is code and is not looked at.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests import python_sources
from tests.python_sources import nodes_of

ROOT = Path(__file__).resolve().parent.parent
TEXTS = (
    *("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs", "corpus/compilers/README.md", "corpus/kernels/README.md"),
    *("corpus/rules/README.md", "corpus/seeds/README.md", "corpus/vendor/README.md"),
)
PTX = ("corpus/findings", "corpus/kernels", "corpus/rules", "corpus/seeds", "corpus/vendor")
"""Folders of PTX whose comments are documentation."""

SOURCES = ("corpus", "docs", "editors", "grammars", "ptxkit", "scripts", "tests", ".github")
SOURCE_SUFFIXES = {
    *("", ".css", ".cu", ".html", ".isa", ".js", ".lark", ".litmus", ".mjs", ".toml", ".ts", ".txt", ".yml"),
}
"""Folders, and the suffixes of files in them that are read as a whole; those without a suffix are scripts."""
NOT_OURS = {"docs/assets/iframe-worker.js"}
NOT_READ = {"node_modules", "__pycache__", "build", "dist"}

FORBIDDEN = {
    r"mend(s|ed|ing)?": "`fix`: the word of rustc and ruff for a change that settles a finding",
    r"in vain": "`redundant`, `has no effect`, or what does not come",
    r"for ?ever": "`deadlock`, `never ends`, `endless`",
    r"tell(s|ing)?|told": "data tells nobody anything: `states`, `determines`, `is given`, `is reported`",
    r"hears?|heard": "`receives`, `learns`, `is notified`",
    r"sa(id|ying)": "`stated`, `specified`, `reported`: by whom matters",
    r"speaks?|spoken": "`mentions`, `names`, `is about`",
    r"asks": "`tests`, `requests`, `requires`, `queries`",
    r"answered": "`decided`, `returned`: for a question say what decides it",
    r"givers?|takers?": "`releasing thread`, `acquiring thread`",
    r"rehears(e|es|ed|al|als)": "`simulation`, `simulated schedule`",
    r"walk(s|ed|er|ers|ing)?": "`execution`, `trace` of a kernel; `traverse`, `visit` for a tree",
    r"worlds?": "`scenario`",
    r"(no|some|every|any)body": "name who it is: no thread, no instruction, a caller, other users",
    r"who(m|)ever": "name who it is: the thread, the caller, the reader that ...",
    r"behind": "`after` in a program or a text, `at` an address, `by means of`",
    r"beside": "`next to`, `with`, `in addition to`, `compared with`",
    r"(give|gives|gave|given|giving) back": "`return`; `deallocate`, `free`, `release` for a resource",
    r"hand(s|ed|ing)? (on|over|out|down)": "`pass`, `transfer`, `forward`",
    r"(take|takes|took|taken|taking) (over|away)": "`acquire`, `remove`",
    r"stands?(?! for)|stood": "`is`, `is written`, `occurs`, `remains`",
    r"(go|goes|going|went|gone) on": "`continue`",
    r"(under|on (its|the|their)) way": "`pending`, `in flight`, `between`",
    r"(the|a|each|every|what|which|no|one|two) ways? (to|out|through|past|round|into|from|by|led)": "`path`",
    r"anew": "`again`",
    r"alike": "`the same`, `equally`",
    r"at hand|by hand": "`current`; `manually`",
    r"as above": "repeat the term, or name the place",
    r"what is what|so to speak|as it were|as need be|well enough": "say it, or leave it out",
    r"aught|na?ught|lest|hence|whence|whereof|therein|thereof|herein|thereby|thither|begets?|begotten": "plain words",
    r"shall|ought|must needs|save for|save that": "`must`, `should`, `except`",
    r"door|farewell|mates?|folk|kin|dwells?|abides?|bids?|heeds?|beholds?": "figures of speech",
    r"clean bill": "`no finding`",
    r"comes? to (its|their) ends?": "`ends`, `returns`",
    r"(is|are|was|were) found out": "`is detected`",
    r"hast[ey]|hasty|plainest|fruitless": "plain words",
    r"what there is|what (becomes?|became|came) of": "name it: `the result of`, `the outcome of`",
    r"held against|hand-overs?|reach(es)? into": "`compared with`, `synchronization`, `accesses`",
    r"now and then": "`at intervals`",
    r"be it": "`even`, `also`",
    r"passe[sd] over|left alone": "`is skipped`, `is ignored`, `is not changed`",
    r"house|leavings|breaks? down": "plain words",
    r"by chance|afresh|in earnest|at leisure|to hand|lying|looking at": "plain words",
    r"(does|do) not care|cares?": "`ignores`, `does not depend on`",
    r"so many (seconds|bytes|threads|arrivals|at|of them)": "`this number of`, `the limit in seconds`",
    r"merely|mere|upon|unto": "`only`, `at`, `on`, `when`",
    r"whatever the \w+ says?|nothing is lost|little by little|fits nowhere": "say it, or leave it out",
    r"there (is|are|was|were) none(?! of)": "`if none exists`, `None if it does not exist`",
    r"(look|looks|looked) (at|like)": "`checks`, `compares`, `is similar to`",
    r"knows? of": "`knows about`; `is ordered after` for a thread and an access",
    r"whole numbers?|announc(e|es|ed|ing|ements?)": "`integer`; `expect`, `expect-tx`: the ISA's words",
    r"in front of|the like(?! of)|comes? to an end": "`before`; `similar ones`; `ends`",
    r"says|alone(?!:)|the own|brings?|lies (in|at|within|on)": "`states`, `only`, `its own`, `copies`, `is in`",
    r"(threads|warps|lanes|ctas|all|both|they) meet|(is|be) gone": "`synchronize`, `reconverge`; `is fixed`, `ends`",
    r"(a|an|no) [\w-]+( [\w-]+)? of (its|their) own": "`a separate ...`, `its own ...`",
    r"of (its|their) own accord|for (its|their) own sake|one way or another": "plain words",
}
"""Words, as regular expressions, and what is written in their place."""

FORBIDDEN_NAMES = {
    *("told", "said", "heard", "vain", "giver", "taker", "mend", "mends", "mended", "rehearsal", "rehearse"),
    *("world", "worlds", "walked", "walker", "behind", "beside", "nobody", "somebody", "way", "ways", "doubts"),
    *("announce", "announces", "announced", "announcement"),
    *("farewell", "mate", "mates", "kin", "passage", "passages", "everybody", "spoken", "tells", "telling", "says"),
    *("alike", "looks", "vague", "fruitless"),
}
"""Parts of names of functions, classes, attributes, parameters and variables that are not used either."""

PUBLIC_PARTICIPLES = {"aligned", "broken", "moved", "packed", "predicated", "shared", "tiled"}
"""Names of the builder, the device and the strategies that users write: they return a changed copy, or declare."""

IRREGULAR_PARTICIPLES = {
    *("begun", "bound", "broken", "brought", "built", "caught", "chosen", "done", "drawn", "driven", "forgotten"),
    *("found", "frozen", "given", "gone", "grown", "heard", "held", "hidden", "kept", "known", "laid", "left", "lost"),
    *("made", "meant", "met", "paid", "said", "seen", "sent", "shown", "shut", "spelt", "spoken", "stuck"),
    *("sunk", "taken", "taught", "thrown", "told", "torn", "understood", "won", "written"),
}
VERBS_WITH_ED = {"embed", "exceed", "feed", "need", "seed", "speed"}

DOCUMENTATION_LEFT: dict[str, int] = {}
"""How many of the words each package's documentation may still have: numbers that only become smaller."""

MESSAGES_LEFT: dict[str, int] = {}
"""How many of the words each package's strings may still have: numbers that only become smaller."""

NAMES_LEFT: dict[str, int] = {}
"""How many names each package may still have: numbers that only become smaller."""

BRITISH = re.compile(
    "(?:initial|synchron|optim|special|parenthes|memo|normal|recogn|parametr|character|organ|general|serial|minim|maxim"
    "|summar|categor|custom|emphas|capital|canonical|discret|quant|virtual|stabil|vector|visual|util|token|prior|sanit"
    "|synthes|linear|equal|formal)is(?:e[sdr]?|ers|ing|ations?|able)(?![a-z])"
    "|(?:neighb|behavi|(?<![a-z])col|(?<=un)col|fav|hon|flav)our"
    "|analys(?:e[rd]?|ers|ing)(?![a-z])"
    "|(?:signal|label|cancel|model|travel|tunnel)l(?:ed|ing|ers?)(?![a-z])"
    "|(?<![a-z])(?:centre[sd]?|barycentre|towards|learnt|(?:mis)?spelt|judgements?|artefacts?|licence|grey|whilst|amongst)"
    "(?![a-z])",
    re.IGNORECASE,
)
"""The British spellings of words that this tree has used. The American ones are written, in names too."""

BRITISH_NAMES = re.compile(
    r"assert_optimisation_invariant|optimisation(?=[\"`: ])|\.behaviour\b|def behaviour\b|\binitialiser\b"
    r"|CancelledError|\.cancelled\(\)|aria.?labelledby",
    re.IGNORECASE,
)
"""Names that users import or write, and those of other projects: they are not renamed."""

LETTERS = re.compile("[a-z]+", re.IGNORECASE)
WORD = re.compile(rf"\b(?:{'|'.join(FORBIDDEN)})\b")
"""Finds words in lower case: where the case is ignored, Python searches several times more slowly."""
NOUN_CLAUSE = re.compile(r"test (what|who|whoever|whatever|where nobody)\b")
"""The beginning of a test's name without a subject that a reader knows."""
PLAIN_NAME = re.compile(r"(one|half|both)_ways?")
PTX_TEXT = re.compile(r"[%;\n]")
CODE = re.compile(r"`[^`\n]+`|```.*?```", re.DOTALL)
STRING_OR_COMMENT = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"""|'
    r"'''(?:[^'\\]|\\.|'(?!''))*'''|"
    r'"(?:[^"\\\n]|\\.)*"|'
    r"'(?:[^'\\\n]|\\.)*'|#[^\n]*",
    re.DOTALL,
)
"""The strings of a Python source, whose `#` begins no comment, and its comments."""


class Prose(NamedTuple):
    """A piece of English, and where it begins."""

    path: str
    line: int
    text: str

    def forbidden(self) -> Iterator[tuple[int, str]]:
        """Yields the line and the word of each use of a forbidden word."""
        text = CODE.sub(lambda code: re.sub(r"[^\n]", "`", code[0]), self.text).lower()
        for match in WORD.finditer(text):
            yield self.line + text.count("\n", 0, match.start()), match[0]


@cache
def python_files() -> list[Path]:
    return [*python_sources.python_files("ptxkit"), *python_sources.python_files("scripts")]


@cache
def files_of_tests() -> list[Path]:
    """The tests but for this one, which contains the words."""
    return sorted(path for path in (ROOT / "tests").rglob("*.py") if path != Path(__file__))


def package_of(path: str) -> str:
    """The package that a file counts for: `ptxkit/rules`, `ptxkit/analysis/sync`, `ptxkit`, `scripts` or a text."""
    parts = path.split("/")[:-1]
    if not parts or parts[0] != "ptxkit":
        return path if not parts else parts[0]
    return "/".join(parts[: 3 if parts[1:2] == ["analysis"] else 2])


def comments_of(source: str) -> Iterator[tuple[int, str]]:
    """Yields the line and the text of each comment of a Python source."""
    line, end = 1, 0
    for match in STRING_OR_COMMENT.finditer(source):
        if match[0].startswith("#"):
            line += source.count("\n", end, match.start())
            end = match.start()
            yield line, match[0]


def documentation() -> Iterator[Prose]:
    for path in (*python_files(), *files_of_tests()):
        name = path.relative_to(ROOT).as_posix()
        source = path.read_text("utf-8")
        for node in nodes_of(path):
            if (
                isinstance(node, ast.Expr)
                and isinstance(node.value, ast.Constant)
                and isinstance(node.value.value, str)
            ):
                yield Prose(name, node.lineno, node.value.value)
        yield from (Prose(name, line, comment) for line, comment in comments_of(source))
    for text in TEXTS:
        files = sorted((ROOT / text).rglob("*.md")) if (ROOT / text).is_dir() else [ROOT / text]
        for path in files:
            yield Prose(path.relative_to(ROOT).as_posix(), 1, path.read_text("utf-8"))
    for folder in PTX:
        for path in sorted((ROOT / folder).rglob("*.ptx")):
            for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
                if "//" in line:
                    yield Prose(path.relative_to(ROOT).as_posix(), number, line.split("//", 1)[1])


def other_files() -> Iterator[Path]:
    """Yields the files of other languages than Python and PTX: the grammars, tables, pages, CUDA C++, shell scripts."""
    for folder in SOURCES:
        for path in sorted((ROOT / folder).rglob("*")):
            if (
                path.suffix in SOURCE_SUFFIXES
                and path.is_file()
                and not NOT_READ.intersection(path.parts)
                and path.relative_to(ROOT).as_posix() not in NOT_OURS
                and path not in python_files()
            ):
                yield path


def case_descriptions() -> Iterator[Prose]:
    """Yields the strings of the cases of rules and instructions that are not PTX."""
    for path in files_of_tests():
        if path.name.startswith("cases_"):
            for node in nodes_of(path):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and not PTX_TEXT.search(node.value):
                    yield Prose(path.relative_to(ROOT).as_posix(), node.lineno, node.value)


def messages() -> Iterator[Prose]:
    for path in python_files():
        documented = {id(node.value) for node in nodes_of(path) if isinstance(node, ast.Expr)}
        for node in nodes_of(path):
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in documented:
                continue
            if " " in node.value.strip():
                yield Prose(path.relative_to(ROOT).as_posix(), node.lineno, node.value)


def names() -> Iterator[Prose]:
    """Yields the names that files define and that contain a word that names do not have."""
    for path in (*python_files(), *files_of_tests()):
        for node in nodes_of(path):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                name = node.name
            elif isinstance(node, ast.arg):
                name = node.arg
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                name = node.id
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                name = node.attr
            else:
                continue
            words = PLAIN_NAME.sub("", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()).split("_")
            if FORBIDDEN_NAMES.intersection(words):
                yield Prose(path.relative_to(ROOT).as_posix(), node.lineno, name)


def sentences_of_tests() -> Iterator[Prose]:
    """Yields the names of tests, as sentences."""
    for path in files_of_tests():
        for node in nodes_of(path):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                yield Prose(path.relative_to(ROOT).as_posix(), node.lineno, node.name.replace("_", " "))


def assert_at_most(allowed: dict[str, int], uses: list[tuple[str, str]]) -> None:
    """`uses` are paths with a description; no package has more of them than it is allowed."""
    counts = Counter(package_of(path) for path, _ in uses)
    over = {package for package, count in counts.items() if count > allowed.get(package, 0)}
    shown = [text for path, text in uses if package_of(path) in over]
    assert not over, f"{ {package: counts[package] for package in sorted(over)} }\n" + "\n".join(shown[:200])


def test_documentation_is_in_plain_english() -> None:
    uses = [
        (prose.path, f"{prose.path}:{line}: {word}") for prose in documentation() for line, word in prose.forbidden()
    ]
    assert_at_most(DOCUMENTATION_LEFT, uses)


def test_messages_are_in_plain_english() -> None:
    uses = [(prose.path, f"{prose.path}:{line}: {word}") for prose in messages() for line, word in prose.forbidden()]
    assert_at_most(MESSAGES_LEFT, uses)


def test_other_languages_are_in_plain_english() -> None:
    files = list(other_files())
    assert {path.suffix for path in files} == SOURCE_SUFFIXES
    assert len(files) > 100
    prose = [Prose(path.relative_to(ROOT).as_posix(), 1, path.read_text("utf-8")) for path in files]
    assert [f"{each.path}:{line}: {word}" for each in prose for line, word in each.forbidden()] == []


def test_files_are_named_in_plain_english() -> None:
    paths = [path.relative_to(ROOT) for folder in SOURCES for path in (ROOT / folder).rglob("*") if path.is_file()]
    paths = [path for path in paths if not NOT_READ.intersection(path.parts)]
    assert len(paths) > 2_000
    uses = [str(path) for path in paths if [*Prose("", 1, re.sub(r"[^a-z0-9]+", " ", path.name.lower())).forbidden()]]
    assert uses == []


def test_names_are_terms_of_the_field() -> None:
    assert_at_most(NAMES_LEFT, [(name.path, f"{name.path}:{name.line}: {name.text}") for name in names()])


def is_bare_participle(name: str) -> bool:
    """Returns whether a name is one word, and that a participle: `shown`, but not `shown_text`, nor `put`, a verb."""
    word = name.strip("_")
    return "_" not in word and ((word.endswith("ed") and word not in VERBS_WITH_ED) or word in IRREGULAR_PARTICIPLES)


def test_functions_are_not_named_by_a_participle() -> None:
    functions = [
        (path.relative_to(ROOT).as_posix(), node.lineno, node.name)
        for path in (*python_files(), *files_of_tests())
        for node in nodes_of(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and not any("property" in ast.unparse(decorator) for decorator in node.decorator_list)
    ]
    assert len(functions) > 10_000
    assert {name for _, _, name in functions} >= PUBLIC_PARTICIPLES
    bare = [each for each in functions if is_bare_participle(each[2]) and each[2] not in PUBLIC_PARTICIPLES]
    assert [f"{path}:{line}: {name}" for path, line, name in bare] == []


def test_tests_are_named_in_plain_english() -> None:
    names = list(sentences_of_tests())
    assert len(names) > 3_000
    unclear = [f"{name.path}:{name.line}: {name.text}" for name in names if NOUN_CLAUSE.match(name.text)]
    uses = [f"{each.path}:{line}: {word}" for each in (*names, *case_descriptions()) for line, word in each.forbidden()]
    found = uses + unclear
    assert not found, "\n".join(found[:200])


@cache
def is_british(letters: str) -> bool:
    """Returns whether a sequence of letters between other characters contains a British spelling."""
    return BRITISH.search(letters) is not None


def test_spelling_is_american() -> None:
    texts = [path for text in TEXTS for path in ((ROOT / text).rglob("*.md") if text == "docs" else [ROOT / text])]
    cases = (ROOT / "corpus" / "rules").rglob("*.ptx")
    uses = []
    for path in (*python_files(), *files_of_tests(), *texts, *cases, *(ROOT / "grammars").rglob("*.*")):
        text = f"{path.name}\n{path.read_text('utf-8')}"
        if any(map(is_british, set(LETTERS.findall(text)))):
            found = BRITISH.finditer(BRITISH_NAMES.sub("", text))
            uses += [f"{path.relative_to(ROOT)}: {match[0]}" for match in found]
    assert not uses, "\n".join(uses[:200])


def test_the_search_finds_words_in_every_kind_of_text() -> None:
    for words in ("It is mended.", "A wait for ever", "the copy is\nunder way", "Nobody waits"):
        assert list(Prose("x.py", 1, words).forbidden()), words
    for words in ("The amendment stands for it.", "`mend` is code", "It is forbidden."):
        assert not list(Prose("x.py", 1, words).forbidden()), words
    assert sum(1 for _ in messages()) > 2_000


def test_comments_are_those_of_the_tokenizer() -> None:
    own = ['#!"', "a = '#' # b \\\"", 'c = r"\\"  # "d"', '"""# e "\\""" # f"""', "f'#' # g", "'\\\n#'#h", "#"]
    for source in ("\n".join(own), *(path.read_text("utf-8") for path in (Path(__file__), *python_files()[::100]))):
        tokens = tokenize.generate_tokens(io.StringIO(source).readline)
        expected = [(token.start[0], token.string) for token in tokens if token.type == tokenize.COMMENT]
        assert list(comments_of(source)) == expected


def test_british_spellings_are_found_in_names() -> None:
    for word in ("reinitialise", "MAX_COLOUR", "tests.behaviour"):
        assert any(map(is_british, LETTERS.findall(word))), word
    for word in ("exercise", "discolour", "analyses", "CANCEL_LINE"):
        assert not any(map(is_british, LETTERS.findall(word))), word


def test_bare_participles_are_recognized() -> None:
    assert all(map(is_bare_participle, ("told", "_merged", "shown", "verified")))
    assert not any(map(is_bare_participle, ("shown_text", "is_merged", "need", "read", "verify", "put")))
