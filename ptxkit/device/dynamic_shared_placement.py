"""Launch-sized shared memory begins at one address in a kernel, whatever its arrays are called: after the variables of
fixed size, at a multiple of the largest alignment that is declared. ptxas places it so, for a whole program.

nvJitLink does not. Release 13.0 begins it at the next multiple of 16, whatever is declared; 13.5 at a multiple of the
alignment of *one* of the declarations that it meets, which may be the smallest. With twelve bytes of fixed size and a
tile that is declared `.align 1024`, the tile is then at 16, and the first bulk copy into it ends with `misaligned
address`. Therefore:

* every declaration of what is compiled, or linked together, is given the largest alignment (`aligned`);
* what nvJitLink makes is looked at, and where a kernel's memory is misplaced, its memory of fixed size is made longer
  by what is missing, and all is done again (`repaired`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import prod

from ptxkit.device import cubin_reader
from ptxkit.device.errors import DeviceError
from ptxkit.fast_dataclasses import replace
from ptxkit.isa.functions import bytes_
from ptxkit.syntax import tree
from ptxkit.syntax.printer import body_lines

_GUARANTEED_ALIGNMENT = 16
"""Bytes to which every release aligns it."""


def required_alignment(module: tree.Module) -> int:
    """The largest alignment that a module declares for launch-sized shared memory; 0 where it has none."""
    return max((_declared_alignment(each) for each in _iterate_declarations(module)), default=0)


def align_declarations(module: tree.Module, least: int) -> tree.Module:
    """The module with every declaration of launch-sized shared memory aligned to at least so many bytes; the same one
    where they are already."""
    if all(_declared_alignment(each) >= least for each in _iterate_declarations(module)):
        return module
    return tree.Module(tuple(_raise_alignment(item, least) for item in module.items))


def find_users(module: tree.Module) -> dict[str, int]:
    """The kernels that name launch-sized memory, and the alignment that they need."""
    names = [declarator.name for each in _iterate_declarations(module) for declarator in each.declarators]
    least = required_alignment(module)
    if least <= _GUARANTEED_ALIGNMENT:
        return {}
    named = _name_pattern(names)
    return {
        function.name: least
        for function in module.functions()
        if function.kind == "entry" and function.body is not None
        if named.search("\n".join(body_lines(function.body, "")))
    }


def pad_misplaced(code: bytes, modules: Sequence[tree.Module]) -> list[tree.Module] | None:
    """The modules of which nvJitLink made a cubin, for another try: kernels whose launch-sized memory is misplaced have
    longer memory of fixed size. None where all is well. `DeviceError` where a kernel has none that could be longer."""
    made, is_well = [], True
    for module in modules:
        for name, missing in _find_misplaced(code, module).items():
            is_well = False
            longer = _pad_static_array(module, name, missing)
            if longer is None:
                raise _misplacement_error(name)
            module = longer  # noqa: PLW2901
        made.append(module)
    return None if is_well else made


def check_placement(code: bytes, modules: Sequence[tree.Module]) -> None:
    """`DeviceError` where the launch-sized memory of a kernel is misplaced."""
    for module in modules:
        for name in _find_misplaced(code, module):
            raise _misplacement_error(name)


def _find_misplaced(code: bytes, module: tree.Module) -> dict[str, int]:
    """The kernels whose launch-sized memory is misplaced, and how many bytes are missing before it.

    It begins where the section ends with the memory of fixed size, which counts what the device reserves.
    """
    ends = dict(cubin_reader.section_sizes(code))
    missing = {name: -ends.get(f".nv.shared.{name}", 0) % least for name, least in find_users(module).items()}
    return {name: count for name, count in missing.items() if count}


def _misplacement_error(name: str) -> DeviceError:
    return DeviceError(
        f"this release of nvJitLink misplaces the launch-sized shared memory of kernel {name!r}: use release 13.5, or "
        "make its shared variables of fixed size an array, used in the kernel, of a multiple of the alignment"
    )


# ------------------------------------------------------------------------------------------- declarations


def _raise_alignment(item: tree.Item, least: int) -> tree.Item:
    if isinstance(item, tree.Declaration) and _is_launch_sized(item) and _declared_alignment(item) < least:
        return replace(item, alignment=least)
    return item


def _is_launch_sized(declaration: tree.Declaration) -> bool:
    return declaration.space == "shared" and "extern" in declaration.linkage


def _iterate_declarations(module: tree.Module) -> Iterator[tree.Declaration]:
    return (item for item in module.items if isinstance(item, tree.Declaration) and _is_launch_sized(item))


def _pad_static_array(module: tree.Module, kernel: str, more: int) -> tree.Module | None:
    """The module with `more` bytes after some array of fixed size that a kernel uses, if it has one."""
    items = list(module.items)
    for place, item in enumerate(items):
        if isinstance(item, tree.Function) and item.name == kernel and item.body is not None:
            statements, text = list(item.body.statements), "\n".join(body_lines(item.body, ""))
            for number, statement in enumerate(statements):
                if isinstance(statement, tree.Declaration) and _can_pad(statement, more, text):
                    statements[number] = _grow_array(statement, more)
                    items[place] = replace(item, body=tree.Body(tuple(statements)))
                    return tree.Module(tuple(items))
    return None


def _can_pad(declaration: tree.Declaration, more: int, text: str) -> bool:
    """Whether an array of fixed size in shared memory is used in a text, and can be longer by so many bytes."""
    name, dimensions = declaration.declarators[0].name, declaration.declarators[0].dimensions
    return (
        declaration.space == "shared"
        and bool(dimensions and dimensions[0])
        and more % _row_bytes(declaration) == 0
        and len(_name_pattern([name]).findall(text)) > 1
    )


def _name_pattern(names: Sequence[str]) -> re.Pattern[str]:
    """Any of these names, standing alone."""
    return re.compile(rf"(?<![\w$%.])(?:{'|'.join(map(re.escape, names))})(?![\w$])")


def _grow_array(declaration: tree.Declaration, more: int) -> tree.Declaration:
    first, *others = declaration.declarators
    count, *inner = first.dimensions
    longer = replace(first, dimensions=((count or 0) + more // _row_bytes(declaration), *inner))
    return replace(declaration, declarators=(longer, *others))


def _row_bytes(declaration: tree.Declaration) -> int:
    """Bytes of what the first index counts."""
    lanes = int(declaration.vector[1:]) if declaration.vector else 1
    return bytes_(declaration.type) * lanes * prod(each or 1 for each in declaration.declarators[0].dimensions[1:])


def _declared_alignment(declaration: tree.Declaration) -> int:
    return declaration.alignment or bytes_(declaration.type)
