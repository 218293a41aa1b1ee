// What is ticked or written on a page before or after rating is kept in this browser until it is sent.
import { form, rater } from "./page.js";

const place = () => `glance-unsent-${rater()}`;
const page = () => `${new URL(form().action).pathname} ${form().elements.number?.value}`;
const boxes = () => [...form().elements].filter((field) => field.name === "fires");

export function startUnsent() {
  if (!form()) return; // a pause: it is for the page that comes after
  const kept = read();
  if (kept?.page !== page()) return localStorage.removeItem(place());
  if (form().elements.hypothesis) form().elements.hypothesis.value = kept.hypothesis;
  for (const box of boxes()) box.checked = kept.fires.includes(box.value);
}

export function listenToUnsent() {
  document.addEventListener("input", (event) => {
    if (event.target.form !== form() || !form()) return;
    const hypothesis = form().elements.hypothesis?.value ?? "";
    const fires = boxes().filter((box) => box.checked).map((box) => box.value);
    localStorage.setItem(place(), JSON.stringify({ page: page(), hypothesis, fires }));
  });
}

function read() {
  try {
    return JSON.parse(localStorage.getItem(place()));
  } catch {
    return null;
  }
}
