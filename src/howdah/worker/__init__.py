"""Claim, run, acknowledge, and stop without losing anything. Every write of a claim carries its lease."""
