// Shows the buttons that print the page (data-print), which need this script, and lets them do it.
(() => {
  document.addEventListener("DOMContentLoaded", () => {
    for (const button of document.querySelectorAll("[data-print][hidden]")) button.hidden = false;
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-print]")) window.print();
  });
})();
