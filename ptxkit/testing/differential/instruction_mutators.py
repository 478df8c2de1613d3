"""Mutations of instructions for both sides to check: most of them are invalid, and both sides should reject them.

A modifier is removed, added, repeated, swapped or replaced (including the type); an operand is removed, added,
repeated, swapped or replaced by another kind; a constant is beyond its range; a register inside an operand has another
class.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random

from ptxkit.isa import table
from ptxkit.isa.forms import Immediates, Match
from ptxkit.isa.instance_generator import InstructionInstance
from ptxkit.isa.operand_spellings import DECLARABLE

FOREIGN_OPERANDS = (
    *("%b32_1", "%b64_2", "%pred_1", "!%pred_2", "%f32_2", "%f64_3", "%s16_1", "%u8_2", "%f16_1", "%b128_1", "%s64_4"),
    *("3", "0", "-1", "1000000", "0x1ffffffff", "1.5", "0f3F800000", "0d3FF0000000000000"),
    *(
        "[%b64_1]",
        "[%b32_1]",
        "[global_]",
        "[shared_+4]",
        "[%b64_1+2]",
        "[%f32_1]",
        "[16]",
        "%laneid",
        "%tid",
        "%tid.x",
    ),
    *("{%b32_1, %b32_2}", "{%b32_1}", "{%f32_1, %f32_2, %f32_3, %f32_4}", "{%b64_1, %b64_2}", "%b32_1|%pred_1"),
    *(
        "_",
        "global_",
        "shared_+8",
        "target",
        "callee",
        "%v2b32_1",
        "%v4f32_1",
        "%clock64",
        "WARP_SZ",
        "undeclared",
        "global_[4]",
    ),
)
"""Operands that replace others."""


@cache
def modifier_vocabulary(name: str) -> tuple[str, ...]:
    """Returns the values of all modifiers in the forms of one instruction."""
    return tuple(sorted({value for form in table().forms(name) for slot in form.modifiers for value in slot.values}))


WRAPPINGS = (("!", ""), ("-", ""), ("{", "}"), ("[", "]"), ("(", ")"))
REGISTER = re.compile(r"%(?:v[248])?[a-z]+\d*(?:x2)?_")
_INTEGER = re.compile(r"(?<![\w%.])-?\d+(?![\w.])")
_ATTEMPTS = 20


@dataclass(slots=True)
class _InstructionDraft:
    """An instruction during its mutation. words: the parts of the opcode. known: the modifier values to choose from."""

    words: list[str]
    operands: list[str]
    match: Match
    vocabulary: Sequence[str]
    random: Random

    def pick_modifier_index(self) -> int:
        """Returns the index of a random modifier, or 0 if none exists."""
        return self.random.randrange(1, len(self.words)) if len(self.words) > 1 else 0

    def replace(self, index: int, start: int, end: int, text: str) -> None:
        """Replaces a part of an operand."""
        word = self.operands[index]
        self.operands[index] = f"{word[:start]}{text}{word[end:]}"

    def pick_match(self, pattern: re.Pattern[str]) -> tuple[int, re.Match[str]] | None:
        """Returns a place in an operand where a pattern matches."""
        places = [(index, each) for index, word in enumerate(self.operands) for each in pattern.finditer(word)]
        return self.random.choice(places) if places else None

    def __str__(self) -> str:
        return f"{'.'.join(self.words)} {', '.join(self.operands)}".rstrip() + ";"


def mutate_instruction(instance: InstructionInstance, vocabulary: Sequence[str], random: Random) -> tuple[str, str]:
    """Returns the mutated instruction, and a description of the change. vocabulary: the modifier values to choose
    from.
    """
    opcode, operands = split_instruction(instance.text)
    for _ in range(_ATTEMPTS):
        draft = _InstructionDraft(opcode.split("."), list(operands), instance.match, vocabulary, random)
        name, change = random.choice(_MUTATIONS)
        if change(draft) and str(draft) != instance.text:
            return str(draft), name
    draft = _InstructionDraft([*opcode.split("."), "sync"], operands, instance.match, vocabulary, random)
    return str(draft), "modifier added"


def split_instruction(text: str) -> tuple[str, list[str]]:
    """Opcode and operands; commas inside brackets, braces and parentheses do not separate."""
    opcode, _, rest = text.rstrip(";").partition(" ")
    operands, depth, current = [], 0, ""
    for letter in rest:
        depth += letter in "[{("
        depth -= letter in "]})"
        if letter == "," and depth == 0:
            operands.append(current.strip())
            current = ""
        else:
            current += letter
    return opcode, operands + ([current.strip()] if current.strip() else [])


# ------------------------------------------------------------------------------------------ modifiers Each mutator
# changes the draft, and returns whether a change was possible.


def _drop_modifier(draft: _InstructionDraft) -> bool:
    place = draft.pick_modifier_index()
    if place:
        del draft.words[place]
    return place > 0


def _add_modifier(draft: _InstructionDraft) -> bool:
    if not draft.vocabulary:
        return False
    draft.words.insert(draft.random.randint(1, len(draft.words)), draft.random.choice(draft.vocabulary))
    return True


def _double_modifier(draft: _InstructionDraft) -> bool:
    place = draft.pick_modifier_index()
    if place:
        draft.words.insert(draft.random.choice([place, len(draft.words)]), draft.words[place])
    return place > 0


def _swap_modifiers(draft: _InstructionDraft) -> bool:
    if len(draft.words) < 3:
        return False
    one, other = draft.random.sample(range(1, len(draft.words)), 2)
    draft.words[one], draft.words[other] = draft.words[other], draft.words[one]
    return True


def _exchange_modifier(draft: _InstructionDraft) -> bool:
    place = draft.pick_modifier_index()
    if not place or not draft.vocabulary:
        return False
    draft.words[place] = draft.random.choice(draft.vocabulary)
    return True


def _exchange_value(draft: _InstructionDraft) -> bool:
    chosen = draft.match.modifiers
    slots = [each for each in draft.match.form.modifiers if len(each.values) > 1 and chosen.get(each.name)]
    if not slots:
        return False
    slot = draft.random.choice(slots)
    draft.words[draft.words.index(str(chosen[slot.name]), 1)] = draft.random.choice(slot.values)
    return True


# ------------------------------------------------------------------------------------------- operands


def _drop_operand(draft: _InstructionDraft) -> bool:
    if not draft.operands:
        return False
    del draft.operands[draft.random.randrange(len(draft.operands))]
    return True


def _add_operand(draft: _InstructionDraft) -> bool:
    place = draft.random.randint(0, len(draft.operands))
    draft.operands.insert(place, draft.random.choice([*FOREIGN_OPERANDS, *draft.operands]))
    return True


def _swap_operands(draft: _InstructionDraft) -> bool:
    if len(draft.operands) < 2:
        return False
    one, other = draft.random.sample(range(len(draft.operands)), 2)
    draft.operands[one], draft.operands[other] = draft.operands[other], draft.operands[one]
    return True


def _exchange_operand(draft: _InstructionDraft) -> bool:
    if not draft.operands:
        return False
    draft.operands[draft.random.randrange(len(draft.operands))] = draft.random.choice(FOREIGN_OPERANDS)
    return True


def _exchange_class(draft: _InstructionDraft) -> bool:
    found = draft.pick_match(REGISTER)
    if found is not None:
        index, place = found
        draft.replace(index, *place.span(), f"%{draft.random.choice(DECLARABLE)}_")
    return found is not None


def _exchange_element(draft: _InstructionDraft) -> bool:
    nested = [index for index, word in enumerate(draft.operands) if word[0] in "[{(" and "," in word]
    if not nested:
        return False
    index = draft.random.choice(nested)
    word = draft.operands[index]
    _, parts = split_instruction(f"_ {word[1:-1]}")
    place = draft.random.randrange(len(parts))
    match draft.random.randrange(3):
        case 0:
            del parts[place]
        case 1:
            parts.insert(place, parts[place])
        case _:
            parts[place] = draft.random.choice(FOREIGN_OPERANDS)
    draft.operands[index] = f"{word[0]}{', '.join(parts)}{word[-1]}"
    return True


def _add_guard(draft: _InstructionDraft) -> bool:
    guard = draft.random.choice(["%pred_1", "!%pred_2", "%pred_1", "%b32_1", "!%f16_1", "%tid.x"])
    draft.words[0] = f"@{guard} {draft.words[0]}"
    return True


def _wrap_operand(draft: _InstructionDraft) -> bool:
    if not draft.operands:
        return False
    index = draft.random.randrange(len(draft.operands))
    before, after = draft.random.choice(WRAPPINGS)
    draft.operands[index] = f"{before}{draft.operands[index]}{after}"
    return True


# ------------------------------------------------------------------------------------------ constants


def _exceed_range(draft: _InstructionDraft) -> bool:
    forms = draft.match.operands
    limited = [index for index, form in enumerate(forms) if form.immediates is not None]
    if not limited or len(draft.operands) != len(forms):
        return False
    index = draft.random.choice(limited)
    draft.operands[index] = str(draft.random.choice(_boundary_values(forms[index].immediates or Immediates())))
    return True


def _boundary_values(limits: Immediates) -> list[int]:
    """Constants at the ends of a range and one beyond, and at the ends of the range of words."""
    if limits.members is not None:
        ends = [min(limits.members), max(limits.members)]
    else:
        ends = [end for end in (limits.low, limits.high) if end is not None]
    near = [end + step for end in ends for step in (-limits.step, -1, 0, 1, limits.step)]
    return [*near, -1, 0, 1, 255, 256, 65536, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 63, -(1 << 31) - 1]


def _change_number(draft: _InstructionDraft) -> bool:
    found = draft.pick_match(_INTEGER)
    if found is not None:
        index, place = found
        number = int(place[0])
        changed = draft.random.choice([number + 1, number * 2 + 1, -number, 1 << 31, 3])
        draft.replace(index, *place.span(), str(changed))
    return found is not None


_MUTATIONS: tuple[tuple[str, Callable[[_InstructionDraft], bool]], ...] = (
    ("modifier dropped", _drop_modifier),
    ("modifier added", _add_modifier),
    ("modifier doubled", _double_modifier),
    ("modifiers swapped", _swap_modifiers),
    ("modifier exchanged", _exchange_modifier),
    ("modifier of another value", _exchange_value),
    ("modifier of another value", _exchange_value),
    ("operand dropped", _drop_operand),
    ("operand added", _add_operand),
    ("operands swapped", _swap_operands),
    ("operand of another kind", _exchange_operand),
    ("operand of another kind", _exchange_operand),
    ("register of another type", _exchange_class),
    ("register of another type", _exchange_class),
    ("element dropped, doubled or exchanged", _exchange_element),
    ("constant at or beyond an end", _exceed_range),
    ("constant at or beyond an end", _exceed_range),
    ("number changed", _change_number),
    ("operand wrapped", _wrap_operand),
    ("guard added", _add_guard),
)
"""The mutators by description; the frequent ones twice."""
