"""The instruction table: finds the form of an instruction, or determines why none exists.

Matches are cached twice: by opcode string (modifiers, in any order), then by opcode and the shapes of the operands. The
caches hold one entry for each distinct key of the programs, a few thousand at most in practice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING

from ptxkit.diagnostics import Message
from ptxkit.diagnostics.catalogue import ptx1xx
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.isa.binding import bind_form
from ptxkit.isa.errors import NotationError
from ptxkit.isa.forms import Form, Gate, IgnoredModifiers, InstructionSet, Match, SpecialRegister
from ptxkit.isa.functions import bits, is_type
from ptxkit.isa.limits import MAX_COMPARED_TYPES
from ptxkit.isa.modifier_assignment import ModifierMismatch, assign_modifiers, fixed_stem
from ptxkit.isa.module_forms import ModuleForms
from ptxkit.isa.operand_shapes import OperandShape, accept_shapes, accepts_shape, shape_of
from ptxkit.isa.wording import clip_text, describe_operand
from ptxkit.syntax.tree import Instruction

if TYPE_CHECKING:
    from ptxkit.isa.match_store import ChoiceKey, FormChoice, MatchStore
    from ptxkit.isa.value_semantics import Semantics

_COMPONENTS = frozenset({"x", "y", "z", "w", "r", "g", "b", "a"})
_AMONG_TYPES = ("last", "later", "alongside")
_MAX_REPEATS = {"once": 1, "twice": 2}


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The reason why an instruction has no form.

    message: what is wrong, and what would be right; its code is that of an unknown opcode, of wrong modifiers or of
    wrong operands. nearest: the most similar form. operand: the index of the operand that does not fit, or None.
    """

    message: Message
    nearest: Form | None = None
    operand: int | None = None


