"""Effects of an instruction form in sentences, from the expressions of the table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from ptxkit.fast_dataclasses import replace
from ptxkit.isa.constant_folding import fold
from ptxkit.isa.effect_binding import ACCESS_KINDS, effect_fields, is_required
from ptxkit.isa.effects import ALL
from ptxkit.isa.expression_text import expression_text
from ptxkit.isa.expressions import CallExpr, ConstantExpr, Expression, OperandRole
from ptxkit.isa.forms import EffectForm, Match
from ptxkit.isa.functions import space

_VERBS = {"read": "Reads", "write": "Writes", "update": "Reads and writes", "prefetch": "Prefetches"}
_COMPLETION = {
    "cp.async": "A `cp.async` group tracks its completion.",
    "bulk": "A bulk group tracks its completion.",
    "mbarrier": "The mbarrier {barrier} tracks its completion.",
    "wgmma": "A wgmma group tracks its completion.",
    "tcgen05": "It is asynchronous, and a `tcgen05.commit` makes an mbarrier track its completion.",
    "tcgen05.ld": "`tcgen05.wait::ld` waits for its completion.",
    "tcgen05.st": "`tcgen05.wait::st` waits for its completion.",
    "nothing": "It is asynchronous, and nothing signals its completion.",
}
_MECHANISM = {"cp.async": "`cp.async` group", "bulk": "bulk group", "wgmma": "wgmma group"}
_UNKNOWN = CallExpr("unknown", ())
_ABSENT = expression_text(ConstantExpr(None))
_TENSOR_WAITS = {"tcgen05.ld": "loads", "tcgen05.st": "stores"}


class EffectPhrases:
    """The arguments of one effect, as words."""

    def __init__(self, effect: EffectForm) -> None:
        self._given: Mapping[str, Expression] = dict(effect.arguments)
        self.notation = effect.text

    def has(self, name: str) -> bool:
        value = self._given.get(name)
        return value is not None and value != ConstantExpr(None)

    def is_true(self, name: str) -> bool:
        return self._given.get(name) == ConstantExpr(True)

    def plain(self, name: str, otherwise: str = "") -> str:
        """A word as it is, an expression as code."""
        value = self._given.get(name)
        if value is None or value == ConstantExpr(None):
            return otherwise
        return str(value.value) if isinstance(value, ConstantExpr) else self.code(name)

    def code(self, name: str, otherwise: str = "") -> str:
        value = self._given.get(name)
        if value is None or value == ConstantExpr(None):
            return otherwise
        if isinstance(value, CallExpr) and value.function == "default" and value.arguments[0] == ConstantExpr(None):
            value = value.arguments[1]  # the form lacks the operand that would override it
        return f"`{expression_text(value)}`"

    def amount(self, name: str, unit: str, otherwise: str) -> str:
        value = self._given.get(name)
        if value is None or value in (ConstantExpr(None), _UNKNOWN):
            return otherwise
        return f"{self.code(name)} {unit}"


def effect_sentences(effects: Iterable[EffectForm]) -> list[str]:
    """The effects of a form, each in a sentence or a few. Roles of operands and expressions of modifiers are code.

    A statement that names an operand that the form does not have is not an effect. An effect under several conditions
    is written once, without them: they are all cases of an expression.
    """
    conditions: dict[str, set[str]] = {}
    for effect in effects:
        condition = "" if effect.condition is None else expression_text(effect.condition)
        if condition != f"present({_ABSENT})" and not _lacks_operand(effect):
            found = conditions.setdefault(_sentence(effect), set())
            found.add(condition.replace(f"not present({_ABSENT})", ""))
    return [_conditional(sentence, found) for sentence, found in conditions.items()]


def match_sentences(match: Match) -> list[str]:
    """Returns the effects of a bound form in sentences: without those whose condition is false, and with the values of
    its modifiers.
    """
    return effect_sentences(bound for each in match.form.effects if (bound := _bind_words(each, match)) is not None)


def _bind_words(effect: EffectForm, match: Match) -> EffectForm | None:
    def fold_value(value: Expression) -> Expression:
        return fold(value, match.form, match.modifiers, match.roles)

    if effect.condition is not None and fold_value(effect.condition) != ConstantExpr(True):
        return None
    given: list[tuple[str, Expression]] = []
    for name, value in effect.arguments:
        if isinstance(value, OperandRole):
            bound: Expression = value if value.name in match.roles else ConstantExpr(None)
        elif isinstance(value, CallExpr) and value.function == "list":
            bound = CallExpr("list", tuple(map(fold_value, value.arguments)))
        else:
            bound = fold_value(value)
        if name == "space" and isinstance(bound, ConstantExpr):
            bound = ConstantExpr(space(bound.value))
        given.append((name, bound))
    value = dict(given).get("value", _UNKNOWN) if effect.name == "value" else _UNKNOWN
    text = effect.text if value == _UNKNOWN else f" = {expression_text(value)}"
    return replace(effect, arguments=tuple(given), condition=None, text=text)


def _lacks_operand(effect: EffectForm) -> bool:
    needed = {each.name for each in effect_fields(effect.name) if is_required(each)}
    return any(value == ConstantExpr(None) and name in needed for name, value in effect.arguments)


def _conditional(sentence: str, conditions: set[str]) -> str:
    [condition] = conditions if len(conditions) == 1 else {""}
    return f"Where `{condition}`: {sentence[:1].lower()}{sentence[1:]}" if condition else sentence


def _sentence(effect: EffectForm) -> str:
    words = EffectPhrases(effect)
    return _access(effect.name, words) if effect.name in ACCESS_KINDS else _SENTENCES[effect.name](words)


def _access(kind: str, words: EffectPhrases) -> str:
    via = {
        "descriptor": " by the descriptor",
        "tensormap": " by the tensor map",
        "multimem": " at every location of the multimem address",
    }.get(words.plain("via"), " at")
    amount = words.amount("size", "bytes of ", "")
    space = "Tensor Memory" if words.plain("space") == "tensor" else f"{_space(words)} memory"
    place = words.code("address")
    sentence = f"{_VERBS[kind]} {amount}{space}{f'{via} {place}' if place else ''}"
    if words.has("proxy") and words.plain("proxy") != "generic":
        sentence += f"{',' if via != ' at' else ''} through the {words.plain('proxy')} proxy"
    if words.has("order") and words.plain("order") != "weak":
        sentence += f", with the order {words.plain('order')}"
        sentence += f" and the scope {words.plain('scope')}" if words.has("scope") else ""
    if words.has("unless"):
        sentence += f", unless {words.code('unless')} is true"
    sentence += _multicast(words) + "."
    if words.has("completion"):
        sentence += " " + _COMPLETION[words.plain("completion")].format(barrier=words.code("barrier", "of the operand"))
    if words.plain("coherent") == "False":
        sentence += " The bytes may come from a cache that is not coherent."
    return sentence


def _multicast(words: EffectPhrases) -> str:
    if not words.has("multicast"):
        return ""
    if words.plain("multicast") == ALL:
        return ", in all CTAs of the cluster"
    return f", in each CTA that {words.code('multicast')} names"


def _space(words: EffectPhrases) -> str:
    space = words.plain("space", "shared::cta")
    return space.replace("`", "") if space.startswith("`.") else space


def _barrier(words: EffectPhrases) -> str:
    verbs = {"sync": "Waits at", "arrive": "Arrives at", "wait": "Waits at"}
    level = {"warp": "the lanes of a warp", "cta": "the CTA", "cluster": "the cluster"}
    action = words.plain("action")
    if words.plain("level") == "warp":
        return f"Synchronizes the lanes that {words.code('number', 'the mask')} names."
    sentence = f"{verbs.get(action, action)} the barrier {words.code('number')} of {level[words.plain('level')]}"
    sentence = sentence.replace("  ", " ")
    if words.has("threads"):
        sentence += f", in which {words.code('threads')} threads take part"
    return sentence + (", after all earlier arrivals." if action == "wait" else ".")


def _arrive(words: EffectPhrases) -> str:
    count = words.plain("count")
    arrivals = (
        "one arrival" if count == "1" else "arrivals" if "unknown" in count else f"{words.code('count')} arrivals"
    )
    sentence = f"Makes {arrivals} at the mbarrier {words.code('barrier')}"
    if words.has("expect"):
        sentence += f", after it lets the phase expect {words.code('expect')} more bytes"
    if words.is_true("asynchronous"):
        sentence += " when the thread's earlier asynchronous operations are complete"
    sentence += _multicast(words)
    sentence += f", with the order {words.plain('order', 'release')} and the scope {words.plain('scope', 'cta')}."
    if words.is_true("drop"):
        sentence += " Later phases expect fewer arrivals, by this number."
    return sentence


def _wait_group(words: EffectPhrases) -> str:
    group = words.plain("group")
    if group in _TENSOR_WAITS:
        return f"Waits until the thread's earlier {_TENSOR_WAITS[group]} of Tensor Memory are complete."
    begin = f"Commits the open {_MECHANISM[group]}, and waits" if words.is_true("commits") else "Waits"
    pending = words.plain("pending")
    amount = "no" if pending == "0" else f"at most {pending}"
    kind = _MECHANISM[group] if pending == "0" else f"{_MECHANISM[group]}s"
    read = f" (with {words.code('read_only')}: still read their sources)" if words.has("read_only") else ""
    return f"{begin} until {amount} {kind} of the thread {'is' if pending == '0' else 'are'} pending{read}."


def _proxy_fence(words: EffectPhrases) -> str:
    proxy = words.plain("proxy")
    text = {
        "release": f"Orders earlier accesses by the generic proxy before those by the {proxy} proxy after an acquire",
        "acquire": f"Orders later accesses by the {proxy} proxy after those by the generic proxy before a release",
    }.get(
        words.plain("direction"), f"Orders accesses by the generic proxy and by the {proxy} proxy, before and after it"
    )
    if words.has("spaces"):
        text += f", to {words.plain('spaces')} memory"
    return text + (f", at the scope {words.plain('scope')}." if words.has("scope") else ".")


def _value(words: EffectPhrases) -> str:
    result = words.code("result", "the result")
    value = re.sub(r" if .*", "", words.notation.partition(" = ")[2]) if words.code("value") else ""
    if value in ("", "unknown", "float"):
        return f"Writes {result}."
    return f"Writes {result}: `{value}`."


def _registers(words: EffectPhrases) -> str:
    verb = {"read": "reads", "write": "writes", "update": "reads and writes"}[words.plain("kind")]
    group = words.plain("group")
    until = f"its {_MECHANISM[group]} is complete" if group in _MECHANISM else "the wait for it"
    return f"Asynchronously {verb} the registers {words.code('operand')} until {until}."


_SENTENCES: Mapping[str, Callable[[EffectPhrases], str]] = {
    "value": _value,
    "barrier": _barrier,
    "mbarrier_arrive": _arrive,
    "wait_group": _wait_group,
    "proxy_fence": _proxy_fence,
    "async_registers": _registers,
    "prefetch": lambda words: (
        f"Brings {words.amount('size', 'bytes', 'a box')} of {_space(words)} memory at {words.code('address')} "
        f"into the cache {words.plain('level')}; nothing signals when."
    ),
    "commit_group": lambda words: f"Commits the open {_MECHANISM[words.plain('group')]} of the thread.",
    "memory_fence": lambda words: (
        f"Orders the thread's memory accesses, with the order {words.plain('order')} and the scope "
        f"{words.plain('scope')}" + (f", for {words.code('only')} only." if words.has("only") else ".")
    ),
    "mbarrier_init": lambda words: (
        f"Makes {words.code('barrier')} an mbarrier whose phases need {words.code('count')} arrivals."
    ),
    "mbarrier_invalidate": lambda words: f"Ends the life of the mbarrier {words.code('barrier')}.",
    "mbarrier_expect": lambda words: (
        f"Lets the phase of the mbarrier {words.code('barrier')} expect {words.code('size')} more bytes"
        f"{_multicast(words)}."
    ),
    "mbarrier_complete": lambda words: (
        f"Signals {words.amount('size', 'bytes', 'the bytes of the box')} at the mbarrier "
        f"{words.code('barrier', 'of the operand')}{_multicast(words)}"
        + (", at once." if words.plain("asynchronous") == "False" else ", when the copy is complete.")
    ),
    "mbarrier_wait": lambda words: (
        f"{'Waits, for a limited time,' if words.is_true('blocking') else 'Tests'} for the end of the phase "
        f"{words.code('phase')} (by its {words.plain('by')}) of the mbarrier {words.code('barrier')}: "
        f"{words.code('result', 'the result')} is true where it has ended. The order is "
        f"{words.plain('order', 'acquire')}, the scope {words.plain('scope', 'cta')}."
    ),
    "mbarrier_track": lambda words: (
        f"Makes an arrival at the mbarrier {words.code('barrier')} when the thread's earlier `cp.async` are complete."
    ),
    "register_fence": lambda words: (  # noqa: ARG005
        "Orders earlier accesses to registers before later asynchronous multiplications."
    ),
    "tensor_memory": lambda words: (
        {"allocate": "Allocates", "deallocate": "Deallocates", "relinquish": "Relinquishes the right to allocate"}[
            words.plain("action")
        ]
        + (f" {words.code('columns')} columns of Tensor Memory." if words.has("columns") else " Tensor Memory.")
    ),
    "tensor_fence": lambda words: (
        f"Orders asynchronous tcgen05 operations {words.plain('side')} a synchronization of threads."
    ),
    "cta_group": lambda words: (
        f"Operates on {words.code('ctas')} CTAs; all such instructions of a kernel have the same number."
    ),
    "home": lambda words: (
        f"The address {words.code('address')} must be in the shared memory of "
        + (
            "another CTA."
            if words.plain("where") == "other"
            else f"the same CTA as {words.code('companion', 'the destination')}."
        )
    ),
    "control": lambda words: {
        "branch": f"Branches to {words.code('target')}.",
        "branch_indexed": f"Branches to one of {words.code('target')}.",
        "call": f"Calls {words.code('target', 'a function')}.",
        "return": "Returns from the function.",
        "exit": "Ends the thread.",
        "trap": "Ends the kernel with an error.",
    }[words.plain("kind")],
    "grid": lambda words: f"Programmatic dependent launch: {words.code('action')}.",
    "register_count": lambda words: (
        f"{words.plain('action').capitalize()}s the registers of a thread to {words.code('count')}."
    ),
    "cancellation": lambda words: {
        "request": "Requests to cancel the launch of another cluster.",
        "query": f"Tests whether the request was granted: {words.code('granted')}.",
        "decode": "Reads which cluster was canceled.",
    }[words.plain("action")],
}
