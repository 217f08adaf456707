/* Rows of a table in blocks. A block has its rows while it is near the window and keeps their room
   otherwise, so that many rows do not make the page slow. */
"use strict";

const BLOCK = 50;
/* Pixels around the window in which blocks have their rows. */
const NEAR = 900;

/* Blocks in `table` of so many columns. `rowAt(index)` makes a row. */
function blocksOf(table, columns, rowAt) {
  let count = 0;
  let bodies = [];
  const full = new Set();
  const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!target.isConnected) continue;
      if (isIntersecting) fill(target);
      else empty(target);
    }
  }, { rootMargin: `${NEAR}px 0px` });

  const firstOf = (body) => Number(body.dataset.first);
  const sizeOf = (body) => Math.min(BLOCK, count - firstOf(body));

  function fill(body) {
    if (!full.has(body)) {
      full.add(body);
      body.replaceChildren(...Array.from({ length: sizeOf(body) }, (_, index) =>
        rowAt(firstOf(body) + index)));
    }
    // The height of a row, for blocks that never had their rows.
    if (!table.style.getPropertyValue("--row") && body.isConnected)
      table.style.setProperty("--row", `${body.getBoundingClientRect().height / sizeOf(body)}px`);
  }
  function empty(body) {
    const isFirst = body === bodies[0];
    if (isFirst || !full.has(body) || body.contains(document.activeElement)) return;
    const { height } = body.getBoundingClientRect();
    full.delete(body);
    keepRoom(body, `${height}px`);
  }
  const keepRoom = (body, height) => body.replaceChildren(
    html("tr", { class: "room", "aria-hidden": "true" },
      html("td", { colspan: columns, style: `height:${height}` })));

  return {
    show(rows) {
      observer.disconnect();
      full.clear();
      for (const body of bodies) body.remove();
      count = rows;
      table.setAttribute("aria-rowcount", count + 1);
      bodies = Array.from({ length: Math.ceil(count / BLOCK) }, (_, index) =>
        html("tbody", { "data-first": index * BLOCK }));
      table.append(...bodies);
      bodies.forEach((body, index) => {
        if (index) keepRoom(body, `calc(var(--row, 30px) * ${sizeOf(body)})`);
        else fill(body);
        observer.observe(body);
      });
    },
    /* All rows, for print. */
    fillAll() {
      observer.disconnect();
      bodies.forEach(fill);
    },
    watch() {
      for (const body of bodies) observer.observe(body);
    },
  };
}
