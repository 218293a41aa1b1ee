// The rating page. It works without this; with it hands stay on the keys and nothing is lost without a connection.
import { startClock } from "./clock.js";
import { startDraft } from "./draft.js";
import { listenToKeys } from "./keys.js";
import { labelKeys } from "./letters.js";
import { listenToAnswers, sendKept } from "./outbox.js";
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

listenToKeys();
document.addEventListener("click", leaveButton);
listenToView();
listenToAnswers();
document.addEventListener("htmx:afterSwap", startItem);
startItem();
sendKept();
