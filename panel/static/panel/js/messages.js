// A success floats for six seconds, and stays while it is hovered or focused. After a refused form, focus goes to the list.
(() => {
  const STAYS = 6000;

  function float(notice) {
    notice.classList.add("toast");
    const leave = () => {
      if (notice.matches(":hover, :focus-within")) setTimeout(leave, 1000);
      else notice.remove();
    };
    setTimeout(leave, STAYS);
  }

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("[data-floats]").forEach(float);
    document.getElementById("problems")?.focus();
  });
})();
