/* Controls that filter rows: a search, choices with their counts, and a button that clears them. */
"use strict";

/* A search for names, and choices for keys of `filters`. Each change calls `changed()`. */
function controlsOf(filters, changed) {
  const sought = (event) => {
    filters.name = event.target.value.trim().toLowerCase();
    changed();
  };
  return {
    search: html("div", { class: "filter wide" }, html("label", { for: "filter-name" }, "name"),
      html("input", { type: "search", id: "filter-name", placeholder: "part of a name",
        "data-filter": "name", spellcheck: "false", autocomplete: "off", oninput: sought })),
    choice: (key, label, options) => html("div", { class: "filter" },
      html("label", { for: `filter-${key}` }, label),
      html("select", { id: `filter-${key}`, "data-filter": key,
        onchange: (event) => { filters[key] = event.target.value; changed(); } },
        html("option", { value: "" }, "all"),
        options.map(([value, text, count]) =>
          html("option", { value }, `${text} (${grouped(count)})`)))),
    clear: html("button", { type: "button", class: "clear",
      onclick: () => { clearFilters(filters); changed(); } }, "clear"),
  };
}

const barOf = (...controls) =>
  html("form", { class: "filters", onsubmit: (event) => event.preventDefault() }, controls);

function clearFilters(filters) {
  for (const key of Object.keys(filters)) filters[key] = "";
}

/* Sets the controls to the filters, including filters set by a chart. */
function showFilters(bar, filters) {
  for (const control of bar.querySelectorAll("[data-filter]"))
    if (control !== document.activeElement) control.value = filters[control.dataset.filter];
  bar.querySelector(".clear").disabled = !Object.values(filters).some(Boolean);
}
