// What surrounds a part that refreshes itself: it rests while the page is hidden, keeps what the reader opened,
// says a change of state once, and carries it to the tab's title and icon.
(() => {
  const HIDDEN_EVERY = 60_000;
  let asked = 0;
  let before = new Map();
  let opened = new Map();

  const states = () =>
    new Map([...document.querySelectorAll("[data-says]")].map((part) => [part.id, part.dataset.state]));
  const openings = () =>
    new Map([...document.querySelectorAll("details[id]")].map((part) => [part.id, part.open]));

  document.addEventListener("htmx:beforeRequest", (event) => {
    if (!event.target.hasAttribute("data-live")) return;
    if (document.hidden && Date.now() - asked < HIDDEN_EVERY) event.preventDefault();
    else asked = Date.now();
  });

  document.addEventListener("htmx:beforeSwap", (event) => {
    const { target, xhr, pathInfo } = event.detail;
    if (!target.hasAttribute("data-live")) return;
    if (new URL(xhr.responseURL).pathname !== new URL(pathInfo.finalRequestPath, location.href).pathname) {
      event.detail.shouldSwap = false; // the session ended: what came is the sign-in page
      location.reload();
      return;
    }
    before = states();
    opened = openings();
  });

  const lost = () => {
    const line = document.querySelector("[data-lost]");
    if (line) line.textContent = line.dataset.lost;
  };
  document.addEventListener("htmx:sendError", lost);
  document.addEventListener("htmx:responseError", lost);

  document.addEventListener("htmx:afterSettle", () => {
    const live = document.querySelector("[data-live]");
    if (!live) return;
    for (const [id, open] of opened) {
      const part = document.getElementById(id);
      if (part) part.open = open;
    }
    if (live.dataset.title) document.title = live.dataset.title;
    if (live.dataset.favicon) document.getElementById("favicon").href = live.dataset.favicon;
    const changed = [...document.querySelectorAll("[data-says]")].filter(
      (part) => before.has(part.id) && before.get(part.id) !== part.dataset.state,
    );
    for (const part of changed) part.classList.add("changed");
    if (changed.length) document.getElementById("announce").textContent = changed.map((part) => part.dataset.says).join(". ");
  });
})();
