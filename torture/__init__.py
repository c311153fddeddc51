"""The torture rig: real processes, real faults, a ledger outside the system under test, and a checker that only reads.

`python -m torture` runs a tier; docs/reliability.md has what the last published run printed. It is made of

schedule   which fault when, from a seed; the same seed gives the same schedule
nemesis    carries the schedule out: on workers (fleet), on the network (proxy), on PostgreSQL (server)
ledger     what producers and handlers did, written by themselves into files
history    what the database saw of every job, written by a trigger in the same transactions
checker    pure: ledger and history in, violations out. New capabilities add their invariants there
power      whether the run was hard enough to mean anything
"""
