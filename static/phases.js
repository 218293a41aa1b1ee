// The pages before and after rating. They work without this; with it hands stay on the keys.
import { listenToKeys } from "./keys.js";
import { labelKeys } from "./letters.js";
import { notice, one } from "./page.js";
import { listenToUnsent, startUnsent } from "./unsent.js";
import { listenToView, startView } from "./view.js";

const FIELDS = "textarea, select, input:not([type=checkbox])";

function start() {
  labelKeys();
  startView();
  startUnsent();
  one("#said").textContent = one("h1")?.textContent ?? "";
}

// A digit ticks a held-out snippet, or names a condition; Enter stores, wherever the focus is.
function listenToDigits() {
  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.repeat || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.target.matches?.(FIELDS)) return;
    const target = /^[0-9]$/.test(event.key) ? choice(event.key) : event.key === "Enter" ? next(event) : null;
    if (!target) return;
    event.preventDefault();
    target.click();
  });
}

const choice = (digit) =>
  one(`[data-digit="${digit}"]`) ?? one(`.held input[value="${digit === "0" ? 10 : digit}"]`);
const next = (event) => (event.target.closest?.("a, button, summary") ? null : one("#next"));

function listenToFailures() {
  document.addEventListener("htmx:afterRequest", (event) => {
    const { successful, xhr } = event.detail;
    if (successful || xhr.status === 409) return; // 409: an old page, answered with the current one
    const sentence = new DOMParser().parseFromString(xhr.responseText, "text/html").querySelector(".notice")?.textContent;
    notice("failed", (copy) => (copy.querySelector("[data-message]").textContent = sentence ?? ""));
  });
}

listenToKeys();
listenToDigits();
listenToView();
listenToFailures();
listenToUnsent();
document.addEventListener("htmx:afterSwap", start);
start();
