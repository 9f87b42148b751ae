// Shortcuts press what is on the page: a link or button with data-key="r" or data-key="g o". Off while typing.
(() => {
  let first = "";
  let timer = 0;

  const typing = (target) => target.closest("input, textarea, select, [contenteditable]") !== null;

  function press(keys) {
    const targets = document.querySelectorAll(`[data-key="${CSS.escape(keys)}"]`);
    const seen = [...targets].find((target) => target.checkVisibility()) ?? targets[0];
    if (!seen) return false;
    if (seen.matches("input")) seen.focus();
    else seen.click();
    return true;
  }

  function step(by) {
    const rows = [...document.querySelectorAll("[data-row]")].filter((row) => row.checkVisibility());
    if (!rows.length) return;
    const here = rows.indexOf(document.activeElement);
    const next = here < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, here + by));
    rows[next].focus();
  }

  function single(key) {
    if (key === "j") step(1);
    else if (key === "k") step(-1);
    else if (key === "?") document.getElementById("keys-list")?.showModal();
    else return press(key);
    return true;
  }

  document.addEventListener("keydown", (event) => {
    if (!document.body.hasAttribute("data-keys") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (typing(event.target) || document.querySelector("dialog[open]")) return;
    const keys = first ? `${first} ${event.key}` : event.key;
    clearTimeout(timer);
    if (!first && event.key === "g") {
      first = "g";
      timer = setTimeout(() => { first = ""; }, 1200);
      return;
    }
    const done = first ? press(keys) : single(event.key);
    first = "";
    if (done) event.preventDefault();
  });
})();
