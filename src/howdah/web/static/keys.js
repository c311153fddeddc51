// Keys: / search, j and k move, Enter opens, x selects, g goes, p pauses, t changes the theme, ? helps.
import { togglePause } from "./live.js";
import { nextTheme } from "./theme.js";

const PLACES = { o: "/", j: "/jobs", q: "/queues", w: "/workers", b: "/bulk", a: "/audit" };
let going = false;

const rows = () => [...document.querySelectorAll("[data-row]")];
const at = () => rows().findIndex((row) => row.classList.contains("at"));

function move(step) {
  const found = rows();
  if (!found.length) return;
  const from = at();
  const to = Math.min(found.length - 1, Math.max(0, from < 0 ? (step > 0 ? 0 : found.length - 1) : from + step));
  found[from]?.classList.remove("at");
  found[to].classList.add("at");
  found[to].querySelector("a")?.focus({ preventScroll: true });
  found[to].scrollIntoView({ block: "nearest" });
}

function search() {
  const box = document.getElementById("q");
  if (box) {
    box.focus();
    box.select();
  } else location.assign(`${document.body.dataset.base}/jobs#q`);
}

const KEYS = {
  "/": search,
  j: () => move(1),
  k: () => move(-1),
  Enter: () => rows()[at()]?.querySelector("a")?.click(),
  x: () => rows()[at()]?.querySelector("input[type=checkbox]")?.click(),
  p: togglePause,
  t: nextTheme,
  "?": () => document.getElementById("keys-help")?.showModal(),
  g: () => {
    going = true;
    setTimeout(() => (going = false), 1500);
  },
};

function isTyping(target) {
  return target.closest?.("input:not([type=checkbox]), textarea, select, dialog") !== null;
}

export function startKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (event.key === "Enter" && event.target.closest?.("a, button, summary")) return;
    if (going && PLACES[event.key]) {
      location.assign(document.body.dataset.base + PLACES[event.key]);
      return;
    }
    const act = KEYS[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  if (location.hash === "#q") search();
}
