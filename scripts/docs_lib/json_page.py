"""The reference of the JSON output: each key, its type and its meaning."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from docs_lib.markdown_text import code, table

_PLACE = {
    "line, column": ("number", "the first character, counted in characters from 1"),
    "end_line, end_column": ("number", "the first place after the last character"),
}
_ORIGIN = (
    "array of places of the source",
    "the contents of `.loc`: the line that the place was compiled from, then the line where it was inlined, etc.",
)
SCHEMA: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "document": {
        "version": ("number", "1; no key is removed or given another meaning while it is 1"),
        "files": ("array of files", "one for each input, in the order of the command line"),
        "summary": ("summary", "counts over all files"),
    },
    "file": {
        "path": ("string", "as the user named it, or `<stdin>`; `foo.whl!foo/k.ptx` for a text inside another file"),
        "status": (
            "string",
            "the first that applies of `failed` (no verdict: its one diagnostic, PTX100, states why), `findings` (an "
            "error or a warning), `undecided` (an open question without conditions), `conditional` (an open question) "
            "and `clean`",
        ),
        "diagnostics": ("array of diagnostics", "in the order of the text; all copies of a fault are in it"),
        "undecided": ("array of questions", "what the analysis could not decide: neither a fault nor a proof of none"),
        "conditions": (
            "array of conditions",
            "for each kernel with such questions: what a launch must satisfy so that they are decided; by kernel",
        ),
        "obligations": (
            "array of obligations",
            "of `ptxkit lint --obligations`: what each instruction must satisfy, by kernel and rule; absent otherwise",
        ),
        "runs": ("array of runs", "of `ptxkit verify`: what the reference machine ran; absent otherwise"),
    },
    "diagnostic": {
        "code": ("string", "such as `PTX401`; see [Codes](codes/index.md)"),
        "severity": ("string", "`error`, `warning` or `note`"),
        "message": ("string", "one sentence, without a place"),
        "path": ("string", "of the PTX, as in the file"),
        **_PLACE,
        "labels": ("array of labels", "other places: the other access, or what orders the two"),
        "notes": ("array of strings", "more about the finding"),
        "help": ("string or null", "what to do"),
        "isa": ("array of strings", "the titles of the manual's sections that the finding follows from"),
        "source": _ORIGIN,
        "program": (
            "place of the source or null",
            "the first element of `source` outside of libraries, at which reports for people begin",
        ),
        "fix": ("fix or null", "a change of the text that was validated"),
        "properties": ("object", "values for machines, by code; `witness` of a finding of the reference machine"),
        "group": (
            "string or null",
            "the same in all diagnostics that are one fault, such as those at the copies that unrolling makes",
        ),
    },
    "label": {
        "line, column": _PLACE["line, column"],
        "message": ("string", "what is there"),
        "source": _ORIGIN,
    },
    "place of the source": {
        "file": ("string", "as in `.file`"),
        "line, column": ("number", "counted from 1"),
    },
    "fix": {
        "message": ("string", "what the change is"),
        "safe": ("true or false", "no correct program changes its meaning"),
        "edits": ("array of edits", "all are applied together"),
    },
    "edit": {**_PLACE, "text": ("string", "what replaces the text of that place; an empty place inserts")},
    "question": {
        "code": ("string", "the rule that is not decided"),
        "message": ("string", "what is missing"),
        "path": ("string", "of the PTX"),
        **_PLACE,
        "source": _ORIGIN,
        "conditional": (
            "true or false",
            "it is decided in each launch that satisfies the conditions of the kernel",
        ),
        "runs": ("string", "of `verify`: what its runs show, such as `held in 12 runs`; empty without runs"),
    },
    "condition": {
        "kernel": ("string", "the name of the kernel"),
        "message": ("string", "all requirements as one clause: `the cluster has 1 CTA`"),
        "requirements": ("array of requirements", "a launch must satisfy all of them"),
        "questions": ("array of questions", "those of `undecided` that the requirements decide"),
    },
    "requirement": {
        "kind": ("string", "as in a [launch contract](../howto/contracts.md)"),
        "message": ("string", "a clause that states it"),
        "requires": ("object", "its numbers, as in a launch contract"),
    },
    "obligation": {
        "code": ("string", "the rule that states it"),
        "verdict": ("string", "`violated`, `discharged` (proven for all paths, threads and data) or `open`"),
        "kernel": ("string", "the name of the kernel in which it is judged"),
        "subject": ("string", "the operand that it is about, or a word such as the kind of a group; may be empty"),
        **_PLACE,
        "message": ("string", "the violation, the proof in words, or the reason why it is open"),
        "evidence": ("string or null", "the kind of the proof"),
        "steps": ("array of places", "the instructions on which the proof rests"),
        "needs": ("array of needs", "the conditions on the launch under which an open obligation is satisfied"),
    },
    "need": {
        "subject": ("string", "a parameter, or a variable whose size the launch determines"),
        "position": ("number", "the offset in bytes of the argument in its parameter"),
        "demand": (
            "string",
            "`multiple` of `amount`, `space`: an address in `space`, or `bytes`: at least `amount` bytes",
        ),
        "amount": ("number", "of the demand; 0 where it has none"),
        "space": ("string", "of the demand; empty where it has none"),
    },
    "step": _PLACE,
    "run": {
        "kernel": ("string", "its name"),
        "launch": ("string", "the geometry, in words"),
        "arguments": ("array of strings", "all that were passed, each once"),
        "runs": ("number", "how many"),
        "whole": ("number", "those that ended without a fault of the arguments"),
        "steps": ("number", "thread-instructions"),
        "reached": ("number", "instructions of the kernel that were executed with arguments that fit"),
        "instructions": ("number", "instructions that the kernel has"),
        "questions": ("number", "instructions about which the rules have an open question"),
        "asked": ("number", "those of them that were executed with arguments that fit"),
        "limits": ("string", "the limit of time that `--seconds` set, or empty"),
    },
    "summary": {
        "files": ("number", "how many inputs"),
        "clean, findings, undecided, conditional, failed": ("number", "files of each status"),
        "diagnostics": ("object", "the number of diagnostics by severity, without PTX100"),
        "undecided_questions": ("number", "open questions in all files"),
        "conditional_questions": ("number", "those of them that hold under known conditions"),
        "suppressed": ("number", "findings that comments hide"),
        "known": ("number", "findings that a baseline hides"),
        "fixed": ("number", "findings that `--fix` settled"),
    },
}
"""Each object of the document of `--format json`, with (type, meaning) of its keys."""

_PARTS = {
    "files": "file",
    "diagnostics": "diagnostic",
    "labels": "label",
    "edits": "edit",
    "fix": "fix",
    "program": "place of the source",
    "source": "place of the source",
    "runs": "run",
    "obligations": "obligation",
    "steps": "step",
    "needs": "need",
    "summary": "summary",
    "undecided": "question",
    "questions": "question",
    "conditions": "condition",
    "requirements": "requirement",
}
"""Key -> the object that it holds, or of which it holds an array."""


def json_page() -> tuple[str, str]:
    """(path below `reference/`, Markdown)."""
    return "json.md", "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield from _HEAD.splitlines()
    for name, keys in SCHEMA.items():
        rows = [
            (", ".join(code(each) for each in key.split(", ")), kind, meaning) for key, (kind, meaning) in keys.items()
        ]
        yield from (f"## {name[:1].upper() + name[1:]}", "")
        yield from table(("key", "type", "meaning"), rows)


def keys_without_meaning(document: Mapping[str, Any], name: str = "document") -> Iterable[str]:
    """The keys of a document that the page does not have, and those that it has in excess, as `diagnostic.key`."""
    known = {each for key in SCHEMA[name] for each in key.split(", ")}
    yield from (f"{name}.{key}" for key in {*document} ^ known if key not in ("runs", "obligations") or key in document)
    for key, value in document.items():
        if key in _PARTS and (name, key) != ("summary", "diagnostics"):
            for each in value if isinstance(value, list) else [value]:
                if isinstance(each, dict):
                    yield from keys_without_meaning(each, _PARTS[key])


_HEAD = """\
# JSON

`ptxkit lint --format json`, and the same of `verify` and `run`, prints one document. Readers must ignore keys that they
do not know. `--format json-lines` prints only the diagnostics, one a line, as files are done. `ptxkit isa --json`
prints the [instruction table](instructions/index.md), `ptxkit explain --all --format json` the pages of the
[codes](codes/index.md). The exit status is that of the command, whatever the format.

```console
$ ptxkit lint --format json corpus/rules/PTX301_bad_bulk_store_without_commit.ptx | head -12
{
  "version": 1,
  "files": [
    {
      "path": "corpus/rules/PTX301_bad_bulk_store_without_commit.ptx",
      "status": "findings",
      "diagnostics": [
        {
          "code": "PTX301",
          "severity": "error",
          ...
```

Lines and columns of the PTX count characters from 1. The documents of `ptxkit transfers`, `ptxkit contract` and
`ptxkit litmus` are others, which [their](../howto/transfers-and-view.md) [three](../howto/contracts.md)
[guides](../howto/litmus.md) describe.
"""
