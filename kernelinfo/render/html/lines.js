/* A long list of lines of one height. Blocks of lines are drawn while they are near the window; the
   others keep their room. */
"use strict";

const LINE_BLOCK = 40;
/* Pixels around the window in which blocks have their lines. */
const LINES_NEAR = 1000;

/* The list in `pane`, which scrolls in `root`; null is the window. `lineAt(item)` draws a line, and
   `repaint(line, item)` updates one. */
function linesOf(pane, root, lineAt, repaint) {
  let items = [];
  let places = new Map();
  let blocks = [];
  const full = new Set();
  const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) fill(target);
      else empty(target);
    }
  }, { root, rootMargin: `${LINES_NEAR}px 0px` });

  const firstOf = (block) => blocks.indexOf(block) * LINE_BLOCK;
  const itemsOf = (block) => items.slice(firstOf(block), firstOf(block) + LINE_BLOCK);
  function fill(block) {
    if (full.has(block)) return;
    full.add(block);
    block.replaceChildren(...itemsOf(block).map(lineAt));
  }
  function empty(block) {
    if (full.delete(block)) block.replaceChildren();
  }

  return {
    show(shown) {
      observer.disconnect();
      full.clear();
      items = shown;
      places = new Map(items.map((item, place) => [item, place]));
      blocks = Array.from({ length: Math.ceil(items.length / LINE_BLOCK) }, (_, index) =>
        html("div", { style: `--lines:${Math.min(LINE_BLOCK, items.length - index * LINE_BLOCK)}` }));
      pane.replaceChildren(...blocks);
      for (const block of blocks) observer.observe(block);
    },
    items: () => items,
    /* Place of an item in the list; undefined if it is not shown. */
    placeOf: (item) => places.get(item),
    /* Draws the block of an item at once. */
    draw(item) { fill(blocks[Math.floor(places.get(item) / LINE_BLOCK)]); },
    repaint() {
      for (const block of full)
        itemsOf(block).forEach((item, index) => repaint(block.children[index], item));
    },
    /* All lines, for print. */
    fillAll() {
      observer.disconnect();
      blocks.forEach(fill);
    },
    watch() {
      for (const block of blocks) observer.observe(block);
    },
  };
}
