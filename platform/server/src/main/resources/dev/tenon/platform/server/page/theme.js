// Runs before anything is drawn, so that the page never shows the other theme first.
(() => {
  try {
    document.documentElement.dataset.theme = localStorage.getItem("tenon.theme") || "auto";
  } catch {
    document.documentElement.dataset.theme = "auto"; // storage is off
  }
})();
