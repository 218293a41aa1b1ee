// Every page: the theme button. The choice is a cookie, so that the server draws the next page right at once.
const root = document.documentElement;
const prefix = new URL("..", document.currentScript.src).pathname;

function isDark() {
  return root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-theme-toggle]")) return;
  root.dataset.theme = isDark() ? "light" : "dark";
  const secure = location.protocol === "https:" ? "; secure" : "";
  document.cookie = `glance_theme=${root.dataset.theme}; path=${prefix}; max-age=31536000; samesite=lax${secure}`;
});

// How far this clock is ahead of UTC, so that the server can say what was done today.
const east = -new Date().getTimezoneOffset();
if (!document.cookie.split("; ").includes(`glance_east=${east}`))
  document.cookie = `glance_east=${east}; path=${prefix}; max-age=31536000; samesite=lax${location.protocol === "https:" ? "; secure" : ""}`;

// A page that the browser kept may be an old one: ask for it again.
addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});
