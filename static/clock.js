// The soft clock: the server says how long the item has been shown; the page turns after one and two minutes.
import { bar } from "./page.js";

const LOOK_EVERY = 5_000;
let shownFor = () => 0;

export function startClock() {
  if (!bar()) return;
  const before = 1000 * Number(bar().dataset.seconds);
  const arrived = performance.now();
  shownFor = () => before + performance.now() - arrived;
  for (const line of bar().getAnimations({ subtree: true }))
    if (line.animationName === "pace") {
      line.effect.updateTiming({ delay: 0 });
      line.currentTime = before;
    }
  turn();
}

function turn() {
  if (!bar()) return;
  const minutes = String(Math.min(2, Math.floor(shownFor() / 60_000)));
  if (bar().dataset.minutes !== minutes) bar().dataset.minutes = minutes;
}

setInterval(turn, LOOK_EVERY);
