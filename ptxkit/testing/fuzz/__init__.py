"""Campaigns: many generated or mutated examples are checked by an oracle, in separate processes on this or other
machines.

Input: kinds of campaigns, and a seed. Output: the failing examples, minimized and stored. It imports `processes`,
`batch`, `device` and the other packages of `testing`.
"""
