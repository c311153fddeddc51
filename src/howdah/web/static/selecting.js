// Rows of a list: all at once, a range with Shift, and how many are chosen.
let last = null;

export function startSelecting() {
  const boxes = [...document.querySelectorAll("input[data-select]")];
  const whole = document.getElementById("select-all");
  const count = document.getElementById("selected-count");
  if (!boxes.length) return;
  const show = () => {
    const chosen = boxes.filter((box) => box.checked).length;
    if (count) count.textContent = chosen ? `${chosen} selected` : "";
    if (whole) {
      whole.checked = chosen === boxes.length;
      whole.indeterminate = chosen > 0 && chosen < boxes.length;
    }
    for (const box of boxes) box.closest("tr").setAttribute("aria-selected", box.checked ? "true" : "false");
  };
  if (whole) {
    whole.hidden = false;
    whole.addEventListener("change", () => {
      for (const box of boxes) box.checked = whole.checked;
      show();
    });
  }
  for (const box of boxes) {
    box.addEventListener("click", (event) => {
      const from = boxes.indexOf(last);
      const to = boxes.indexOf(box);
      if (event.shiftKey && from >= 0) {
        for (const between of boxes.slice(Math.min(from, to), Math.max(from, to) + 1)) between.checked = box.checked;
      }
      last = box;
      show();
    });
  }
  show();
}
