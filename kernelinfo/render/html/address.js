/* What the address says after its #: the chosen kernel, the filters, the order of the table. */
"use strict";

const readAddress = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));

/* This page's address with some of that changed; what is empty is left out. */
function addressWith(changes) {
  const stated = Object.entries({ ...readAddress(), ...changes }).filter(([, value]) => value);
  return `#${new URLSearchParams(stated)}`;
}

/* Changes the address without a new entry in the history. */
const rewriteAddress = (changes) => history.replaceState(null, "", addressWith(changes));

/* Filters that stand in the address: `update` puts them there and draws what they leave, `follow`
   takes them and the order of the table from it. */
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

/* The order of a table as a word of the address: `vgprs` falls, `-vgprs` rises. */
const orderInWords = ({ key, rising }) => `${rising ? "-" : ""}${key}`;

function orderOf(text, otherwise) {
  return text ? { key: text.replace("-", ""), rising: text.startsWith("-") } : otherwise;
}
