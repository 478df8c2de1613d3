"""The kernels that are rewritten: seeded mutants, generated pipelines, correct kernels, and the fixtures of rules."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from random import Random

from ptxkit.fast_dataclasses import dataclass
from ptxkit.syntax import parse, print_module
from ptxkit.testing.mutation import equivalent_mutants
from ptxkit.testing.mutation.campaign import CorpusKernel, generate_mutants
from ptxkit.testing.mutation.mutant import Mutant
from ptxkit.testing.pipelines.campaign import PipelineJob

SOURCE_KINDS = ("mutant", "kernel", "broken-pipeline", "pipeline", "fixture")

_SHARES = (10, 4, 3, 2, 3)
"""Of each kind of source, in the order of `SOURCE_KINDS`."""

_PIPELINE_TARGETS = (("sm_90a", (8, 7)), ("sm_80", (8, 7)), ("sm_90", (8, 7)))
_BAD = "_bad_"


@dataclass(frozen=True, slots=True)
class RewriteSource:
    """A text that is rewritten. identity: a name that reproduces it with the same corpus. is_wrong: whether it has a
    fault; others are correct. text: canonical, without comments.
    """

    identity: str
    is_wrong: bool
    text: str


class SourceCorpus:
    """All sources of a corpus, chosen by random numbers.

    folder: the one with `kernels` and `rules`. kinds: those that are chosen.
    """

    def __init__(self, folder: Path, kinds: Sequence[str] = SOURCE_KINDS) -> None:
        self._kinds = kinds
        self._kernels = sorted((folder / "kernels").glob("*.ptx"))
        self._fixtures = sorted((folder / "rules").glob("*.ptx"))
        explanations = equivalent_mutants.load_explanations(folder / "kernels" / "equivalent.toml")
        self._equivalent = explanations.identities
        self._is_unreachable = explanations.is_unreachable

    def choose(self, seed: str) -> str:
        """Returns the identity of a source, which depends on the seed only."""
        chance = Random(seed)
        shares = [share for kind, share in zip(SOURCE_KINDS, _SHARES, strict=True) if kind in self._kinds]
        (kind,) = chance.choices([kind for kind in SOURCE_KINDS if kind in self._kinds], shares)
        number = chance.randrange(1 << 20)
        if kind in ("mutant", "kernel"):
            return f"{kind}:{self._kernels[number % len(self._kernels)].name}:{chance.randrange(1 << 20)}"
        if kind == "fixture":
            return f"{kind}:{self._fixtures[number % len(self._fixtures)].name}"
        target, _ = chance.choice(_PIPELINE_TARGETS)
        return f"{kind}:{target}:{number}"

    def load(self, identity: str) -> RewriteSource | None:
        """Returns the source with an identity; None for a kernel without mutants."""
        kind, name, *rest = identity.split(":")
        if kind == "fixture":
            path = next(each for each in self._fixtures if each.name == name)
            return _source(identity, _BAD in name, path.read_text(encoding="utf-8"))
        if kind in ("pipeline", "broken-pipeline"):
            version = dict(_PIPELINE_TARGETS)[name]
            job = PipelineJob(0, int(rest[0]), kind == "broken-pipeline", name, version)
            return _source(identity, job.is_broken, job.pipeline().module())
        path = next(each for each in self._kernels if each.name == name)
        text = path.read_text(encoding="utf-8")
        if kind == "kernel":
            return _source(identity, False, text)
        mutants = [each for each in _mutants(path) if self._is_faulty(each)]
        if not mutants:
            return None
        return _source(identity, True, mutants[int(rest[0]) % len(mutants)].apply(text))

    def _is_faulty(self, mutant: Mutant) -> bool:
        return not (mutant.is_harmless or mutant.identity in self._equivalent or self._is_unreachable(mutant))


@lru_cache(maxsize=4)
def _mutants(path: Path) -> list[Mutant]:
    return generate_mutants(CorpusKernel(path.name, path, path.read_text(encoding="utf-8")))


def _source(identity: str, is_wrong: bool, text: str) -> RewriteSource:
    return RewriteSource(identity, is_wrong, print_module(parse(text, identity)))
