"""Launch-sized shared memory begins at one address in a kernel, whatever its arrays are called.

nvJitLink (seen of 13.5, also of a single module) lays it out by the alignment of *one* of the declarations that it
meets, behind the variables of fixed size: with `.extern .shared .align 1024 .b8 tile[]` in one module, `.align 4` in
another and twelve bytes of fixed size in the kernel, both begin at 16, and the first bulk copy into `tile` ends with
`misaligned address`. ptxas takes the largest alignment; so do we, and say it in every declaration.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.isa.functions import bytes_
from ptxkit.records import replace
from ptxkit.syntax import tree


def alignment(module: tree.Module) -> int:
    """The largest alignment that a module asks of launch-sized shared memory; 0 where it has none."""
    return max((_of(each) for each in _declarations(module)), default=0)


def aligned(module: tree.Module, least: int) -> tree.Module:
    """The module with every declaration of launch-sized shared memory aligned to at least so many bytes; the same one
    where they are already."""
    if all(_of(each) >= least for each in _declarations(module)):
        return module
    return tree.Module(tuple(_raised(item, least) for item in module.items))


def _raised(item: tree.Item, least: int) -> tree.Item:
    if isinstance(item, tree.Declaration) and _is_launch_sized(item) and _of(item) < least:
        return replace(item, alignment=least)
    return item


def _is_launch_sized(declaration: tree.Declaration) -> bool:
    return declaration.space == "shared" and "extern" in declaration.linkage


def _declarations(module: tree.Module) -> Iterator[tree.Declaration]:
    return (item for item in module.items if isinstance(item, tree.Declaration) and _is_launch_sized(item))


def _of(declaration: tree.Declaration) -> int:
    return declaration.alignment or bytes_(declaration.type)
