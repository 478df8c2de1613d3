"""Synchronisation faults, put into correct kernels one at a time, to see which of them the analyser finds.

An operator looks for instructions by what they *do* (`ptxkit.isa.effects`) and changes one thing. What a mutant breaks
is stated by its operator, from the effects that it touched, never by the analyser.
"""
