// Text that grows (data-follows) stays at its end while the reader is there, and stands still while they read above it.
(() => {
  const SLACK = 24;
  let wasAtEnd = true;

  const text = () => document.querySelector("[data-follows]");
  const atEnd = (part) => part.scrollHeight - part.scrollTop - part.clientHeight < SLACK;
  const end = (part) => { part.scrollTop = part.scrollHeight; };

  document.addEventListener("htmx:beforeSwap", () => {
    const part = text();
    if (part) wasAtEnd = atEnd(part);
  });

  document.addEventListener("htmx:afterSettle", () => {
    const part = text();
    if (part && wasAtEnd) end(part);
  });

  document.addEventListener("DOMContentLoaded", () => {
    const part = text();
    if (part?.querySelector("#output-tail")) end(part);
  });
})();
