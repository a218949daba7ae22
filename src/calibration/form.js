"use strict";
const queue = document.body.dataset.queue, key = "claimlab-review-" + queue;
const items = [...document.querySelectorAll("article")];
const half = (texts, seed) => {
  let hash = seed;
  const step = byte => { hash = Math.imul(hash ^ byte, 16777619); };
  for (const text of texts) { new TextEncoder().encode(text).forEach(step); step(0); }
  return (hash >>> 0).toString(16).padStart(8, "0");
};
const digest = item => {
  const texts = ["request", "criterion", "answer"].map(name => item.querySelector("." + name).textContent);
  return half(texts, 2166136261) + half(texts, 3735928559);
};
const state = () => ({
  queue, annotator: document.querySelector("#who").value.trim(),
  labels: items.map(item => ({
    item_id: item.dataset.item, text_digest: digest(item),
    label: (item.querySelector("input:checked") || {value: ""}).value || null,
    reason: item.querySelector("textarea").value.trim() || null,
  })),
});
const count = () => {
  const done = state().labels.filter(one => one.label).length;
  items.forEach(item => item.classList.toggle("done", !!(item.querySelector("input:checked") || {}).value));
  document.querySelector("#count").textContent = done + " / " + items.length;
};
const keep = () => { count(); try { localStorage.setItem(key, JSON.stringify(state())); } catch (e) {} };
try {
  const draft = JSON.parse(localStorage.getItem(key) || "null");
  if (draft) {
    document.querySelector("#who").value = draft.annotator || "";
    for (const one of draft.labels) {
      const item = items.find(item => item.dataset.item === one.item_id);
      if (!item) continue;
      item.querySelector("textarea").value = one.reason || "";
      item.querySelectorAll("input").forEach(input => { input.checked = input.value === (one.label || ""); });
    }
  }
} catch (e) {}
document.addEventListener("input", keep);
document.querySelector("#save").addEventListener("click", () => {
  const now = state();
  if (!now.annotator) { alert("Please give your name first. / Indiquez d’abord votre nom."); return; }
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([JSON.stringify(now, null, 1)], {type: "application/json"}));
  link.download = "labels-" + now.annotator.replace(/[^A-Za-z0-9]+/g, "-") + ".json";
  link.click();
});
count();