class InstructionTable:
    """The instructions of PTX, as the `.isa` files define them. given: the instructions, or a function that reads them
    on first use. recall: a function that reads the cache of other processes.
    """

    def __init__(
        self, given: InstructionSet | Callable[[], InstructionSet], recall: Callable[[], MatchStore] | None = None
    ) -> None:
        self._source = given
        self._load_store = recall
        self._store: MatchStore | None = None
        self._candidates: dict[str, tuple[Match, ...]] = {}
        self._matches: dict[tuple[object, ...], Match | Mismatch] = {}

    @cached_property
    def _instructions(self) -> InstructionSet:
        return self._source if isinstance(self._source, InstructionSet) else self._source()

    @cached_property
    def _specials(self) -> Mapping[str, SpecialRegister]:
        return {register.name: register for register in self._instructions.specials}

    @property
    def names(self) -> tuple[str, ...]:
        """The instruction names, such as `cp`, in alphabetical order."""
        return tuple(sorted(self._instructions.forms))

    @property
    def value_gates(self) -> Mapping[str, tuple[Gate, ...]]:
        """The requirements of modifier values in all forms."""
        return self._instructions.value_gates

    @property
    def module(self) -> ModuleForms:
        """The parts of a module other than instructions: versions, targets, directives, types of variables."""
        return self._instructions.module

    def tolerance(self, name: str) -> str:
        """Returns why assemblers accept something in any form that the manual does not have. Raises NotationError if no
        line states it.
        """
        reason = self._instructions.tolerances.get(name)
        if reason is None:
            message = f'the checks know a tolerance {name}: a line `tolerance {name} "why"` must give its reason'
            raise NotationError(message, "grammars/isa/tolerated.isa", "", 1, 1)
        return reason

    def semantics_of(self, match: Match) -> tuple[Semantics, ...]:
        """Returns the semantics of a match from the `means` lines in order. Raises ValueError if one cannot be
        bound.
        """
        from ptxkit.isa.value_semantics import bind_semantics, form_key

        lines = self._instructions.meanings.get(form_key(match.form), ())
        return tuple(found for line in lines if (found := bind_semantics(line, match)) is not None)

    @property
    def specials(self) -> tuple[SpecialRegister, ...]:
        """All special registers, in the order of the files."""
        return self._instructions.specials

    @property
    def tolerances(self) -> Mapping[str, str]:
        """All that assemblers accept in any form although the manual does not have it: the reasons by name."""
        return self._instructions.tolerances

    def special(self, name: str) -> SpecialRegister | None:
        """Returns the special register that a name denotes, such as `%laneid` or `%tid.x`, or None."""
        base, _, component = name.partition(".")
        found = self._specials.get(base)
        if found is None or (component and not (found.vector and component in _COMPONENTS)):
            return None
        return found

    def forms(self, name: str) -> tuple[Form, ...]:
        """Returns the forms of an instruction name (the opcode up to its first dot), in the manual's order."""
        return self._instructions.forms.get(name, ())

    def candidates(self, opcode: str) -> tuple[Match, ...]:
        """Returns every form that the opcode string allows, each once for every choice of optional operands."""
        found = self._candidates.get(opcode)
        if found is None:
            found = None if self._store is None else self._store.candidates(opcode)
            found = self._candidates[opcode] = tuple(self._bind(opcode)) if found is None else found
        return found

    def load_match_store(self) -> None:
        """Reads the cache of other processes, once. Programs that build kernels need it, and reading it takes time."""
        if self._store is None and self._load_store is not None:
            self._store = self._load_store()

    def stored_choice(self, key: ChoiceKey) -> Match | None:
        """Returns the choice of an earlier process for a key, or None."""
        found = None if self._store is None else self._store.choices.get(key)
        return None if found is None else self.candidates(found[0])[found[1]]

    def has_stored_choice(self, name: str) -> bool:
        """Returns whether an earlier process chose a form by a key with that name."""
        return self._store is not None and name in self._store.choice_names

    def store_choices(self, chosen: Mapping[ChoiceKey, Match]) -> None:
        """Stores the bound opcodes and the choices of this process, by plain keys, for later processes."""
        if self._store is not None:
            seen = {str(key[0]) for key, found in self._matches.items() if isinstance(found, Match)}
            choices: dict[ChoiceKey, FormChoice] = {}
            for key, match in chosen.items():
                at = next((at for at, each in enumerate(self.candidates(match.canonical)) if each is match), None)
                if at is not None:
                    choices[key] = match.canonical, at
            self._store.store({opcode: self.candidates(opcode) for opcode in seen}, choices)

    def match(self, instruction: Instruction) -> Match | Mismatch:
        """Returns the form of an instruction, or the reason why it has none."""
        key = (instruction.opcode, *map(shape_of, instruction.operands))
        found = self._matches.get(key)
        if found is None:
            found = self._find_match(instruction.opcode, tuple(map(shape_of, instruction.operands)))
            self._matches[key] = found
        return found

    def _bind(self, opcode: str) -> Iterable[Match]:
        """Returns the matches of the manual's spelling, or else of one that assemblers tolerate."""
        name, *words = opcode.split(".")
        for lax, why in ((False, ""), (True, "odd_order"), (False, "ignored_modifier"), (True, "ignored_modifier")):
            matched = False
            ignored = self._ignored_in(opcode, words) if why == "ignored_modifier" else []
            if why == "ignored_modifier" and not ignored:
                return
            for form in self.forms(name):
                spelled = self._strip_ignored(form, words, ignored) if ignored else words
                if spelled is None:
                    continue
                try:
                    found = assign_modifiers(form, spelled, lax=lax)
                    if isinstance(found, ModifierMismatch):
                        continue
                    reason = self.tolerance(why) if why else form.tolerated
                    bound = bind_form(form, found, self._instructions.value_gates, tolerated=reason)
                except (ArithmeticError, LookupError, TypeError, ValueError) as error:
                    raise _notation_error(form, opcode, error) from error
                matched = True
                unseen = [gate for word in words if word not in spelled for gate in self._gates_of_ignored(word)]
                yield from (replace(match, gates=(*match.gates, *unseen)) for match in bound) if unseen else bound
            if matched:
                return

    def _ignored_in(self, opcode: str, words: Sequence[str]) -> list[tuple[IgnoredModifiers, set[int]]]:
        """Returns the modifiers that assemblers may ignore in an opcode, with their positions, or nothing if there are
        too many.
        """
        found: list[tuple[IgnoredModifiers, set[int]]] = []
        for each in self._instructions.ignored:
            there = {place for place, word in enumerate(words) if word in each.modifiers}
            if there and _matches_any(opcode, each.on or ("*",)) and not _matches_any(opcode, each.beyond):
                if len(there) > _MAX_REPEATS.get(each.position, len(there)):
                    return []
                found.append((each, there))
        return found

    @cached_property
    def _placed(self) -> frozenset[str]:
        """The words that are ignored depending on their position among the types."""
        return frozenset(
            word for each in self._instructions.ignored if each.position in _AMONG_TYPES for word in each.modifiers
        )

    def _strip_ignored(
        self, form: Form, words: Sequence[str], found: Iterable[tuple[IgnoredModifiers, set[int]]]
    ) -> list[str] | None:
        """Returns the words of an opcode without those that assemblers ignore in an instruction of this form.

        Returns None if none exist, or if one is inside the instruction's name.
        """
        ignored: set[int] = set()
        last: set[int] = set()
        companions: set[int] = set()
        types = [place for place, word in enumerate(words) if is_type(word) or word in self._placed]
        for each, there in found:
            if each.position == "last":
                last |= there
            elif each.position == "later":
                ignored |= there.difference(types[:1])
            elif not self._has_ignorable(form, each):
                unseen = companions if each.position == "alongside" else ignored
                unseen |= there
        types = [place for place in types if place not in ignored]
        ignored.update(takewhile(last.__contains__, reversed(types)))
        if companions and _keeps_widths(words, types, companions):
            ignored |= companions
        if not ignored or min(ignored) < len([word for word in _stem(form) if not is_type(word)]):
            return None
        heads = {stem[0] for other in self.forms(form.name) if (stem := _stem(other)) and not is_type(stem[0])}
        if not heads.isdisjoint(words[min(ignored) :]):
            return None  # the beginning of another instruction's name precedes it
        return [word for place, word in enumerate(words) if place not in ignored]

    def _has_ignorable(self, form: Form, unseen: IgnoredModifiers) -> bool:
        """Returns whether instructions of this form, or of its name if no opcode is given, have such modifiers."""
        equal = [form] if unseen.on else [other for other in self.forms(form.name) if _stem(other) == _stem(form)]
        return any(set(slot.values).intersection(unseen.modifiers) for other in equal for slot in other.modifiers)

    def _gates_of_ignored(self, word: str) -> Iterable[Gate]:
        """Returns the requirements of a modifier that assemblers ignore."""
        yield from self.value_gates.get(word, ())
        for each in self._instructions.ignored:
            if each.requirements and word in each.modifiers:
                yield Gate(f".{word}", each.requirements)

    def _find_match(self, opcode: str, shapes: tuple[OperandShape, ...]) -> Match | Mismatch:
        candidates = self.candidates(opcode)
        for candidate in candidates:
            if accept_shapes(candidate.operands, shapes):
                return candidate
        if candidates:
            return _operand_mismatch(opcode, candidates, shapes)
        return self._modifier_mismatch(opcode)

    def _modifier_mismatch(self, opcode: str) -> Mismatch:
        name, *words = opcode.split(".")
        forms = self.forms(name)
        if not forms:
            near = get_close_matches(name, self.names, n=1)
            hint = ptx1xx.SIMILAR_WORD(word=near[0]) if near else ""
            return Mismatch(ptx1xx.NOT_IN_TABLE(name=clip_text(name), hint=hint))
        misfits = [
            found for found in (assign_modifiers(form, words) for form in forms) if isinstance(found, ModifierMismatch)
        ]
        best = max(misfits, key=lambda found: found.score)
        return Mismatch(_explain(opcode, best, forms), best.form)


