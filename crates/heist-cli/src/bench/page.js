const box = document.getElementById("filter");
box.addEventListener("input", () => {
  const wanted = box.value.trim().toLowerCase();
  for (const part of document.querySelectorAll("[data-bench]")) {
    part.hidden = !part.dataset.bench.toLowerCase().includes(wanted);
  }
});
