"""Howdah beside its peers: the same five scenarios through each one's public API, on one server, interleaved.

It promises that every figure in docs/benchmarks.md comes from a row of the results file, and that a system
which fails is shown as failed. It never imports a peer's package into the runner: each runs in processes of its own.
"""
