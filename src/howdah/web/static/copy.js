// Copies code. Plain HTTP has no clipboard, so there the text is selected and copied the old way.
async function copy(button) {
  const source = document.getElementById(button.dataset.copy);
  if (!source) return;
  const text = source.value ?? source.textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const range = document.createRange();
    range.selectNodeContents(source);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    document.execCommand("copy");
  }
  const word = button.textContent;
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = word), 1500);
}

export function startCopying() {
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", () => copy(button));
  }
}
