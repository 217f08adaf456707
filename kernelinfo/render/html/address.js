/* Page state in the address after #: the chosen kernel, the filters, the order of the table. */
"use strict";

const readAddress = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));

/* This page's address with some parameters changed. Empty parameters are left out. */
function addressWith(changes) {
  const stated = Object.entries({ ...readAddress(), ...changes }).filter(([, value]) => value);
  return `#${new URLSearchParams(stated)}`;
}

/* Changes the address without a new history entry. */
const rewriteAddress = (changes) => history.replaceState(null, "", addressWith(changes));

/* Filters kept in the address. `update` writes them there and draws the remaining rows. `follow`
   reads them and the table's order from it. */
function addressed(filters, table, draw, drawSoon = draw) {
  return {
    update() {
      rewriteAddress(filters);
      drawSoon();
    },
    follow() {
      const stated = readAddress();
      for (const key of Object.keys(filters)) filters[key] = stated[key] ?? "";
      table.follow();
      draw();
    },
  };
}

/* The table's order as an address parameter: `vgprs` is descending, `-vgprs` ascending. */
const orderInWords = ({ key, rising }) => `${rising ? "-" : ""}${key}`;

function orderOf(text, otherwise) {
  return text ? { key: text.replace("-", ""), rising: text.startsWith("-") } : otherwise;
}

/* A key that a kernel has in every build. Kernels with the same name and target are numbered. */
function keyed(name, counts) {
  const count = (counts.get(name) ?? 0) + 1;
  counts.set(name, count);
  return count === 1 ? name : `${name} ${count}`;
}
