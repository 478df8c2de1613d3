"""Builds forms from the parse trees of the `.isa` files.

There are two passes: the first collects the definitions that all files share (named sets, the gates of modifier
values), and the second builds the forms, section by section. Every name is resolved here, so that a misspelling is
reported with its location and never becomes a form that silently matches nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from lark import Token, Tree

from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.isa.effect_forms import build_effect
from ptxkit.isa.expression_builder import ExpressionBuilder, NotationScope
from ptxkit.isa.forms import (
    Constraint,
    EffectForm,
    Form,
    Gate,
    IgnoredModifiers,
    InstructionSet,
    Modifier,
    Requirement,
    SpecialRegister,
)
from ptxkit.isa.module_forms import ModuleForms
from ptxkit.isa.module_loader import HEADS, ModuleBlock, build_module
from ptxkit.isa.notation import Node, NotationError, parse_notation
from ptxkit.isa.operand_forms import OperandBuilder, roles_of
from ptxkit.isa.requirements import requirement_of
from ptxkit.isa.section_checks import FormScope, check_section
from ptxkit.isa.table_checks import check_table
from ptxkit.isa.value_semantics import SemanticsForm, form_key
from ptxkit.isa.value_semantics_forms import build_semantics
from ptxkit.resources import grammar_path


def isa_files() -> tuple[Path, ...]:
    """Returns the files of the table, in a fixed order."""
    return tuple(sorted((grammar_path() / "isa").glob("*.isa")))


def load_instructions(files: Sequence[Path] | None = None) -> InstructionSet:
    """Loads the table from `.isa` files (default: the project's). Raises `NotationError` for an error in them."""
    paths = isa_files() if files is None else tuple(files)
    return load_texts({str(path): _read(path) for path in paths})


def load_texts(texts: Mapping[str, str]) -> InstructionSet:
    """Loads the table from texts by path."""
    chapters = [_Chapter(path, text, parse_notation(text, path)) for path, text in texts.items()]
    sets: dict[str, tuple[str, ...]] = {}
    for chapter in chapters:
        chapter.collect_sets(sets)
    forms: dict[str, list[Form]] = {}
    meanings: dict[str, tuple[SemanticsForm, ...]] = {}
    gates: dict[str, list[Gate]] = {}
    for chapter in chapters:
        for value, gate in chapter.value_gates(sets):
            gates.setdefault(value, []).append(gate)
        for form, lines in chapter.forms(sets):
            forms.setdefault(form.name, []).append(form)
            if lines:
                meanings[form_key(form)] = lines
    made = InstructionSet(
        {name: tuple(sorted(found, key=lambda form: form.tolerated != "")) for name, found in forms.items()},
        {name: tuple(found) for name, found in gates.items()},
        tuple(register for chapter in chapters for register in chapter.specials()),
        _merge_module_forms([chapter.module() for chapter in chapters]),
        dict(found for chapter in chapters for found in chapter.tolerances()),
        tuple(found for chapter in chapters for found in chapter.ignored_modifiers(sets)),
        meanings,
    )
    check_table(made, chapters)
    return made


def _read(path: Path) -> str:
    data = path.read_bytes()
    try:
        return data.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        shown = data.decode("utf-8", "replace")
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        raise NotationError("this byte is not UTF-8", str(path), shown, line, column) from None


@dataclass(slots=True)
class _Block:
    """The statements under one `form` line, or those common to a section."""

    head: Node | None = None
    variables: list[Node] = field(default_factory=list)
    others: list[Node] = field(default_factory=list)


@dataclass(slots=True)
class _Section:
    title: str = ""
    common: _Block = field(default_factory=_Block)
    forms: list[_Block] = field(default_factory=list)


@dataclass(slots=True)
class _Chapter:
    path: str
    text: str
    tree: Node

    def fail(self, message: str, at: Node | Token) -> NotationError:
        line = at.line if isinstance(at, Token) else getattr(at.meta, "line", 1)
        column = at.column if isinstance(at, Token) else getattr(at.meta, "column", 1)
        return NotationError(message, self.path, self.text, line or 1, column or 1)

    def collect_sets(self, sets: dict[str, tuple[str, ...]]) -> None:
        for node in _nodes(self.tree):
            if node.data == "set":
                name, values = node.children
                if str(name) in sets:
                    raise self.fail(f"the set {name} is defined twice", node)
                sets[str(name)] = _values(self, values, sets)

    def value_gates(self, sets: Mapping[str, tuple[str, ...]]) -> list[tuple[str, Gate]]:
        found = []
        for node in _nodes(self.tree):
            if node.data == "section":
                break
            if node.data == "gate" and node.children[0] is not None:
                value = str(node.children[0])[1:]
                found.append(
                    (value, _gate(self, node, f".{value}", ExpressionBuilder(self.fail, NotationScope(sets=sets))))
                )
        return found

    def forms(self, sets: Mapping[str, tuple[str, ...]]) -> list[tuple[Form, tuple[SemanticsForm, ...]]]:
        """Returns the forms, each with the lines that define its semantics."""
        return [form for section in self._split_sections() for form in _SectionBuilder(self, section, sets).build()]

    def tolerances(self) -> list[tuple[str, str]]:
        """Returns name and reason of what assemblers accept in any form."""
        found = [node.children for node in _nodes(self.tree) if node.data == "tolerance"]
        return [(str(name), str(reason)[1:-1]) for name, reason in found]

    def ignored_modifiers(self, sets: Mapping[str, tuple[str, ...]]) -> Iterator[IgnoredModifiers]:
        """Yields the modifiers that assemblers ignore on instructions without such modifiers."""
        for node in _nodes(self.tree):
            if node.data == "ignored":
                values, place, *patterns, needs = node.children
                on, beyond = (tuple(str(text)[1:-1] for text in each.children) if each else () for each in patterns)
                asked = tuple(requirement_of(each, self.fail) for each in (needs.children[0].children if needs else ()))
                yield IgnoredModifiers(_values(self, values, sets), on, beyond, str(place or ""), asked)

    def specials(self) -> list[SpecialRegister]:
        found: list[SpecialRegister] = []
        for node in _nodes(self.tree):
            if node.data == "special":
                *words, needs, companions = node.children
                values = [str(word)[1:] for word in words if word.type == "VALUE"]
                is_vector = values[0].startswith("v")
                types = tuple(values[is_vector:])
                companions_of = tuple(str(word)[1:] for word in companions.children) if companions is not None else ()
                asked = needs.children[0].children if needs is not None else []
                requirements = tuple(requirement_of(each, self.fail) for each in asked)
                for word in words:
                    if word.type != "VALUE":
                        names = _expand_series(str(word)) if "{" in word else [str(word)]
                        found += [
                            SpecialRegister(name, types[0], is_vector, requirements, types, companions_of)
                            for name in names
                        ]
        return found

    def module(self) -> ModuleForms:
        """Returns the chapter's definitions of modules and their directives."""

        def requirement(node: Node) -> Requirement:
            return requirement_of(node, self.fail)

        return build_module(_split_statements(self.tree)[1], requirement, self.fail)

    def _split_sections(self) -> list[_Section]:
        sections = [_Section()]
        for node in _split_statements(self.tree)[0]:
            section = sections[-1]
            block = section.forms[-1] if section.forms else section.common
            match node.data:
                case "chapter" | "set" | "special" | "tolerance" | "ignored":
                    pass
                case "section":
                    sections.append(_Section(title=str(node.children[0])[1:-1]))
                case "form":
                    section.forms.append(_Block(head=node))
                case "variable":
                    block.variables.append(node)
                case "gate" if len(sections) == 1:
                    pass
                case _:
                    block.others.append(node)
        return sections


class _SectionBuilder:
    """Builds the forms of one section: first the names of all its forms, then the common lines in each."""

    def __init__(self, chapter: _Chapter, section: _Section, sets: Mapping[str, tuple[str, ...]]) -> None:
        self.chapter, self.section, self.sets = chapter, section, sets
        everywhere = [section.common, *section.forms]
        self.known_modifiers = {str(node.children[0]) for block in everywhere for node in block.variables}
        self.known_lets = {str(n.children[0]) for block in everywhere for n in block.others if n.data == "let"}
        self.known_roles: set[str] = set()
        for block in section.forms:
            self.known_modifiers |= {name for name, _, _ in self._slots(block)}
            self.known_roles |= set(roles_of(_operands(block)))

    def build(self) -> list[tuple[Form, tuple[SemanticsForm, ...]]]:
        built = [self._form(block) for block in self.section.forms]
        forms = [form for form, _ in built]
        common = self.section.common
        scopes = [self._scope(block, form) for block, form in zip(self.section.forms, forms, strict=True)]
        check_section([*common.variables, *common.others], scopes, self.sets, self.chapter.fail)
        return built

    def _scope(self, block: _Block, form: Form) -> FormScope:
        head = block.head
        assert head is not None
        return FormScope(
            head=head,
            own=[*block.variables, *block.others],
            modifiers={**self._variables(block), **{slot.name: slot.values for slot in form.modifiers}},
            roles=roles_of(_operands(block)),
            lets=[name for name, _ in form.lets],
        )

    def _form(self, block: _Block) -> tuple[Form, tuple[SemanticsForm, ...]]:
        head = block.head
        assert head is not None
        values = self._variables(block)
        modifiers = self._modifiers(block, values)
        roles = roles_of(_operands(block))
        lets = {
            str(node.children[0]) for part in (self.section.common, block) for node in part.others if node.data == "let"
        }
        for role in roles:
            if any(role == slot.name for slot in modifiers) or role in lets:
                raise self.chapter.fail(f"{role} names both an operand and a modifier", head)
        builder = ExpressionBuilder(
            self.chapter.fail,
            NotationScope(
                modifiers=frozenset(slot.name for slot in modifiers),
                lets=frozenset(lets),
                roles=frozenset(roles),
                other_forms=frozenset(self.known_modifiers | self.known_lets | self.known_roles),
                sets=self.sets,
            ),
        )
        operands = OperandBuilder(self.chapter.fail, builder, values).build(_operands(block))
        statements = [*self.section.common.others, *block.others]
        tolerated = [(str(n.children[0])[1:-1], n.children[1]) for n in statements if n.data == "tolerate"]
        form = Form(
            name=str(head.children[0]),
            syntax=_statement_text(self.chapter, head),
            modifiers=modifiers,
            operands=operands,
            rules=self._rules(statements, "when", builder),
            lets=tuple((str(n.children[0]), builder.build(n.children[1])) for n in statements if n.data == "let"),
            gates=tuple(
                _gate(self.chapter, n, _subject(n, self.chapter), builder) for n in statements if n.data == "gate"
            ),
            effects=self._effects(statements, builder),
            needs=self._rules(statements, "need", builder),
            section=self.section.title,
            summary=next((str(n.children[0])[1:-1] for n in reversed(statements) if n.data == "summary"), ""),
            file=Path(self.chapter.path).name,
            line=head.meta.line,
            tolerated=next((reason for reason, condition in reversed(tolerated) if condition is None), ""),
            tolerances=tuple(
                Constraint(builder.build(condition.children[0]), reason)
                for reason, condition in tolerated
                if condition is not None
            ),
        )
        return form, self._meanings(block, builder)

    def _rules(self, statements: Sequence[Node], keyword: str, builder: ExpressionBuilder) -> tuple[Constraint, ...]:
        found = [node for node in statements if node.data == keyword]
        return tuple(
            Constraint(builder.build(n.children[0]), _statement_text(self.chapter, n).split(None, 1)[1]) for n in found
        )

    def _effects(self, statements: Sequence[Node], builder: ExpressionBuilder) -> tuple[EffectForm, ...]:
        found = [node for node in statements if node.data in ("effect", "value")]
        return tuple(build_effect(n, builder, _statement_text(self.chapter, n).split(None, 1)[1]) for n in found)

    def _meanings(self, block: _Block, builder: ExpressionBuilder) -> tuple[SemanticsForm, ...]:
        """Returns the `means` lines of the form, or else those of the section."""
        own, common = ([n for n in part.others if n.data == "means"] for part in (block, self.section.common))
        return tuple(
            build_semantics(n, builder, _statement_text(self.chapter, n).split(None, 1)[1]) for n in own or common
        )

    def _slots(self, block: _Block) -> list[tuple[str, Node | Token, bool]]:
        """(name, its node, optional) of each modifier place after the stem."""
        assert block.head is not None
        slots: list[tuple[str, Node | Token, bool]] = []
        for part in block.head.children[2].children:
            if part is None:
                continue
            optional = isinstance(part, Tree) and part.data == "absent"
            inner = part.children[0] if optional else part
            token = inner if isinstance(inner, Token) else inner.children[0]
            slots.append((str(token).lstrip("."), inner, optional))
        return slots

    def _variables(self, block: _Block) -> dict[str, tuple[str, ...]]:
        """Returns the values of each variable of the section and of the form."""
        values: dict[str, tuple[str, ...]] = {}
        for part in (self.section.common, block):
            for node in part.variables:
                values[str(node.children[0])] = _values(self.chapter, node.children[1], self.sets)
        return values

    def _modifiers(self, block: _Block, values: Mapping[str, tuple[str, ...]]) -> tuple[Modifier, ...]:
        assert block.head is not None
        modifiers = [Modifier(str(word)[1:], (str(word)[1:],), stem=True) for word in block.head.children[1].children]
        operands = _operands(block)
        selectors = [] if operands is None else operands.find_data("choice")
        used = {str(each.children[0]) for each in selectors}
        for name, node, optional in self._slots(block):
            if isinstance(node, Token):
                modifiers.append(Modifier(name, (name,), optional))
            elif name not in values:
                raise self.chapter.fail(f"the modifier {name} has no line `{name} = ...`", node)
            else:
                modifiers.append(Modifier(name, values[name], optional))
            used.add(name)
        for node in block.variables:
            if str(node.children[0]) not in used:
                raise self.chapter.fail(f"the form has no modifier <{node.children[0]}>", node)
        return tuple(modifiers)


def _nodes(tree: Node) -> list[Node]:
    return [child for child in tree.children if isinstance(child, Tree)]


def _split_statements(tree: Node) -> tuple[list[Node], list[ModuleBlock]]:
    """Returns the lines about instructions, and those about modules, each with its heading line."""
    instructions: list[Node] = []
    blocks: list[ModuleBlock] = []
    section, is_module = "", False
    for node in _nodes(tree):
        if node.data in HEADS:
            is_module = True
            blocks.append(ModuleBlock(node, section))
            continue
        if node.data in ("form", "section"):
            is_module = False
        if node.data == "section":
            section = str(node.children[0])[1:-1]
        if is_module:
            blocks[-1].others.append(node)
        else:
            instructions.append(node)
    return instructions, blocks


def _merge_module_forms(parts: Sequence[ModuleForms]) -> ModuleForms:
    """Merges the module definitions of all chapters."""
    fields = ModuleForms.__match_args__
    return ModuleForms(*(tuple(each for part in parts for each in getattr(part, name)) for name in fields))


def _operands(block: _Block) -> Node | None:
    assert block.head is not None
    found: Node | None = block.head.children[3]
    return found


def _values(chapter: _Chapter, node: Node, sets: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    values: list[str] = []
    for token in node.children:
        if token.type == "SERIES":
            values.extend(_expand_series(str(token)[1:]))
        elif token.startswith("."):
            values.append(str(token)[1:])
        elif str(token) in sets:
            values.extend(sets[str(token)])
        else:
            raise chapter.fail(f"there is no set {token}; a value has a dot in front", token)
    return tuple(dict.fromkeys(values))


def _expand_series(text: str) -> list[str]:
    """Expands `m64n{8..256 step 8}k16` to `m64n8k16`, `m64n16k16`..."""
    before, inside, after = re.split(r"[{}]", text)
    low, high, *step = (int(part) for part in re.findall(r"\d+", inside))
    return [f"{before}{number}{after}" for number in range(low, high + 1, *step)]


def _statement_text(chapter: _Chapter, node: Node) -> str:
    """Returns a statement as written, on one line."""
    written = chapter.text[node.meta.start_pos : node.meta.end_pos]
    return " ".join(written.replace("\\\n", " ").split())


def _subject(node: Node, chapter: _Chapter) -> str:
    """Returns the subject of a gate: the modifier value whose common gate it replaces, or its condition as written."""
    if node.children[0] is not None:
        return str(node.children[0])
    condition = node.children[2]
    return _statement_text(chapter, condition).removeprefix("when ") if condition is not None else ""


def _gate(chapter: _Chapter, node: Node, subject: str, builder: ExpressionBuilder) -> Gate:
    _, alternatives, condition = node.children
    return Gate(
        subject,
        tuple(requirement_of(alternative, chapter.fail) for alternative in alternatives.children),
        None if condition is None else builder.build(condition.children[0]),
    )
