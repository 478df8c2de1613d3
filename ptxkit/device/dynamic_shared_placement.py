"""Checks and corrects the placement of launch-sized shared memory.

All launch-sized arrays of a kernel begin at the same address: after the variables of fixed size, at a multiple of the
largest declared alignment. ptxas places them correctly when it compiles a whole program.

nvJitLink does not. Release 13.0 places them at the next multiple of 16 in all cases, and release 13.5 at a multiple of
the alignment of *one* of the declarations, which may be the smallest. With twelve bytes of fixed size and a tile that
is declared `.align 1024`, the tile is then at 16, and the first bulk copy into it fails with `misaligned address`.
Therefore:

* every declaration in modules that are compiled or linked together gets the largest alignment (`align_declarations`);
* the result of nvJitLink is checked, and if a kernel's memory is misplaced, its memory of fixed size is padded by the
  missing bytes, and the modules are compiled again (`pad_misplaced`).
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
"""The alignment in bytes that every release provides."""


def required_alignment(module: tree.Module) -> int:
    """Returns the largest alignment that a module declares for launch-sized shared memory, or 0 if it has none."""
    return max((_declared_alignment(each) for each in _iterate_declarations(module)), default=0)


def align_declarations(module: tree.Module, least: int) -> tree.Module:
    """Returns the module with every declaration of launch-sized shared memory aligned to at least `least` bytes.

    The same object is returned if they are aligned already.
    """
    if all(_declared_alignment(each) >= least for each in _iterate_declarations(module)):
        return module
    return tree.Module(tuple(_raise_alignment(item, least) for item in module.items))


def find_users(module: tree.Module) -> dict[str, int]:
    """Returns the kernels that use launch-sized memory, with the alignment that they need."""
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
    """Returns modules in which kernels with misplaced launch-sized memory have padded memory of fixed size.

    Returns None if no memory is misplaced. Raises `DeviceError` if a kernel has no memory that can be padded.
    """
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
    """Raises `DeviceError` if the launch-sized memory of a kernel is misplaced."""
    for module in modules:
        for name in _find_misplaced(code, module):
            raise _misplacement_error(name)


def _find_misplaced(code: bytes, module: tree.Module) -> dict[str, int]:
    """Returns the kernels whose launch-sized memory is misplaced, with the number of missing bytes before it.

    It begins at the end of the section with the memory of fixed size, which includes the bytes that the device
    reserves.
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
    """Returns the module with `more` bytes added to an array of fixed size that a kernel uses, or None if it has no
    such array.
    """
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
    """Returns whether `text` uses an array of fixed size in shared memory that can be extended by `more` bytes."""
    name, dimensions = declaration.declarators[0].name, declaration.declarators[0].dimensions
    return (
        declaration.space == "shared"
        and bool(dimensions and dimensions[0])
        and more % _row_bytes(declaration) == 0
        and len(_name_pattern([name]).findall(text)) > 1
    )


def _name_pattern(names: Sequence[str]) -> re.Pattern[str]:
    """Returns a pattern that matches any of these names as a whole word."""
    return re.compile(rf"(?<![\w$%.])(?:{'|'.join(map(re.escape, names))})(?![\w$])")


def _grow_array(declaration: tree.Declaration, more: int) -> tree.Declaration:
    first, *others = declaration.declarators
    count, *inner = first.dimensions
    longer = replace(first, dimensions=((count or 0) + more // _row_bytes(declaration), *inner))
    return replace(declaration, declarators=(longer, *others))


def _row_bytes(declaration: tree.Declaration) -> int:
    """Returns the number of bytes of an element of the first dimension."""
    lanes = int(declaration.vector[1:]) if declaration.vector else 1
    return bytes_(declaration.type) * lanes * prod(each or 1 for each in declaration.declarators[0].dimensions[1:])


def _declared_alignment(declaration: tree.Declaration) -> int:
    return declaration.alignment or bytes_(declaration.type)
