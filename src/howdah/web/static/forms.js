// A change that cannot be undone is asked about once more; without scripts the server asks.
export function startForms() {
  document.addEventListener("submit", (event) => {
    const form = event.target;
    const question = event.submitter?.dataset.confirm || form.dataset.confirm;
    if (question) {
      if (!confirm(question)) {
        event.preventDefault();
        return;
      }
      const sure = document.createElement("input");
      sure.type = "hidden";
      sure.name = "sure";
      sure.value = "1";
      form.appendChild(sure);
    }
    if (form.method === "get") {
      // A saved link says only what was asked for.
      for (const field of form.elements) if (field.name && field.value === "" && field.type !== "checkbox") field.disabled = true;
    }
  });
  addEventListener("pageshow", () => {
    for (const field of document.querySelectorAll("form[method=get] :disabled")) field.disabled = false;
  });
}
