/* A table sorted by any column. Rows that are equal in all that is shown are one row with their
   number. The address holds its order if it is not the usual one.

   A column has a key, a label, `of(row)` to sort by, and `show(row, count)` if the cell shows another
   value. A column with `bytes(row)`, the numbers of bytes that a cell shows, has one unit: `show(row,
   count, isKib)`. `text` sorts from A, numbers from the largest unless `rising`. `width` is in em.
   Unknown values are -1, shown as ?. `also(row)` is what the cell shows besides the value. */
"use strict";

const known = (value) => value ?? -1;

function compare(one, other) {
  if (typeof one === "string") return one < other ? -1 : one > other ? 1 : 0;
  return one - other;
}

function sortedTable(caption, columns, usual, noun = "kernel") {
  const position = html("p", { class: "count", role: "status" });
  let [shown, order, units] = [[], usual, []];
  const heads = columns.map(({ key, label, text }) =>
    html("th", { scope: "col", class: text ? null : "number" },
      html("button", { type: "button", "data-sort": key, onclick: () => sortBy(key) }, label)));
  const table = html("table", { class: "kernels" },
    html("caption", { class: "unseen" }, caption),
    html("colgroup", {}, columns.map(({ width }) =>
      html("col", { style: width ? `width:${width}em` : null }))),
    html("thead", {}, html("tr", {}, heads)));
  const blocks = blocksOf(table, columns.length, (index) => rowOf(shown[index], index, columns, units));
  const element = html("div", { class: "sorted" }, position, table);
  const numbers = new Map();

  /* The same number for rows that look the same. */
  function lookOf(row) {
    if (row.look === undefined) {
      const text = columns.map(({ of, also }) => [of(row), also?.(row)]).join("\n");
      if (!numbers.has(text)) numbers.set(text, numbers.size);
      row.look = numbers.get(text);
    }
    return row.look;
  }
  function folded(rows) {
    const found = new Map();
    for (const row of rows) {
      const look = lookOf(row);
      if (found.has(look)) found.get(look).count++;
      else found.set(look, { row, count: 1 });
    }
    return [...found.values()];
  }
  function sortBy(key) {
    const { text, rising } = columns.find((column) => column.key === key);
    const turned = order.key === key ? !order.rising : Boolean(text || rising);
    order = { key, rising: turned };
    rewriteAddress({ sort: orderInWords(order) });
    arrange();
    if (element.getBoundingClientRect().top < 0) element.scrollIntoView();
  }
  function arrange() {
    const column = columns.find(({ key }) => key === order.key);
    if (column) {
      const sign = order.rising ? 1 : -1;
      const values = new Map(shown.map((group) => [group, column.of(group.row)]));
      shown.sort((one, other) => sign * compare(values.get(one), values.get(other)) ||
        one.row.index - other.row.index);
    }
    heads.forEach((head, index) => {
      const sorted = columns[index].key === order.key;
      if (sorted) head.setAttribute("aria-sort", order.rising ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
    blocks.show(shown.length);
  }
  addEventListener("beforeprint", () => element.isConnected && blocks.fillAll());
  addEventListener("afterprint", () => element.isConnected && blocks.watch());
  return {
    element,
    follow() { order = orderOf(readAddress().sort, usual); },
    show(rows, all) {
      shown = folded(rows);
      units = columns.map(({ bytes: of }) => of && areKib(shown.flatMap(({ row }) => of(row))));
      const of = rows.length < all ? ` of ${grouped(all)}` : "";
      position.textContent = !rows.length ? `no ${noun} of that kind`
        : `${grouped(rows.length)}${of} ${noun}${(of ? all : rows.length) === 1 ? "" : "s"}` +
          (shown.length < rows.length ? ` in ${plural(shown.length, "row")}; × N: N equal ones` : "");
      arrange();
    },
  };
}

function rowOf({ row, count }, index, columns, units) {
  return html("tr", { "aria-rowindex": index + 2 }, columns.map((column, nth) => {
    const { key, label, of, show, text } = column;
    const value = show ? show(row, count, units[nth]) : of(row);
    return html(key === "name" ? "th" : "td",
      { scope: key === "name" ? "row" : null, class: text ? key : "number", "data-label": label },
      value === -1 ? "?" : typeof value === "number" ? String(value) : value);
  }));
}

const MOST_SHOWN = 1000;
const shortened = (name) => (name.length > MOST_SHOWN ? `${name.slice(0, MOST_SHOWN - 1)}…` : name);

/* The short name, with the number of equal rows, the full name as a tooltip, and `also` below. */
function nameCell(title, href, count = 1, also = "") {
  const tip = title.name.slice(0, 400);
  const name = shortened(title.brief);
  return [
    href ? html("a", { href, title: tip }, breakable(name))
      : html("span", { class: "called", title: tip }, breakable(name)),
    count > 1 ? html("span", { class: "times" }, ` × ${grouped(count)}`) : null,
    also ? html("span", { class: "rest" }, shortened(also)) : null,
  ];
}
