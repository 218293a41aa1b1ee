// Widening, lining up, and going from peak to peak.
import { address, assignment, form, notice, one } from "./page.js";

let widened = null; // the assignment whose wider text is on the page
let fetching = null;

export function startView() {
  if (!form() || !one("#wide")) return;
  if (one("#wide").checked) widened ??= assignment();
  if (widened !== assignment()) one("#wide").checked = false;
  if (one("#line").checked) remember("lined_up");
}

// What was looked at stays true of this item when it is folded again.
function remember(field) {
  const kept = form().querySelector(`[type=hidden][name=${field}]`);
  if (kept) kept.value = "1";
}

export function listenToView() {
  document.addEventListener("change", (event) => {
    if (!form() || !event.target.matches("#line, #wide, .snips [name=widened]")) return;
    if (!event.target.checked) return;
    const field = event.target.id === "line" ? "lined_up" : "widened";
    remember(field);
    if (field === "widened") fetchWider();
  });
}

export function widenInHand() {
  const item = document.activeElement.closest(".snips li") || one(".snips li:hover");
  (item ? item.querySelector("[name=widened]") : one("#wide"))?.click();
}

export function stepToPeak(by) {
  const peaks = [...document.querySelectorAll(".snips mark")];
  const at = peaks.indexOf(document.activeElement);
  const next = peaks[Math.max(0, Math.min(peaks.length - 1, at + by))];
  next?.focus({ preventScroll: true });
  next?.closest("li").scrollIntoView({ block: "nearest" });
}

// The wider text of all snippets at once, on the first time of asking.
async function fetchWider() {
  const wanted = assignment();
  if (!wanted || widened === wanted || fetching === wanted) return;
  fetching = wanted;
  try {
    const answer = await fetch(form().dataset.wide ?? address(`wide/${wanted}`));
    if (!answer.ok) throw new TypeError(`The server answered ${answer.status}.`);
    const html = await answer.text();
    if (wanted !== assignment()) return;
    replaceSnippets(html);
    widened = wanted;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    if (wanted === assignment()) notice("wider");
  } finally {
    if (fetching === wanted) fetching = null;
  }
}

function replaceSnippets(html) {
  const checked = [...document.querySelectorAll(".snips input:checked")].map((box) => box.id);
  const peaks = [...document.querySelectorAll(".snips mark")];
  const [peak, box] = [peaks.indexOf(document.activeElement), document.activeElement.id];
  one(".snips").innerHTML = html;
  for (const id of checked) document.getElementById(id).checked = true;
  const focused = peak >= 0 ? document.querySelectorAll(".snips mark")[peak] : one(`.snips input[id="${box}"]`);
  focused?.focus({ preventScroll: true });
}
