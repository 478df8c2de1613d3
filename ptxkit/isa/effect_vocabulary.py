"""The words that fields of effects may hold; `ptxkit.isa.effects` defines their meaning."""

from __future__ import annotations

SPACES = frozenset(
    {"generic", "global", "local", "const", "tensor", "fabric"}
    | {"param", "param::entry", "param::func", "shared", "shared::cta", "shared::cluster"}
)
"""State spaces, of addresses too."""

_SCOPES = frozenset({"cta", "cluster", "gpu", "sys"})
_ORDERS = frozenset({"weak", "volatile", "relaxed", "acquire", "release", "acq_rel", "mmio", "sc"})
_GROUPS = frozenset({"cp.async", "bulk", "wgmma", "tcgen05.ld", "tcgen05.st"})
_ACCESSES = frozenset({"read", "write", "update"})

_WORDS = {
    "by": frozenset({"parity", "state"}),
    "completion": _GROUPS | {"mbarrier", "tcgen05", "nothing"},
    "direction": frozenset({"both", "release", "acquire"}),
    "group": _GROUPS,
    "level": frozenset({"warp", "cta", "cluster"}),
    "only": frozenset({"mbarrier.init"}),
    "order": _ORDERS,
    "proxy": frozenset({"generic", "async", "alias", "tensormap", "fabric"}),
    "scope": _SCOPES,
    "space": SPACES,
    "spaces": SPACES,
    "via": frozenset({"address", "descriptor", "tensormap", "multimem"}),
}
_WORDS_OF = {
    ("async_registers", "kind"): _ACCESSES,
    ("barrier", "action"): frozenset({"sync", "arrive", "wait"}),
    ("cancellation", "action"): frozenset({"request", "query", "decode"}),
    ("control", "kind"): frozenset({"branch", "branch_indexed", "call", "return", "exit", "trap"}),
    ("grid", "action"): frozenset({"launch_dependents", "wait"}),
    ("home", "where"): frozenset({"other", "same"}),
    ("prefetch", "level"): frozenset({"L2"}),
    ("register_count", "action"): frozenset({"increase", "decrease"}),
    ("tensor_fence", "side"): frozenset({"before", "after"}),
    ("tensor_memory", "action"): frozenset({"allocate", "deallocate", "relinquish"}),
}


def allowed_words(effect: str, field: str) -> frozenset[str] | None:
    """Returns the legal words of a field, or None if it holds no words."""
    return _WORDS_OF.get((effect, field)) or _WORDS.get(field)
