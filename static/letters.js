// Which letter does what. A rater may choose other letters; they are kept in this browser.
export const ACTIONS = ["i", "n", "c", "u", "e", "w", "l", "j", "k", "p"];
const KEPT = "glance-keys";

export function chosenLetters() {
  let kept = {};
  try {
    kept = JSON.parse(localStorage.getItem(KEPT)) ?? {};
  } catch {
    localStorage.removeItem(KEPT); // not ours: somebody else's text
  }
  return Object.fromEntries(ACTIONS.map((action) => [action, String(kept[action] || action)]));
}

export function keepLetters(letters) {
  localStorage.setItem(KEPT, JSON.stringify(letters));
}

export function actionOf(key) {
  if (key === "?") return "?";
  return Object.entries(chosenLetters()).find(([, letter]) => letter === key)?.[0];
}

export function labelKeys() {
  const letters = chosenLetters();
  for (const cap of document.querySelectorAll("kbd[data-key]"))
    cap.textContent = letters[cap.dataset.key].toUpperCase();
  for (const button of document.querySelectorAll("[aria-keyshortcuts]")) {
    const cap = button.querySelector("kbd[data-key]");
    if (cap) button.setAttribute("aria-keyshortcuts", cap.textContent);
  }
}
