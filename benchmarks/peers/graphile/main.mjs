// The roles of benchmarks/program.py for graphile-worker: `node main.mjs ROLE PLAN`.
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Logger, makeWorkerUtils, run } from "graphile-worker";
import { countRuns, monotonic, openTally } from "./tally.mjs";

const [role, text] = process.argv.slice(2);
const plan = JSON.parse(text);
const logger = new Logger(() => (level, message) => {
  if (level === "error" || level === "warning") console.error(message);
});
const WARM_CALLS = 20;

const one = (utils, n) => utils.addJob("noop", { n });
const many = (utils, first, count) =>
  utils.addJobs(Array.from({ length: count }, (_, i) => ({ identifier: "noop", payload: { n: first + i } })));

async function fill(utils, first, jobs) {
  for (let start = first; start < first + jobs; start += plan.batch)
    await many(utils, start, Math.min(plan.batch, first + jobs - start));
  return { jobs };
}

async function enqueue(utils) {
  const warm = plan.first + WARM_CALLS;
  for (let n = plan.first; n < warm; n++) await one(utils, n);
  let begin = monotonic();
  for (let n = warm; n < warm + plan.single; n++) await one(utils, n);
  const single = monotonic() - begin;
  begin = monotonic();
  await fill(utils, warm + plan.single, plan.jobs);
  const bulk = monotonic() - begin;
  return {
    enqueued: WARM_CALLS + plan.single + plan.jobs,
    single_per_second: plan.single / single,
    bulk_per_second: plan.jobs / bulk,
  };
}

async function flow(utils) {
  let next = plan.first;
  let started = null;
  while (started === null || monotonic() < started + plan.seconds) {
    const done = countRuns(plan.folder);
    if (started === null && done) started = monotonic();
    if (next - plan.first - done >= plan.backlog) {
      await sleep(2);
      continue;
    }
    await many(utils, next, plan.batch);
    next += plan.batch;
  }
  return { enqueued: next - plan.first };
}

async function pace(utils) {
  let warm = 0;
  while (countRuns(plan.folder) < WARM_CALLS) {
    if (warm < WARM_CALLS) await one(utils, -++warm); // negative numbers are not looked at
    await sleep(10);
  }
  await sleep(1000);
  const record = openTally(plan.folder, "asked");
  const begin = monotonic();
  for (let i = 0; i < plan.jobs; i++) {
    const pause = (begin + i / plan.rate - monotonic()) * 1000;
    if (pause > 0) await sleep(pause);
    record(plan.first + i);
    await one(utils, plan.first + i);
  }
  return { enqueued: plan.jobs, seconds: monotonic() - begin };
}

async function work() {
  const record = openTally(plan.folder);
  const runner = await run({
    logger,
    taskList: { noop: async (payload) => record(payload.n) },
    noHandleSignals: true,
    preset: {
      worker: {
        connectionString: plan.url,
        concurrentJobs: plan.options.concurrentJobs,
        maxPoolSize: plan.options.concurrentJobs + 2,
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
        localQueue: { size: plan.options.localQueue },
      },
    },
  });
  process.on("SIGTERM", () => runner.stop().then(() => process.exit(0)));
  await runner.promise;
}

async function produce() {
  const utils = await makeWorkerUtils({ connectionString: plan.url, logger });
  const roles = {
    prepare: () => utils.migrate().then(() => ({})),
    fill: () => fill(utils, plan.first, plan.jobs),
    enqueue: () => enqueue(utils),
    flow: () => flow(utils),
    pace: () => pace(utils),
  };
  const said = await roles[role]();
  fs.writeFileSync(path.join(plan.folder, `${role}.json`), JSON.stringify(said));
  await utils.release();
  process.exit(0);
}

await (role === "work" ? work() : produce());
