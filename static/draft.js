// A hypothesis is kept while it is written: on the server, and in this browser where the server did not take it.
import { address, assignment, form, rater } from "./page.js";

const QUIET = 800;
const place = () => `glance-draft-${rater()}`;
let timer;

export function startDraft() {
  clearTimeout(timer);
  if (!form()) return;
  const field = form().elements.hypothesis;
  const kept = read();
  if (kept && kept.assignment === assignment()) field.value = kept.text;
  else localStorage.removeItem(place());
  field.addEventListener("input", () => {
    keep(field.value);
    clearTimeout(timer);
    timer = setTimeout(send, QUIET);
  });
  field.addEventListener("change", send);
}

export function forgetDraft() {
  clearTimeout(timer);
  localStorage.removeItem(place());
}

function read() {
  try {
    return JSON.parse(localStorage.getItem(place()));
  } catch {
    return null;
  }
}

function keep(text) {
  localStorage.setItem(place(), JSON.stringify({ assignment: assignment(), text }));
}

async function send() {
  clearTimeout(timer);
  const sent = { assignment: assignment(), hypothesis: form()?.elements.hypothesis.value };
  if (!sent.assignment) return;
  try {
    const answer = await fetch(address("draft"), { method: "POST", body: new URLSearchParams(sent), keepalive: true });
    const kept = read();
    if (answer.ok && kept?.assignment === sent.assignment && kept.text === sent.hypothesis) localStorage.removeItem(place());
  } catch (error) {
    if (!(error instanceof TypeError)) throw error; // no connection: it stays in this browser
  }
}

addEventListener("pagehide", () => {
  if (form() && read()) send();
});