def _notation_error(form: Form, opcode: str, error: Exception) -> NotationError:
    """Returns the error of a notation that is only detected when the form is used, such as `bits(t)` of a word that is
    not a type.
    """
    message = f"this form cannot be used for `{clip_text(opcode)}`: {error}"
    return NotationError(message, form.file, "\n" * (form.line - 1) + form.syntax, form.line, 1)


def _stem(form: Form) -> list[str]:
    """Returns the words that follow the form's name, first and in order."""
    return fixed_stem([slot.name for slot in form.modifiers if slot.stem])


def _matches_any(opcode: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(opcode, pattern) for pattern in patterns)


def _keeps_widths(words: Sequence[str], types: Sequence[int], unseen: set[int]) -> bool:
    """Returns whether the types that assemblers compare have the same widths without the ignored ones among them."""
    own = [place for place in types if place not in unseen]
    pairs = list(zip(types, own, strict=False))[:MAX_COMPARED_TYPES]
    return all(bits(words[there]) == bits(words[wanted]) for there, wanted in pairs)


def _explain(opcode: str, misfit: ModifierMismatch, forms: tuple[Form, ...]) -> Message:
    form = misfit.form
    if misfit.rule is not None:
        syntax = form.syntax.removeprefix("form ")
        return ptx1xx.BREAKS_RULE_OF_FORM(opcode=clip_text(opcode), form=syntax, rule=misfit.rule.text)
    if misfit.word is not None:
        legal = {value for slot in form.modifiers for value in slot.values}
        everywhere = {value for each in forms for slot in each.modifiers for value in slot.values}
        near = get_close_matches(misfit.word, legal, n=1) or get_close_matches(misfit.word, everywhere, n=1)
        hint = ptx1xx.SIMILAR_WORD(word=f".{near[0]}") if near and near[0] != misfit.word else ""
        template = ptx1xx.MODIFIER_DOES_NOT_FIT if misfit.word in everywhere else ptx1xx.NO_MODIFIER
        word = clip_text(misfit.word)
        return template(word=word, name=form.name, hint=hint, needed=_expected_words(misfit))
    return ptx1xx.LACKS_MODIFIER(opcode=clip_text(opcode), needed=_expected_words(misfit))


