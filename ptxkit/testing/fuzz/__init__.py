"""Campaigns: many generated or mutated examples are checked by an oracle, in separate processes on this or other
machines.
"""
