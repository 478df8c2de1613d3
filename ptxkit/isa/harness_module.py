"""A module around instructions that declares the names in them, and nothing else.

Names that a text may use: `%b32_0` to `%b32_259`, and so for every type that a register can have; `%v4b32_0` to
`%v4b32_7`, vectors of registers; `global_`, `const_`, `shared_` and `local_`, variables of these state spaces;
`parameter` of the kernel, `incoming` and `returned` of a function (the text is then in one), `outgoing` for a call;
`texture_`, `sampler_`, `surface_`; `callee`, `callee_in`, `callee_out`, `callee_in_out`, functions without and with a
parameter and a result of 32 bits, `prototype` before each; the labels `target` and `targets_`, a list of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

REGISTERS = 260
"""The number of registers of each type: enough for the widest vector, that of wgmma and tcgen05."""

VECTORS = 8
"""The number of vector registers of each type and length."""

_REGISTER = re.compile(r"%(v[248])?((?:pred|[busf]\d+(?:x2)?))_\d")
_NAME = re.compile(r"[a-z]\w*_\w*|target|callee|parameter|incoming|returned|outgoing")

_MODULE_DECLARATIONS = {
    "global_": ".global .align 1024 .b8 global_[4096];",
    "const_": ".const .align 1024 .b8 const_[4096];",
    "shared_": ".shared .align 1024 .b8 shared_[4096];",
    "texture_": ".global .texref texture_;",
    "sampler_": ".global .samplerref sampler_;",
    "surface_": ".global .surfref surface_;",
    "callee": ".extern .func callee;",
    "callee_in": ".extern .func callee_in (.param .b32 a);",
    "callee_out": ".extern .func (.param .b32 r) callee_out;",
    "callee_in_out": ".extern .func (.param .b32 r) callee_in_out (.param .b32 a);",
}
_BODY_DECLARATIONS = {
    "local_": ".local .align 1024 .b8 local_[4096];",
    "targets_": "targets_: .branchtargets target, target;",
    "prototype_callee": "prototype_callee: .callprototype _ ();",
    "prototype_callee_in": "prototype_callee_in: .callprototype _ (.param .b32 _);",
    "prototype_callee_out": "prototype_callee_out: .callprototype (.param .b32 _) _ ();",
    "prototype_callee_in_out": "prototype_callee_in_out: .callprototype (.param .b32 _) _ (.param .b32 _);",
    "functions_callee": "functions_callee: .calltargets callee;",
    "functions_callee_in": "functions_callee_in: .calltargets callee_in;",
    "functions_callee_out": "functions_callee_out: .calltargets callee_out;",
    "functions_callee_in_out": "functions_callee_in_out: .calltargets callee_in_out;",
}
_BLOCK_DECLARATIONS = {
    "outgoing": ".param .align 16 .b8 outgoing[256];",
    "argument_": ".param .b32 argument_;",
    "result_": ".param .b32 result_;",
}
_NEEDS_OWN_FUNCTION = frozenset({"incoming", "returned"})


def harness_module(texts: Sequence[str], version: tuple[int, int], target: str) -> str:
    """Returns a module with one instruction on each line, the first on line 3."""
    joined = "\n".join(texts)
    names = {name: None for text in texts for name in _NAME.findall(text)}
    names |= dict.fromkeys(name.partition("_")[2] for name in list(names) if name.startswith("functions_"))
    mode = ", texmode_independent" if "sampler_" in names else ""
    outside = [_MODULE_DECLARATIONS[name] for name in names if name in _MODULE_DECLARATIONS]
    inside = [
        *_register_declarations(joined),
        *(_BODY_DECLARATIONS[name] for name in names if name in _BODY_DECLARATIONS),
    ]
    head = (
        ".func (.param .align 16 .b8 returned[256]) function(.param .align 16 .b8 incoming[256])"
        if _NEEDS_OWN_FUNCTION & names.keys()
        else ".entry kernel(.param .align 16 .b8 parameter[256])"
    )
    return "\n".join(
        [
            f".version {version[0]}.{version[1]} .target {target}{mode} .address_size 64 {' '.join(outside)}",
            f"{head} {{ {' '.join(inside)}",
            *map(_wrap_in_block, texts),
            "target: ret;",
            "}",
            "",
        ]
    )


def _register_declarations(text: str) -> list[str]:
    found = dict.fromkeys(_REGISTER.findall(text))
    return [
        f".reg .{vector} .{kind} %{vector}{kind}_<{VECTORS}>;" if vector else f".reg .{kind} %{kind}_<{REGISTERS}>;"
        for vector, kind in found
    ]


def _wrap_in_block(text: str) -> str:
    """Returns the instruction in its own block if it names a parameter that is passed to a function."""
    around = [declaration for name, declaration in _BLOCK_DECLARATIONS.items() if name in _NAME.findall(text)]
    return f"{{ {' '.join(around)} {text} }}" if around else text
