/* A table sorted by any column. It shows a page of rows at a time, so that many rows do not make it
   slow; in print it has all rows. The address holds its order if it is not the usual one.

   A column has a key, a label, `of(row)` to sort by, and `show(row)` if the cell shows another value.
   `text` sorts from A, numbers from the largest unless `rising`. Unknown values are -1, shown as ?. */
"use strict";

const ROWS = 50;

const known = (value) => value ?? -1;
const sized = (value) => (value < 0 ? "?" : bytes(value));

function compare(one, other) {
  if (typeof one === "string") return one < other ? -1 : one > other ? 1 : 0;
  return one - other;
}

function sortedTable(caption, columns, usual) {
  const body = html("tbody");
  const position = html("span", { "aria-live": "polite" });
  let [shown, first, order] = [[], 0, usual];
  const heads = columns.map(({ key, label, text }) =>
    html("th", { scope: "col", class: text ? null : "number" },
      html("button", { type: "button", "data-sort": key, onclick: () => sortBy(key) }, label)));
  const turn = (by, label, name) => html("button", { type: "button", "data-turn": name,
    onclick: () => { first += by; fill(); } }, label);
  const [back, on] = [turn(-ROWS, "← previous", "back"), turn(ROWS, "next →", "on")];
  const pager = html("p", { class: "pager" }, back, position, on);

  function sortBy(key) {
    const { text, rising } = columns.find((column) => column.key === key);
    const turned = order.key === key ? !order.rising : Boolean(text || rising);
    order = { key, rising: turned };
    rewriteAddress({ sort: orderInWords(order) });
    arrange();
  }
  function arrange() {
    const column = columns.find(({ key }) => key === order.key);
    if (column) {
      const sign = order.rising ? 1 : -1;
      const values = new Map(shown.map((row) => [row, column.of(row)]));
      shown.sort((one, other) => sign * compare(values.get(one), values.get(other)) ||
        one.index - other.index);
    }
    heads.forEach((head, index) => {
      const sorted = columns[index].key === order.key;
      if (sorted) head.setAttribute("aria-sort", order.rising ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
    first = 0;
    fill();
  }
  function fill(from = first, count = ROWS) {
    const rows = shown.slice(from, from + count);
    body.replaceChildren(...rows.map((row) => rowOf(row, columns)));
    position.textContent = shown.length
      ? `${grouped(from + 1)}–${grouped(from + rows.length)} of ${grouped(shown.length)}`
      : "no kernel of that kind";
    back.disabled = first === 0;
    on.disabled = first + ROWS >= shown.length;
    pager.classList.toggle("short", shown.length <= ROWS);
  }
  const element = html("div", {},
    html("div", { class: "scroll" }, html("table", { class: "kernels" },
      html("caption", { class: "unseen" }, caption),
      html("thead", {}, html("tr", {}, heads)), body)),
    pager);
  addEventListener("beforeprint", () => element.isConnected && fill(0, shown.length));
  addEventListener("afterprint", () => element.isConnected && fill());
  return {
    element,
    follow() { order = orderOf(readAddress().sort, usual); },
    show(rows) { shown = [...rows]; arrange(); },
  };
}

function rowOf(row, columns) {
  return html("tr", {}, columns.map(({ key, label, of, show, text }) => {
    const value = show ? show(row) : of(row);
    return html(key === "name" ? "th" : "td",
      { scope: key === "name" ? "row" : null, class: text ? key : "number", "data-label": label },
      value === -1 ? "?" : typeof value === "number" ? String(value) : value);
  }));
}

const MOST_SHOWN = 1000;
const shortened = (name) => (name.length > MOST_SHOWN ? `${name.slice(0, MOST_SHOWN - 1)}…` : name);

/* The short name, with the full name as a tooltip and `also` below it. */
function nameCell(title, href, also = "") {
  const texts = [html("b", {}, shortened(title.brief)),
    also ? html("span", { class: "rest" }, shortened(also)) : null];
  const tip = title.name.slice(0, 400);
  return href ? html("a", { href, title: tip }, texts) : html("span", { title: tip }, texts);
}
