// Copies a text: of an element on this page (data-copy-from), or of an address that answers with text (data-copy).
(() => {
  async function textOf(button) {
    if (button.dataset.copyFrom) return document.getElementById(button.dataset.copyFrom).textContent;
    const answer = await fetch(button.dataset.copy, { headers: { Accept: "text/plain" } });
    if (!answer.ok) throw new Error(String(answer.status));
    return answer.text();
  }

  function say(button) {
    const announce = document.getElementById("announce");
    announce.textContent = button.dataset.copied;
    button.classList.add("copied");
    setTimeout(() => { button.classList.remove("copied"); announce.textContent = ""; }, 2000);
  }

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy], [data-copy-from]");
    if (!button || !navigator.clipboard) return; // without a clipboard the link leads to the text
    event.preventDefault();
    try {
      await navigator.clipboard.writeText(await textOf(button));
      say(button);
    } catch {
      if (button.href) location.assign(button.href);
    }
  });

  const reveal = () => {
    if (!navigator.clipboard) return;
    for (const button of document.querySelectorAll("button[data-copy-from][hidden]")) button.hidden = false;
  };
  document.addEventListener("DOMContentLoaded", reveal);
  document.addEventListener("htmx:afterSwap", reveal);
})();
