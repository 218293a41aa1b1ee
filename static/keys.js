// Keys of the rating page: off while typing or composing, with Ctrl, Alt or Meta, on repeat and with the list open.
import { actionOf } from "./letters.js";
import { form, one } from "./page.js";
import { stepToPeak, widenInHand } from "./view.js";

const ACTS = {
  i: () => one("#verdict-i")?.click(),
  n: () => one("#verdict-n")?.click(),
  c: () => one("#verdict-c")?.click(),
  u: () => one("#undo-u")?.click(),
  e: () => form()?.elements.hypothesis?.focus(),
  l: () => form() && one("#line")?.click(),
  w: () => form() && widenInHand(),
  j: () => stepToPeak(1),
  k: () => stepToPeak(-1),
  p: () => (form() ? one("#pause") : one("#pause-here"))?.click(),
  "?": () => one("#help")?.togglePopover(),
};
const FIELDS = "textarea, select, input:not([type=checkbox]), [contenteditable]";

export function listenToKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.key === "Process") return;
    if (event.target.matches?.(FIELDS)) return leave(event);
    if (event.repeat || event.ctrlKey || event.altKey || event.metaKey) return;
    const action = actionOf(letter(event));
    if (!action || (action !== "?" && one("#help:popover-open"))) return;
    event.preventDefault();
    ACTS[action]();
  });
}

// Enter leaves the hypothesis: in a text field it would send the first button, a vote for INTERPRETABLE.
function leave(event) {
  if (event.key !== "Escape" && (event.key !== "Enter" || event.shiftKey)) return;
  event.preventDefault();
  event.target.blur();
}

// By letter, and by position where the layout has no Latin letters.
function letter(event) {
  const key = event.key.toLowerCase();
  if (/^[ -~]$/.test(key) || event.key.length > 1) return key;
  return actionOf(key) ? key : event.code.replace("Key", "").toLowerCase();
}
