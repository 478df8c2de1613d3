"""ptxas as the oracle: which instructions it refuses. `-arch=compute_XX` parses and checks, and needs no GPU."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from random import Random

from ptxkit.diagnostics import Severity
from ptxkit.isa.instances import FIRST_LINE, scaffold
from ptxkit.syntax import PTXSyntaxError, parse
from ptxkit.validate import validate
from tests.build.support import ptxas

_ERROR = re.compile(r"line (\d+); (?:error|fatal)\s*:\s*(.*)")
_ROUNDS = 40


def refused_by_ptxas(texts: Sequence[str], version: tuple[int, int], target: str, folder: Path) -> dict[int, str]:
    """Index and message of each instruction that ptxas refuses.

    An error can hide others, so those found are taken out and the rest is asked again; where ptxas dies without
    naming a line, the halves are asked apart.
    """
    refused: dict[int, str] = {}
    for _ in range(_ROUNDS):
        live = [index for index in range(len(texts)) if index not in refused]
        path = folder / "instructions.ptx"
        path.write_text(scaffold([texts[index] for index in live], version, target), encoding="utf-8")
        command = [str(ptxas()), f"-arch={target.replace('sm_', 'compute_')}", str(path), "-o", "/dev/null"]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        found = {int(line) - FIRST_LINE: message for line, message in _ERROR.findall(run.stdout + run.stderr)}
        named = {live[index]: message for index, message in found.items() if 0 <= index < len(live)}
        if run.returncode == 0:
            return refused
        if named:
            refused |= named
            continue
        if len(live) == 1:
            return refused | {live[0]: run.stdout + run.stderr}
        middle = len(live) // 2
        for part in (live[:middle], live[middle:]):
            answers = refused_by_ptxas([texts[index] for index in part], version, target, folder)
            refused |= {part[index]: message for index, message in answers.items()}
        return refused
    raise AssertionError("ptxas keeps finding errors")


def refused_by_ptxkit(texts: Sequence[str], version: tuple[int, int], target: str) -> dict[int, str]:
    """Index and message of each instruction that `validate` calls an error."""
    module = parse(scaffold(texts, version, target), "instructions.ptx")
    refused = {}
    for found in validate(module).diagnostics:
        if found.severity is Severity.ERROR:
            refused[found.source.position(found.span.start)[0] - FIRST_LINE] = f"{found.code} {found.message}"
    return refused


def parses(text: str) -> bool:
    """Whether ptxkit's grammar takes an instruction."""
    try:
        parse(scaffold([text], (9, 4), "sm_100a"))
    except PTXSyntaxError:
        return False
    return True


def mutate(text: str, vocabulary: Sequence[str], random: Random) -> str:
    """The instruction with one thing changed: a modifier or an operand dropped, added, swapped or replaced."""
    opcode, operands = _split(text)
    words = opcode.split(".")
    place = random.randrange(1, len(words)) if len(words) > 1 else 1
    slot = random.randrange(len(operands)) if operands else 0
    match random.randrange(8):
        case 0 if len(words) > 1:
            del words[place]
        case 1 if len(words) > 1:
            words[place] = random.choice(vocabulary)
        case 2:
            words.insert(place, random.choice(vocabulary))
        case 3 if operands:
            del operands[slot]
        case 4:
            operands.insert(slot, random.choice(_STRANGERS))
        case 5 if operands:
            operands[slot] = random.choice(_STRANGERS)
        case 6 if operands:
            operands[slot] = re.sub(r"%[a-z]+\d*_", f"%{random.choice(_TYPES)}_", operands[slot], count=1)
        case _:
            words.append(random.choice(vocabulary))
    return f"{'.'.join(words)} {', '.join(operands)};"


_STRANGERS = ("%b32_1", "%b64_2", "%pred_1", "%f32_2", "%s16_1", "3", "[%b64_1]", "{%b32_1, %b32_2}", "_", "1000000")
_TYPES = ("pred", "b16", "u32", "s32", "f32", "b64", "f64")


def _split(text: str) -> tuple[str, list[str]]:
    """Opcode and operands; commas inside brackets and braces part nothing."""
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