def _expected_words(misfit: ModifierMismatch) -> Message | str:
    if misfit.missing is None:
        return ""
    slot = next(slot for slot in misfit.form.modifiers if slot.name == misfit.missing)
    return ptx1xx.ONE_OF_NEEDED(values=", ".join(f".{value}" for value in slot.values))


def _operand_mismatch(opcode: str, candidates: tuple[Match, ...], shapes: tuple[OperandShape, ...]) -> Mismatch:
    same = [candidate for candidate in candidates if len(candidate.operands) == len(shapes)]
    if not same:
        counts = sorted({len(candidate.operands) for candidate in candidates})
        wanted = " or ".join(str(count) for count in counts)
        template = ptx1xx.WRONG_OPERAND_COUNT if counts != [1] else ptx1xx.ONE_OPERAND_NEEDED
        message = template(opcode=clip_text(opcode), wanted=wanted, given=len(shapes))
        return Mismatch(message, candidates[0].form)

    def fitting(candidate: Match) -> int:
        pairs = enumerate(zip(candidate.operands, shapes, strict=True))
        return next((index for index, (operand, shape) in pairs if not accepts_shape(operand, shape)), len(shapes))

    best = max(same, key=fitting)
    index = fitting(best)
    expected = describe_operand(best.operands[index])
    message = ptx1xx.OPERAND_DOES_NOT_FIT(operand=index + 1, opcode=clip_text(opcode), expected=expected)
    return Mismatch(message, best.form, index)
