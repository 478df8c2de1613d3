"""Campaigns: many generated or changed examples put to an oracle, in processes of their own, here or elsewhere."""
