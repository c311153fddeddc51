// Makes one element like another by changing only what differs, so that bars move instead of jumping, the focus stays
// where it is, and what the reader has opened stays open.
const KEEP = new Set(["open", "style"]);

function keyOf(node) {
  return node.nodeType === Node.ELEMENT_NODE ? node.id || node.dataset?.job || node.dataset?.worker || node.dataset?.seq || "" : "";
}

function alike(a, b) {
  return a.nodeType === b.nodeType && a.nodeName === b.nodeName && keyOf(a) === keyOf(b);
}

function setAttributes(element, wanted) {
  for (const { name, value } of [...wanted.attributes]) {
    if (element.getAttribute(name) !== value && !KEEP.has(name)) element.setAttribute(name, value);
  }
  for (const { name } of [...element.attributes]) {
    if (!wanted.hasAttribute(name) && !KEEP.has(name)) element.removeAttribute(name);
  }
}

export function morphChildren(element, wanted) {
  let current = element.firstChild;
  for (const next of [...wanted.childNodes]) {
    let found = current;
    while (found && !alike(found, next)) found = found.nextSibling;
    if (!found) {
      element.insertBefore(document.importNode(next, true), current);
      continue;
    }
    while (current !== found) {
      const gone = current;
      current = current.nextSibling;
      gone.remove();
    }
    current = found.nextSibling;
    morph(found, next);
  }
  while (current) {
    const gone = current;
    current = current.nextSibling;
    gone.remove();
  }
}

export function morph(element, wanted) {
  if (element.nodeType !== Node.ELEMENT_NODE) {
    if (element.nodeValue !== wanted.nodeValue) element.nodeValue = wanted.nodeValue;
    return;
  }
  // What somebody is typing or choosing is theirs.
  if (element === document.activeElement && /^(INPUT|SELECT|TEXTAREA)$/.test(element.nodeName)) return;
  setAttributes(element, wanted);
  morphChildren(element, wanted);
}

export function parse(html) {
  return new DOMParser().parseFromString(html, "text/html");
}
