// A strip of bars is one tab stop: arrows, Home and End walk over its bars; Enter or a click shows the runs of
// that time. Without this the table below the chart has the same links.
(() => {
  const places = new Map();
  let focused = "";

  // As the rest of the page writes it: "23 Nov".
  const language = () => (document.documentElement.lang === "en" ? "en-GB" : document.documentElement.lang);
  const count = (strip) => strip.dataset.states.length;
  const begins = (strip, n) => new Date((Number(strip.dataset.start) + n * Number(strip.dataset.bar)) * 1000);

  function said(strip, n) {
    const section = strip.closest("[data-words]");
    const long = Number(strip.dataset.bar) >= 86400;
    const form = long
      ? { timeZone: "UTC", day: "numeric", month: "short" }
      : { timeZone: section.dataset.zone, day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
    const time = new Intl.DateTimeFormat(language(), form).format(begins(strip, n));
    return `${time} · ${JSON.parse(section.dataset.words)[strip.dataset.states[n]]}`;
  }

  function mark(strip, n) {
    places.set(strip.id, n);
    strip.setAttribute("aria-valuenow", n);
    strip.setAttribute("aria-valuetext", said(strip, n));
    clear(strip);
    const here = document.createElement("span");
    here.className = "here";
    here.style.insetInlineStart = `${(n / count(strip)) * 100}%`;
    here.style.inlineSize = `${100 / count(strip)}%`;
    const words = document.createElement("span");
    words.className = "said";
    words.textContent = said(strip, n);
    words.style[n < count(strip) / 2 ? "insetInlineStart" : "insetInlineEnd"] =
      `${((n < count(strip) / 2 ? n : count(strip) - n - 1) / count(strip)) * 100}%`;
    strip.append(here, words);
  }

  function clear(strip) {
    for (const part of strip.querySelectorAll(".here, .said")) part.remove();
  }

  function open(strip, n) {
    const to = new URL(location.href);
    to.searchParams.set("lane", strip.dataset.strip);
    to.searchParams.set("range", strip.closest("[data-range]").dataset.range);
    to.searchParams.set("at", begins(strip, n).toISOString());
    to.searchParams.delete("before");
    to.hash = "runs";
    location.assign(to);
  }

  function ready() {
    for (const strip of document.querySelectorAll("[data-strip]")) {
      strip.tabIndex = 0;
      strip.setAttribute("role", "slider");
      strip.setAttribute("aria-label", `${strip.dataset.name}: ${strip.firstElementChild.getAttribute("aria-label")}`);
      strip.setAttribute("aria-valuemin", 0);
      strip.setAttribute("aria-valuemax", count(strip) - 1);
      const n = Math.min(places.get(strip.id) ?? count(strip) - 1, count(strip) - 1);
      strip.setAttribute("aria-valuenow", n);
      strip.setAttribute("aria-valuetext", said(strip, n));
      strip.firstElementChild.setAttribute("aria-hidden", "true");
    }
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  }

  const stripOf = (event) => event.target.closest?.("[data-strip]");

  document.addEventListener("keydown", (event) => {
    const strip = stripOf(event);
    if (!strip || event.ctrlKey || event.metaKey || event.altKey) return;
    const n = Number(strip.getAttribute("aria-valuenow"));
    const last = count(strip) - 1;
    const moves = { ArrowLeft: n - 1, ArrowDown: n - 1, ArrowRight: n + 1, ArrowUp: n + 1, Home: 0, End: last };
    if (event.key === "Enter") open(strip, n);
    else if (event.key in moves) mark(strip, Math.min(last, Math.max(0, moves[event.key])));
    else return;
    event.preventDefault();
  });

  document.addEventListener("focusin", (event) => {
    const strip = stripOf(event);
    if (strip) mark(strip, Number(strip.getAttribute("aria-valuenow")));
  });

  document.addEventListener("focusout", (event) => {
    const strip = stripOf(event);
    if (strip) clear(strip);
  });

  document.addEventListener("click", (event) => {
    const strip = stripOf(event);
    if (!strip) return;
    const box = strip.getBoundingClientRect();
    open(strip, Math.min(count(strip) - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * count(strip)))));
  });

  document.addEventListener("htmx:beforeSwap", () => {
    focused = document.activeElement?.closest("[data-strip]")?.id ?? "";
  });
  document.addEventListener("htmx:afterSettle", ready);
  ready();
})();
