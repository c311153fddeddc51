// The theme is kept in a cookie, so that the server sends the right one and nothing flashes.
const THEMES = ["auto", "light", "dark"];

function apply(theme) {
  document.documentElement.dataset.theme = theme;
  const form = document.getElementById("theme-form");
  fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)), redirect: "manual" });
}

export function nextTheme() {
  const select = document.getElementById("theme");
  select.value = THEMES[(THEMES.indexOf(select.value) + 1) % THEMES.length];
  apply(select.value);
}

export function startTheme() {
  document.getElementById("theme")?.addEventListener("change", (event) => apply(event.target.value));
}
