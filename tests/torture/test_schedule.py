"""The schedule of a run is its seed's and its tier's alone, and holds what the quotas ask for."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from itertools import pairwise

import pytest

from torture.paths import ROOT
from torture.schedule import NETWORK, Fault, digest, make_schedule
from torture.tiers import SILENCE_SECONDS, TIERS


def test_the_same_seed_gives_the_same_schedule_in_another_process() -> None:
    schedule = make_schedule(TIERS["test"], 20)
    told = subprocess.run(
        [sys.executable, "-m", "torture", "--schedule", "--replay", "20"], cwd=ROOT, capture_output=True, text=True
    )
    head, *lines = told.stdout.splitlines()
    assert digest(schedule) in head
    assert lines == [str(planned) for planned in schedule]


def test_another_seed_gives_another_schedule() -> None:
    assert len({digest(make_schedule(TIERS["test"], seed)) for seed in range(50)}) == 50


@pytest.mark.parametrize("name", TIERS)
def test_more_is_planned_than_the_quotas_ask_for(name: str) -> None:
    tier = TIERS[name]
    schedule = make_schedule(tier, 7)
    planned = Counter(one.fault for one in schedule)
    assert planned[Fault.KILL] > tier.quota.kills_inside_a_handler
    assert planned[Fault.STOP] > tier.quota.stops_past_the_lease
    assert planned[Fault.CRASH] >= tier.quota.server_crashes
    assert planned[Fault.DROP_COMMIT] > tier.quota.commit_replies_dropped
    assert planned[Fault.TERMINATE] > tier.quota.backends_terminated
    assert sum(planned[fault] for fault in NETWORK) > tier.quota.network_faults
    assert all(one.seconds > SILENCE_SECONDS for one in schedule if one.fault is Fault.STOP)
    assert all(before.at <= after.at for before, after in pairwise(schedule))
    assert schedule[-1].at <= tier.seconds


@pytest.mark.parametrize("name", TIERS)
def test_what_concerns_everybody_is_planned_as_often_as_asked(name: str) -> None:
    quota = TIERS[name].quota
    planned = Counter(one.fault for one in make_schedule(TIERS[name], 7))
    # A full disk may meet nobody who writes, so there is one to spare.
    disks = quota.full_disks + 1 if quota.full_disks else 0
    asked = (quota.server_crashes, quota.failovers, quota.rolling_deploys, disks)
    assert (planned[Fault.CRASH], planned[Fault.FAILOVER], planned[Fault.DEPLOY], planned[Fault.FULL_DISK]) == asked
