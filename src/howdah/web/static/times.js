// "5m ago" goes on counting, and the tooltip says the moment in the reader's own time.
const STEPS = [["d", 86400], ["h", 3600], ["m", 60], ["s", 1]];

export function duration(seconds) {
  if (seconds < 0.9995) return `${Math.round(Math.max(0, seconds) * 1000)}ms`;
  if (seconds < 9.95) return `${seconds.toFixed(1)}s`;
  let left = Math.round(seconds);
  const shown = [];
  for (const [unit, size] of STEPS) {
    const count = Math.floor(left / size);
    left %= size;
    if (count || shown.length) shown.push(count ? `${count}${unit}` : "");
    if (shown.length === 2) break;
  }
  return shown.filter(Boolean).join(" ") || "0s";
}

export function showTimes() {
  for (const element of document.querySelectorAll("time[data-ago]")) {
    const at = Date.parse(element.dateTime);
    if (Number.isNaN(at)) continue;
    const passed = (Date.now() - at) / 1000;
    const text = passed < 0 ? `in ${duration(-passed)}` : `${duration(passed < 10 ? Math.round(passed * 10) / 10 : passed)} ago`;
    if (element.textContent !== text) element.textContent = text;
    element.title = new Date(at).toLocaleString();
  }
}

export function startTimes() {
  showTimes();
  setInterval(showTimes, 1000);
}
