/* Elements of the page. Report data enters as text and attributes, never as markup. */
"use strict";

function furnish(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null && value !== undefined)
      made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== false));
  return made;
}

const html = (tag, attributes = {}, ...children) =>
  furnish(document.createElement(tag), attributes, children);

const svg = (tag, attributes = {}, ...children) =>
  furnish(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

/* A text that breaks where its words end: behind _ , / . : < and the like. */
const breakable = (text) => text.split(/(?<=[_/.,:<>\-])(?=[^_/.,:<>\-\s])/)
  .flatMap((part, index) => (index ? [html("wbr"), part] : [part]));

/* A kernel's names as the page holds them; an empty short name is the name. */
const titleOf = ([name, symbol, length], brief) => ({
  name, symbol, length, brief: brief || name,
  sought: `${name} ${symbol}`.toLowerCase(),
});

const named = (names, values) =>
  Object.fromEntries(names.map((name, index) => [name, values[index]]));

const byId = (id) => document.getElementById(id);

/* A table with headings. Cells are texts or elements; columns marked `n` hold numbers. */
function tableOf(caption, headings, rows, kinds = "") {
  const cell = (content, index) =>
    html(index === 0 ? "th" : "td",
      { class: kinds[index] === "n" ? "number" : null, scope: index === 0 ? "row" : null,
        "data-label": headings[index] },
      content);
  const heading = (text, index) =>
    html("th", { scope: "col", class: kinds[index] === "n" ? "number" : null }, text);
  return html("div", { class: "scroll" },
    html("table", {},
      html("caption", { class: "unseen" }, caption),
      html("thead", {}, html("tr", {}, headings.map(heading))),
      html("tbody", {}, rows.map(({ cells, mark }) =>
        html("tr", { class: mark ? "binding" : null }, cells.map(cell))))));
}
