"""Metamorphic testing: kernels are rewritten without a change of their meaning, and their verdicts are compared.

`kernel_rewrite` is the interface of rewrites (`ptxkit.syntax.tree_edit` applies them to the tree of a module),
`register_uses` finds the registers whose value a rewrite can carry elsewhere, and `value_detour` is what such rewrites
share. `sources` yields the kernels, and `campaign` states the law: the error of a wrong kernel may become an open
question, but not vanish, and a correct kernel may get an open question, but no error and no warning. Each other module
holds rewrites of one kind.

Input: kernels and a seed. Output: rewritten kernels, and violations of the law. It imports `linter` and `testing`.
"""
