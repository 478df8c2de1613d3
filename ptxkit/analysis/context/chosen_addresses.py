"""Chooses loaded data with which an access at an unknown address uses bytes that another thread accesses.

The kernel must compute the address from one word that it only reads, such as an index of a bin, and from numbers. Its
code must limit the index, as by a mask or a type of 8 bits, so that the access is inside its variable whatever the word
is: a kernel that accepts any index accepts the chosen one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ptxkit.analysis.context.access_extents import AccessExtents
from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.context.races import Race
from ptxkit.analysis.context.uncertain_races import find_unlocated_races
from ptxkit.analysis.dataflow.input_loads import input_loads
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.limits import MAX_INPUT_DEPTH
from ptxkit.analysis.symexec.explorer import Explorer
from ptxkit.analysis.values.symbolic_values import SymbolicValue
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Access
from ptxkit.semantics.value_ops import INTEGER_OPERATIONS, bit_mask

#: By operation, an operand with which it may have a result. The arguments are the result, and the other number.
_INVERSES: dict[str, Callable[[int, int], int]] = {
    "shl": lambda result, by: result >> by,
    "shr": lambda result, by: result << by,
    "bfe": lambda result, by: result << by,
    "mul": lambda result, by: result // by if by else 0,
    "mul_wide": lambda result, by: result // by if by else 0,
    "div": lambda result, by: result * by,
    "sub": lambda result, by: result + by,
    "xor": lambda result, by: result ^ by,
    **dict.fromkeys(("and", "min", "max", "rem", "convert", "copy"), lambda result, _: result),
}


@dataclass(frozen=True, slots=True)
class ChosenWord:
    """A number that a load returns."""

    load: Step
    number: int


class ChosenAddresses:
    """The addresses of one kernel that its data decide."""

    def __init__(self, explorer: Explorer) -> None:
        self._terms = explorer.symbolic_values
        self._loads = explorer.program.analysis(input_loads)

    def word_for(self, race: Race, extents: AccessExtents) -> ChosenWord | None:
        """Returns a word for which both accesses use the same bytes; None where one address is not so computed."""
        write, read = race.write.event, race.read.event
        effects = [each.effect for each in (write, read)]
        if not race.is_certain or not all(
            isinstance(each, Access) and (each.completion, each.proxy) == (None, "generic") for each in effects
        ):
            return None
        unknown, known = (read, write) if write.range is not None else (write, read)
        if known.range is None or not isinstance(unknown.size, int) or not extents.is_inside_variable(unknown):
            return None
        low, high = known.range
        found = (self._word(unknown.address, at, 0) for at in range(low - unknown.size + 1, high))
        return next((each for each in found if each is not None), None)

    def _word(self, value: Any, wanted: int, depth: int) -> ChosenWord | None:
        """Returns the word for which a value is the wanted number."""
        if not isinstance(value, SymbolicValue) or depth > MAX_INPUT_DEPTH:
            return None
        wanted -= value.offset
        match self._terms.key_of(value):
            case ("load", Step() as step, *_, int(width)) if step in self._loads:
                return ChosenWord(step, wanted) if 0 <= wanted <= bit_mask(width) else None
            case (str(name), *arguments) if name in _INVERSES and wanted >= 0:
                return self._operand(name, arguments, wanted, depth)
        return None

    def _operand(self, name: str, arguments: list[Any], wanted: int, depth: int) -> ChosenWord | None:
        operation = INTEGER_OPERATIONS[name]
        given = arguments[: len(operation.static) + len(operation.operand_widths(arguments))]
        unknown = [at for at, each in enumerate(given) if isinstance(each, SymbolicValue)]
        numbers = [each for at, each in enumerate(given) if at not in operation.static and isinstance(each, int)]
        if len(unknown) != 1:
            return None
        operand = _INVERSES[name](wanted, numbers[0] if numbers else 0)
        computed = operation.compute(*(operand if at in unknown else each for at, each in enumerate(given)))
        return self._word(given[unknown[0]], operand, depth + 1) if computed == wanted else None


def find_races_of_chosen_data(kernel: KernelFacts) -> Iterator[tuple[int, Race, ChosenWord | None]]:
    """Yields the accesses at unknown addresses that nothing orders, with the scenario and the word, if one is found.

    A race of lanes of one warp is left out where the same instructions race in different warps.
    """
    chosen = ChosenAddresses(kernel.explorer)
    found = [
        (number, race, chosen.word_for(race, kernel.extents_of(kernel.scenarios[number])))
        for number, race in find_unlocated_races(kernel)
    ]
    wide = {frozenset(race.steps) for _, race, word in found if word is not None and not race.is_intra_warp}
    for number, race, word in found:
        if word is None or not race.is_intra_warp or frozenset(race.steps) not in wide:
            yield number, race, word
