// One stream of server-sent events for the page. Closed while the tab is hidden or updates are paused.
import { morph, morphChildren, parse } from "./morph.js";
import { showTimes } from "./times.js";

const body = document.body;
let stream = null;
let paused = false;
let retry = null;
let refreshing = false;
let refreshAgain = false;

const all = (selector, within = document) => [...within.querySelectorAll(selector)];

function setState(state, word) {
  const button = document.getElementById("live-state");
  if (!button) return;
  button.hidden = false;
  button.dataset.state = state;
  button.querySelector("[data-live-word]").textContent = word;
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function patchJob(row) {
  let changed = false;
  const values = { stage: row.stage, percent: `${row.progress} %`, attempts: row.attempts, worker: row.worker, eta: row.eta, error: row.error };
  for (const place of all(`[data-job="${CSS.escape(row.id)}"]`)) {
    for (const field of all("[data-field]", place)) {
      const name = field.dataset.field;
      if (name === "status") {
        if (field.dataset.status !== row.status) changed = true;
        field.dataset.status = row.status;
        setText(field, row.status);
      } else if (name === "progress") {
        field.value = row.progress;
        field.dataset.status = row.status;
      } else if (values[name] !== undefined) {
        setText(field, values[name]);
      }
    }
  }
  if (changed) {
    // Only changes of status are read out; ticks of a bar would never let anybody hear the rest.
    const announcer = document.getElementById("announcer");
    if (announcer && body.dataset.live.includes("after=")) setText(announcer, `The job is ${row.status}.`);
    if (document.querySelector("[data-refresh]")) refresh();
  }
}

function addEvents(message) {
  const rows = document.getElementById("event-rows");
  if (!rows) return;
  for (const event of message.events) {
    if (rows.querySelector(`[data-seq="${Number(event.seq)}"]`)) continue;
    const row = document.createElement("tr");
    row.dataset.seq = event.seq;
    const cells = [event.seq, event.name, event.data, null].map(() => row.appendChild(document.createElement("td")));
    cells[0].className = "narrow";
    cells[0].textContent = event.seq;
    cells[1].textContent = event.name;
    if (event.data !== null) cells[2].appendChild(document.createElement("pre")).textContent = event.data;
    cells[3].className = "right narrow";
    const time = cells[3].appendChild(document.createElement("time"));
    time.dateTime = event.at;
    time.dataset.ago = "";
    rows.appendChild(row);
    while (rows.children.length > 500) rows.firstElementChild.remove();
  }
  const box = rows.closest(".events");
  if (box.scrollHeight - box.scrollTop - box.clientHeight < 120) box.scrollTop = box.scrollHeight;
  showTimes();
}

function patchPanel({ name, html }) {
  const place = document.querySelector(`[data-panel="${CSS.escape(name)}"]`);
  if (!place) return;
  morphChildren(place, parse(html).body);
  showTimes();
}

export async function refresh() {
  if (refreshing) {
    refreshAgain = true;
    return;
  }
  refreshing = true;
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (body.dataset.poll) showDatabase({ lost: answer.status === 503 });
    if (!answer.ok) return;
    const fresh = parse(await answer.text());
    for (const place of all("[data-refresh]")) {
      const wanted = fresh.querySelector(`[data-refresh="${CSS.escape(place.dataset.refresh)}"]`);
      if (!wanted) continue;
      const room = place.dataset.keepsRoom !== undefined && !place.hidden && wanted.hidden ? place.offsetHeight : 0;
      if (room) {
        // What is no longer so says that, and leaves its place at the next page: nothing below may jump while it is read.
        wanted.hidden = false;
        place.style.minHeight = `${room}px`;
      }
      if (wanted.nodeName === place.nodeName) morph(place, wanted);
      else place.replaceWith(document.importNode(wanted, true));
    }
    showTimes();
  } catch {
    // The stream tells when the server or the database is away.
  } finally {
    refreshing = false;
    if (refreshAgain) {
      refreshAgain = false;
      refresh();
    }
  }
}

function showDatabase({ lost }) {
  const banner = document.getElementById("database-banner");
  const was = !banner.hidden;
  banner.hidden = !lost;
  setState(lost ? "waiting" : "on", lost ? "waiting" : "live");
  if (was && !lost && !refreshing) refresh();
}

function open() {
  if (!body.dataset.live) {
    setState("on", "live");
    return;
  }
  if (stream || paused || document.hidden) return;
  stream = new EventSource(`${body.dataset.base}/live?${body.dataset.live}`);
  const on = (name, act) => stream.addEventListener(name, (event) => act(JSON.parse(event.data)));
  on("hello", () => setState("on", "live"));
  on("job", patchJob);
  on("events", addEvents);
  on("panel", patchPanel);
  on("database", showDatabase);
  stream.onerror = () => {
    setState("waiting", "waiting");
    if (stream && stream.readyState === EventSource.CLOSED) {
      // The server answered, but with a refusal; the browser does not try again by itself.
      close();
      retry = setTimeout(open, 3000);
    }
  };
}

function close() {
  clearTimeout(retry);
  stream?.close();
  stream = null;
}

export function togglePause() {
  if (!body.dataset.live && !body.dataset.poll) return;
  paused = !paused;
  if (paused) {
    close();
    setState("off", "paused");
  } else {
    refresh();
    open();
  }
}

async function waitForDatabase() {
  // The page that stands in for one that could not be read: try until it can, then show it.
  try {
    const answer = await fetch(location.href);
    if (answer.ok) location.reload();
  } catch {
    // The server itself is away; try on.
  }
  setTimeout(waitForDatabase, 2000);
}

export function startLive() {
  if (!document.getElementById("database-banner").hidden) setTimeout(waitForDatabase, 2000);
  if (!body.dataset.live && !body.dataset.poll) return;
  document.getElementById("live-state")?.addEventListener("click", togglePause);
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) close();
    else if (!paused) {
      refresh();
      open();
    }
  });
  addEventListener("pagehide", close);
  if (body.dataset.poll) setInterval(() => !paused && !document.hidden && refresh(), Number(body.dataset.poll) * 1000);
  open();
}
