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
      pace(line.effect, Number(bar().dataset.turn), Number(bar().dataset.end));
      line.currentTime = before;
    }
  turn();
}

// The sheet's line turns after one minute and is full after two; a study may want it otherwise.
function pace(effect, turns, end) {
  effect.updateTiming({ delay: 0, duration: 1000 * end });
  if (2 * turns === end) return;
  const [edge, warm] = ["var(--edge)", "var(--warm)"];
  const at = Math.min(0.999, turns / end);
  effect.setKeyframes([
    { offset: 0, transform: "scaleX(0)", background: edge },
    { offset: at, transform: `scaleX(${at})`, background: edge },
    { offset: Math.min(1, at + 0.0001), transform: `scaleX(${at})`, background: warm },
    { offset: 1, transform: "none", background: warm },
  ]);
}

function turn() {
  if (!bar()) return;
  const seconds = shownFor() / 1000;
  const minutes = String((seconds >= Number(bar().dataset.turn)) + (seconds >= Number(bar().dataset.end)));
  if (bar().dataset.minutes !== minutes) bar().dataset.minutes = minutes;
}

setInterval(turn, LOOK_EVERY);
