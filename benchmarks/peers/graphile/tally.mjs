// The tally of benchmarks/tally.py, written from Node: the same layout and the same clock. Node maps no files,
// so entries are kept in memory and the new ones written every few milliseconds.
import fs from "node:fs";
import path from "node:path";

const HEADER = 16;
const ENTRY = 16;
const CAPACITY = 8_000_000;
const EVERY_MS = 10;

export const monotonic = () => Number(process.hrtime.bigint()) / 1e9;

export function openTally(folder, kind = "ran") {
  const file = fs.openSync(path.join(folder, `${kind}-${process.pid}.tally`), "w");
  const head = Buffer.alloc(HEADER);
  const body = new ArrayBuffer(ENTRY * CAPACITY);
  const numbers = new BigInt64Array(body);
  const times = new Float64Array(body);
  let count = 0;
  let written = 0;

  const flush = () => {
    if (count === written) return;
    fs.writeSync(file, new Uint8Array(body, ENTRY * written, ENTRY * (count - written)), 0, undefined, HEADER + ENTRY * written);
    head.writeBigInt64LE(BigInt(count));
    fs.writeSync(file, head, 0, HEADER, 0);
    written = count;
  };
  fs.writeSync(file, head, 0, HEADER, 0);
  setInterval(flush, EVERY_MS).unref();
  process.on("exit", flush);

  const record = (n) => {
    numbers[2 * count] = BigInt(n);
    times[2 * count + 1] = monotonic();
    count += 1;
  };
  return record;
}

export function countRuns(folder, kind = "ran") {
  let total = 0;
  const head = Buffer.alloc(8);
  for (const name of fs.readdirSync(folder)) {
    if (!name.startsWith(`${kind}-`) || !name.endsWith(".tally")) continue;
    const file = fs.openSync(path.join(folder, name), "r");
    if (fs.readSync(file, head, 0, 8, 0) === 8) total += Number(head.readBigInt64LE());
    fs.closeSync(file);
  }
  return total;
}
