// A verdict is kept in this browser until the server has it, and is sent once, by its own key.
import { forgetDraft } from "./draft.js";
import { assignment, form, notice, one, rater } from "./page.js";

const AGAIN_AFTER = 10_000;
const PASSING = [502, 503, 504]; // the server, or a proxy before it, says that it cannot just now
const place = () => `glance-outbox-${rater()}`;
const FIELDS = ["assignment", "key", "verdict", "hypothesis", "lined_up", "widened"];
let timer;

export function listenToAnswers() {
  document.addEventListener("htmx:configRequest", (event) => {
    if (event.detail.path !== path()) return;
    keep(event.detail.formData);
    if (event.detail.formData.get("assignment") === assignment()) press(event.detail.formData.get("verdict"));
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    const { successful, xhr, requestConfig } = event.detail;
    const fine = successful || xhr.status === 409; // 409: an old page, answered with the current one
    if (requestConfig.path !== path()) return fine || say("failed", xhr);
    if (fine) return stored();
    refused(xhr);
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-again]")) sendKept();
  });
  addEventListener("online", sendKept);
}

// Also on loading the page: the answer may have been lost with the connection, or the browser closed.
export function sendKept() {
  clearTimeout(timer);
  const values = read();
  if (!values || !one("#rate")) return;
  if (values.assignment === assignment()) form().elements.hypothesis.value = values.hypothesis ?? "";
  notice("sending");
  htmx.ajax("POST", path(), { values, source: "#rate", target: "#rate", swap: "outerHTML" });
}

const path = () => one("#notice-offline").dataset.path;

function keep(data) {
  const values = Object.fromEntries(FIELDS.map((name) => [name, data.getAll(name).filter(Boolean).at(-1) ?? ""]));
  localStorage.setItem(place(), JSON.stringify(values));
}

function read() {
  try {
    return JSON.parse(localStorage.getItem(place()));
  } catch {
    return null;
  }
}

function stored() {
  localStorage.removeItem(place());
  forgetDraft();
}

function refused(xhr) {
  if (xhr.status === 401) return notice("signed-out");
  if (xhr.status === 0) {
    notice("offline");
    timer = setTimeout(sendKept, AGAIN_AFTER);
  } else if (PASSING.includes(xhr.status)) {
    notice("busy");
    timer = setTimeout(sendKept, xhr.getResponseHeader("retry-after") * 1000 || AGAIN_AFTER);
  } else if (xhr.status >= 500 || xhr.status === 429) {
    notice("error", (copy) => {
      const id = xhr.getResponseHeader("x-request-id");
      if (id) copy.querySelector("[data-request]").textContent = id;
    });
  } else {
    localStorage.removeItem(place()); // sending it again could not help
    release();
    say("refused", xhr);
  }
}

// A notice with the server's own sentence.
function say(name, xhr) {
  const sentence = new DOMParser().parseFromString(xhr.responseText, "text/html").querySelector(".notice")?.textContent;
  notice(name, (copy) => (copy.querySelector("[data-message]").textContent = sentence ?? ""));
}

// The pressed button stays dark until the answer is in.
function press(verdict) {
  release();
  const button = one(`#verdict [value="${verdict}"]`);
  button?.classList.add("pressed");
  button?.setAttribute("aria-busy", "true");
}

function release() {
  for (const button of document.querySelectorAll("#verdict .pressed")) {
    button.classList.remove("pressed");
    button.removeAttribute("aria-busy");
  }
}
