/* The outcome of a comparison for each kernel, ordered as the data is: worst first. */
"use strict";

const STATUS_COLUMN = { key: "status", label: "became", text: true, width: 5.4,
  of: ({ rank }) => rank,
  show: ({ status }) => html("span", { class: `status ${status}` }, status) };

/* Rows are equal in status if they have the same place in the order of the data. */
function ranked(rows) {
  const ranks = new Map();
  for (const row of rows) {
    if (!ranks.has(row.status)) ranks.set(row.status, ranks.size);
    row.rank = String(ranks.get(row.status)).padStart(2, "0");
  }
  return rows;
}
