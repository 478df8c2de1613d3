"""Launch-sized shared memory begins at one address in a kernel, whatever its arrays are called, behind the variables of
fixed size, and where the largest alignment that is declared wants it. So ptxas has it, for a whole program.

nvJitLink has not. Release 13.0 begins it at the next multiple of 16, whatever is declared; 13.5 at a multiple of what
*one* of the declarations that it meets says, be that the smallest. With twelve bytes of fixed size and a tile that is
declared `.align 1024`, the tile is then at 16, and the first bulk copy into it ends with `misaligned address`. Hence:

* every declaration of what is compiled, or linked together, is given the largest alignment (`aligned`);
* a module with both kinds of memory is compiled by ptxas where there is one (`is_delicate`);
* what nvJitLink makes is looked at, and refused where a kernel's memory is misplaced (`misplaced`).

Memory of fixed size that is a multiple of the alignment is the way round it; so is none at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ptxkit.device import elf
from ptxkit.isa.functions import bytes_
from ptxkit.records import replace
from ptxkit.syntax import tree
from ptxkit.syntax.printer import body_lines

_ALWAYS = 16
"""Bytes to which every release aligns it."""


def alignment(module: tree.Module) -> int:
    """The largest alignment that a module asks of launch-sized shared memory; 0 where it has none."""
    return max((_of(each) for each in _declarations(module)), default=0)


def aligned(module: tree.Module, least: int) -> tree.Module:
    """The module with every declaration of launch-sized shared memory aligned to at least so many bytes; the same one
    where they are already."""
    if all(_of(each) >= least for each in _declarations(module)):
        return module
    return tree.Module(tuple(_raised(item, least) for item in module.items))


def is_delicate(module: tree.Module) -> bool:
    """Whether it is nvJitLink's release that decides where launch-sized memory is."""
    return alignment(module) > _ALWAYS and any(map(_is_fixed, _statements(module)))


def users(module: tree.Module) -> dict[str, int]:
    """The kernels that name launch-sized memory, and the alignment that they need."""
    names = [declarator.name for each in _declarations(module) for declarator in each.declarators]
    least = alignment(module)
    if least <= _ALWAYS:
        return {}
    named = re.compile(rf"(?<![\w$%.])(?:{'|'.join(map(re.escape, names))})(?![\w$])")
    return {
        function.name: least
        for function in module.functions()
        if function.kind == "entry" and function.body is not None
        if named.search("\n".join(body_lines(function.body, "")))
    }


def misplaced(code: bytes, wanted: dict[str, int]) -> list[str]:
    """The kernels of a cubin whose launch-sized memory does not begin at a multiple of what they need.

    It begins where the section with the memory of fixed size ends, which counts what the device reserves, too.
    """
    ends = dict(elf.sizes(code))
    return [name for name, least in wanted.items() if ends.get(f".nv.shared.{name}", 0) % least]


# ------------------------------------------------------------------------------------------- declarations


def _raised(item: tree.Item, least: int) -> tree.Item:
    if isinstance(item, tree.Declaration) and _is_launch_sized(item) and _of(item) < least:
        return replace(item, alignment=least)
    return item


def _is_launch_sized(declaration: tree.Declaration) -> bool:
    return declaration.space == "shared" and "extern" in declaration.linkage


def _is_fixed(statement: tree.Item | tree.Statement) -> bool:
    return isinstance(statement, tree.Declaration) and statement.space == "shared" and not _is_launch_sized(statement)


def _declarations(module: tree.Module) -> Iterator[tree.Declaration]:
    return (item for item in module.items if isinstance(item, tree.Declaration) and _is_launch_sized(item))


def _statements(module: tree.Module) -> Iterator[tree.Item | tree.Statement]:
    for item in module.items:
        yield item
        if isinstance(item, tree.Function) and item.body is not None:
            yield from _inside(item.body)


def _inside(body: tree.Body) -> Iterator[tree.Statement]:
    for statement in body.statements:
        yield statement
        if isinstance(statement, tree.Block):
            yield from _inside(statement.body)


def _of(declaration: tree.Declaration) -> int:
    return declaration.alignment or bytes_(declaration.type)
