"""graphile-worker, the fastest of the Node queues on PostgreSQL; its processes are in main.mjs."""

from __future__ import annotations

from pathlib import Path

from benchmarks.peers.contract import Peer

LOCAL_QUEUE = 2_000
CONCURRENT = 10

PEER = Peer(
    name="graphile",
    title="graphile-worker",
    packages=["graphile-worker", "pg"],
    settings={
        "worker": f"1 Node process, localQueue.size={LOCAL_QUEUE}, concurrentJobs={CONCURRENT},"
        " completeJobBatchDelay=0",
        "enqueue": "WorkerUtils.addJob, addJobs for bulk",
    },
    keeps="nothing: a finished job's row is deleted",
    handler="async function",
    durable="yes",
    language="Node",
    waiting="SELECT count(*) FROM graphile_worker._private_jobs",
    program=["node", str(Path(__file__).with_name("main.mjs"))],
    options={"localQueue": LOCAL_QUEUE, "concurrentJobs": CONCURRENT},
)
