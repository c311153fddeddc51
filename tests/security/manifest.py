"""Who may do what: every function, table, view and sequence of the schema, and each role.

What is not written here is forbidden. A new function or table needs a row, or test_matrix fails; so it does where the
code grants what this page does not. PUBLIC, a role that is a member of nothing, may do nothing at all.
"""

from __future__ import annotations

PRODUCER, WORKER, ADMIN, READER, PAYLOAD_READER = "producer", "worker", "admin", "reader", "payload_reader"
NOBODY = "nobody"
#: Those who are tried, each as a login role that is a member of exactly that group role; NOBODY of none.
TRIED = (PRODUCER, WORKER, ADMIN, READER, PAYLOAD_READER, NOBODY)
READERS = (READER, PAYLOAD_READER)
EVERYBODY = (PRODUCER, WORKER, ADMIN, READER, PAYLOAD_READER)

_BY_ID = (PRODUCER, PAYLOAD_READER)
_WORKERS = (
    *("claim_from_marks", "claim_jobs", "seconds_to_next_due", "complete_jobs", "finish_jobs", "report_jobs"),
    *("record_events", "not_locked", "reconcile_claims", "register_worker", "unregister_worker", "heartbeat"),
    *("claim_job_batch", "start_job", "report_progress", "record_event", "complete_job", "fail_job", "release_job"),
    *("rescue_jobs", "recover_stale_jobs", "bury_worker", "create_next_partition", "drop_expired_partition"),
    *("delete_expired_jobs", "begin_sweep", "sweep_lanes", "sweep_late", "sweep_audit", "record_stats"),
    *("note_rescues", "begin_sample", "sample_queues", "prune_stats"),
)
_ADMINS = (
    *("retry_job", "pause", "resume", "administer_jobs", "set_pause", "begin_operation", "step_operation"),
    *("cancel_operation", "fail_operation"),
)
_NOBODYS = (
    *("add_counts", "merge_stats", "note_attempt"),
    *("backoff", "create_partition", "fate", "guard_revival", "is_past_retention", "job_id_at", "join_line"),
    *("jobs_deleted", "jobs_inserted", "jobs_truncated", "jobs_updated", "leave_line", "look", "new_lease"),
    *("new_strays", "note_plain_claim", "note_range", "open_lanes", "open_ranges", "partition_start", "pick_jobs"),
    *("promote_due", "refused", "ring", "settle_stale", "surplus", "take_from_lane", "take_from_lanes"),
    *("take_marked", "take_marked_by_pool", "take_places", "take_ready", "take_ready_by_pool", "take_merged"),
    *("change_jobs", "check_change", "end_operation", "lock_jobs", "note_audit"),
)

#: Function → who may call it.
FUNCTIONS: dict[str, tuple[str, ...]] = {
    "new_job_id": (PRODUCER,),
    "enqueue_job": (PRODUCER,),
    "get_job": _BY_ID,
    "get_status": _BY_ID,
    "list_events": _BY_ID,
    "cancel_job": (PRODUCER, ADMIN),
    **dict.fromkeys(_ADMINS, (ADMIN,)),
    "lane_of": READERS,
    "list_partitions": READERS,
    "queue_depths": (*READERS, WORKER),
    "sum_counts": READERS,
    **dict.fromkeys(_WORKERS, (WORKER,)),
    **dict.fromkeys(_NOBODYS, ()),
}

Columns = frozenset[str]
Rights = dict[str, Columns]
ALL: Columns = frozenset({"*"})


def columns(names: str) -> Columns:
    return frozenset(names.split())


def each(who: tuple[str, ...], rights: Rights) -> dict[str, Rights]:
    return dict.fromkeys(who, rights)


_FILLED = columns("id job_type data priority queue run_at max_attempts trace")
_UNLOADED = columns(
    "id job_type priority status progress current_stage events_count worker_id claimed_at created_at started_at"
    " completed_at attempts max_attempts queue run_at lease errors deaths cancel_requested_at trace"
)
_CHOSEN = columns("id job_type queue priority status")
_TUNED = columns("retention partition_width partitions_ahead plain_claim_timeout max_deaths notify audit_retention")

#: Relation → who → what → which columns (ALL: the whole of it). Dated partitions go under the name of their kind.
RELATIONS: dict[str, dict[str, Rights]] = {
    "jobs": {
        PRODUCER: {"INSERT": _FILLED},
        ADMIN: {"SELECT": _CHOSEN, "UPDATE": frozenset({"priority"})},
        READER: {"SELECT": _UNLOADED},
        PAYLOAD_READER: {"SELECT": ALL},
    },
    "jobs_default": each(READERS, {"SELECT": frozenset({"id"})}),
    "jobs_dated": {},
    "job_events": {
        READER: {"SELECT": columns("job_id seq at attempt name")},
        PAYLOAD_READER: {"SELECT": ALL},
    },
    "job_events_default": {},
    "job_events_dated": {},
    "job_lines": each(READERS, {"SELECT": ALL}),
    "ready": each(READERS, {"SELECT": ALL}),
    "scheduled": each(READERS, {"SELECT": ALL}),
    "late": each(READERS, {"SELECT": ALL}),
    "claims": each(READERS, {"SELECT": ALL}),
    "lanes": each((*READERS, ADMIN), {"SELECT": ALL}),
    "workers": each((*READERS, ADMIN), {"SELECT": ALL}),
    "pauses": each((*READERS, ADMIN), {"SELECT": ALL}),
    "stats": each(READERS, {"SELECT": ALL}),
    "settings": {
        WORKER: {"SELECT": frozenset({"notify"})},
        ADMIN: {"SELECT": ALL, "UPDATE": _TUNED},
        **each(READERS, {"SELECT": ALL}),
    },
    "audit": each((*READERS, ADMIN), {"SELECT": ALL}),
    "operations": each((*READERS, ADMIN), {"SELECT": ALL}),
    "migrations": each(EVERYBODY, {"SELECT": ALL}),
}

#: Sequence → who may use it.
SEQUENCES: dict[str, tuple[str, ...]] = {"audit_id_seq": (), "claims_claim_seq": ()}


def may(relation: str, who: str, what: str, column: str) -> bool:
    """What the page says of one cell."""
    allowed = RELATIONS[relation].get(who, {}).get(what, frozenset())
    return allowed == ALL or column in allowed
