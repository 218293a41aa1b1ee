// The rating page. It works without this; with it hands stay on the keys and nothing is lost without a connection.
import { startClock } from "./clock.js";
import { startDraft } from "./draft.js";
import { listenToKeys } from "./keys.js";
import { labelKeys } from "./letters.js";
import { listenToAnswers, sendKept } from "./outbox.js";
import { assignment, form } from "./page.js";
import { listenToView, startView } from "./view.js";

function startItem() {
  labelKeys();
  startView();
  startClock();
  startDraft();
  document.querySelector("#said").textContent = document.querySelector("h1")?.textContent ?? "";
}

// Hands on the mouse need no focus on a verdict, where the next Enter or Space would give it again.
function leaveButton(event) {
  const button = event.detail > 0 && event.target.closest("#verdict button, #undo button");
  if (button) setTimeout(() => button.blur()); // afterwards: htmx forgets the pressed button when it loses focus
}

// The button is of the verdict's form, which htmx would send as a verdict.
function pause(event) {
  const button = event.target.closest("#pause");
  if (!button || !form()) return;
  event.preventDefault();
  const values = { assignment: assignment(), hypothesis: form().elements.hypothesis.value };
  htmx.ajax("POST", new URL(button.formAction).pathname, { values, source: "#rate", target: "#rate", swap: "outerHTML show:window:top" });
}

listenToKeys();
document.addEventListener("click", pause);
document.addEventListener("click", leaveButton);
listenToView();
listenToAnswers();
document.addEventListener("htmx:afterSwap", startItem);
startItem();
sendKept();
