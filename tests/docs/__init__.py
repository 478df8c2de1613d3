"""Tests of the documentation: its code blocks, its site and its figures."""
