"""The catalogue of diagnostics: one module for each group of codes.

Each code is a constant, followed by the templates of its messages and by the types of what its fixes need to know;
`_text` makes a template of the last code. Modules hold plain objects and read no file, so that importing the groups
that a command needs costs next to nothing.
`ptxkit.diagnostics.catalogue.index` lists all codes.
"""
