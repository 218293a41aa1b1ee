// Where things are on the rating page.
export const one = (selector) => document.querySelector(selector);
export const rater = () => one("#rate").dataset.rater;
export const bar = () => one(".bar[data-seconds]");
export const form = () => one("#verdict");
export const assignment = () => form()?.elements.assignment?.value;
export const address = (name) => new URL(name, new URL("rate/", new URL("..", import.meta.url)));

export function notice(name, fill = () => {}) {
  const place = one("#notices");
  if (!place) return;
  const copy = one(`#notice-${name}`).content.cloneNode(true);
  fill(copy);
  place.replaceChildren(copy);
}

