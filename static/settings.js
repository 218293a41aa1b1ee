// The help page: a rater's own keys.
import { ACTIONS, chosenLetters, keepLetters, labelKeys } from "./letters.js";

const form = document.querySelector("#remap");
const status = form.querySelector("[role=status]");

function show() {
  const letters = chosenLetters();
  for (const action of ACTIONS) form.elements[action].value = letters[action].toUpperCase();
  labelKeys();
}

form.addEventListener("input", (event) => {
  const letters = chosenLetters();
  const wanted = event.target.value.toLowerCase();
  const taken = !wanted.trim() || wanted === "?" || ACTIONS.some((action) => action !== event.target.name && letters[action] === wanted);
  status.textContent = taken && wanted.trim() ? status.dataset.taken : "";
  if (!taken) keepLetters({ ...letters, [event.target.name]: wanted });
  if (wanted) show();
});
form.addEventListener("focusin", (event) => event.target.select?.());
form.addEventListener("focusout", show);
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", (event) => {
  event.preventDefault();
  keepLetters({});
  show();
});
form.hidden = false;
show();
