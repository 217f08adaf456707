/* Source left and instructions right, linked by line. The window scrolls the instructions; the source
   follows. */
"use strict";

/* Height of a line in pixels, as in style.css. */
const LINE = 20;
const PAGE_OF_LINES = 20;

/* The chart of live registers and the panes of one kernel. A click in the chart marks an instruction. */
async function codeSections(pressure, data) {
  const scripts = piecesOf("text");
  const texts = await Promise.all(data.files.map(([, text]) =>
    (text === null ? null : readPiece(scripts[text]))));
  const panes = panesSection(panesModel(data, texts));
  return { sections: [pressureSection(pressure, panes.markNumber), panes.element],
    toPeak: () => panes.markNumber(data.peak) };
}

/* The section, and a function that marks an instruction by its number. */
function panesSection(model) {
  const { data, instructions } = model;
  const hasSource = model.source.length > 0;
  const state = { pane: "code", marked: instructions[data.peak], sought: "", only: false };
  const code = html("div", { class: "code", tabindex: "0", role: "listbox",
    "aria-label": "instructions" });
  const source = html("div", { class: "source", tabindex: "0", role: "listbox",
    "aria-label": "source lines" });
  const detail = html("div", { class: "detail" });
  const lists = {
    code: linesOf(code, null, drawn((item) => codeLine(model, item, state.sought)), repaint),
    source: linesOf(source, source, drawn((item) => sourceRow(model, item, state.sought)), repaint),
  };
  const panes = { code, source };

  function drawn(lineOf) {
    return (item) => {
      const line = lineOf(item);
      repaint(line, item);
      return line;
    };
  }
  /* The marked line, and those of the other pane that belong to it. */
  function repaint(line, item) {
    const { marked } = state;
    const isLinked = marked.code ? item.source === marked
      : item === marked.source || (item.source && item.source === marked.source);
    line.classList.toggle("marked", item === marked);
    line.classList.toggle("linked", item !== marked && Boolean(isLinked));
    if (line.hasAttribute("role")) line.setAttribute("aria-selected", item === marked);
  }

  /* Marks a line or an instruction, and brings both halves into view. */
  function mark(pane, item) {
    Object.assign(state, { pane, marked: item });
    const other = pane === "code" ? item.source : item.peak;
    const one = pane === "code" ? item : item.peak;
    for (const list of Object.values(lists)) list.repaint();
    detail.replaceChildren(...detailOf(model, item, one));
    reveal(pane, item);
    if (other) reveal(pane === "code" ? "source" : "code", other);
    panes[pane].setAttribute("aria-activedescendant",
      pane === "code" ? `code-${item.number}` : `source-${item.place}`);
  }
  function reveal(pane, item) {
    const place = lists[pane].placeOf(item);
    if (place === undefined) return;
    lists[pane].draw(item);
    if (pane === "source") {
      const top = place * LINE - source.scrollTop;
      if (top < LINE || top > source.clientHeight - 3 * LINE)
        source.scrollTop = place * LINE - source.clientHeight / 2;
      return;
    }
    const [upper, lower] = room();
    const top = code.getBoundingClientRect().top + place * LINE;
    if (top < upper + LINE || top > lower - 2 * LINE)
      scrollBy({ top: top - (upper + lower) / 2, behavior: "instant" });
  }
  /* Top and bottom of the window's part in which instructions are seen. */
  function room() {
    const isStacked = source.offsetWidth > 0.7 * element.offsetWidth;
    return [bar.offsetHeight + (isStacked && hasSource ? source.offsetHeight : 0),
      innerHeight - detail.offsetHeight];
  }

  /* The source shows the lines of most instructions that are in view. */
  function follow() {
    const [upper, lower] = room();
    const top = code.getBoundingClientRect().top;
    const items = lists.code.items().slice(Math.max(0, Math.floor((upper - top) / LINE)),
      Math.max(0, Math.ceil((lower - top) / LINE)));
    const marked = state.marked.code ? state.marked.peak : state.marked;
    const lines = items.includes(marked) && marked.source ? [marked.source]
      : items.map((item) => item.source).filter(Boolean);
    const places = lines.map((line) => lists.source.placeOf(line)).filter((at) => at !== undefined);
    const [first, last] = [source.scrollTop / LINE, (source.scrollTop + source.clientHeight) / LINE];
    const seen = places.filter((place) => first <= place && place < last - 1).length;
    if (!places.length || 2 * seen >= places.length) return;
    const middle = places.sort((one, other) => one - other)[places.length >> 1];
    source.scrollTop = middle * LINE - source.clientHeight / 2;
  }

  /* True for instructions, and for source lines that have some. */
  const canMark = (item) => item?.number !== undefined || item?.code?.length > 0;
  /* Marks the next item that fits, seen from the marked one. */
  function seek(way, fits) {
    const items = lists[state.pane].items();
    let at = (lists[state.pane].placeOf(state.marked) ?? -1) + way;
    while (items[at] && !(canMark(items[at]) && fits(items[at]))) at += way;
    if (items[at]) mark(state.pane, items[at]);
  }
  function step(way, count) {
    let left = count;
    let last = null;
    seek(way, (item) => {
      [left, last] = [left - 1, item];
      return left === 0;
    });
    if (left > 0 && last) mark(state.pane, last);
  }
  /* The next line above the step: of instructions the first of each run of one source line. */
  const toAbove = (way) => seek(way, (item) => {
    if (!isAbove(model, item)) return false;
    if (state.pane === "source") return true;
    const before = instructions[item.number - 1];
    return !before || !isAbove(model, before) || before.source !== item.source;
  });
  const isFound = (item) => {
    const text = item.label ?? item.text;
    return Boolean(state.sought) && Boolean(text?.toLowerCase().includes(state.sought));
  };
  function turn(pane) {
    if (!hasSource || pane === state.pane) return;
    const item = pane === "code" ? state.marked.peak : state.marked.source;
    if (item) mark(pane, item);
    panes[pane].focus({ preventScroll: true });
  }

  const search = html("input", { type: "search", placeholder: "search (/)", "aria-label": "search",
    spellcheck: "false", autocomplete: "off", oninput: sought, onkeydown: (event) => {
      if (event.key === "Enter") seek(event.shiftKey ? -1 : 1, isFound);
    } });
  const only = html("input", { type: "checkbox", onchange: sought });
  const found = html("span", { class: "quiet", role: "status" });
  function sought() {
    state.sought = search.value.trim().toLowerCase();
    state.only = only.checked && Boolean(state.sought);
    const own = model.code.filter(isFound);
    const lines = new Set(model.source.filter(isFound));
    found.textContent = state.sought
      ? `${plural(own.length, "instruction")}, ${plural(lines.size, "source line")}` : "";
    draw(new Set(own), lines);
  }
  /* All lines, or those that were found and what belongs to them. */
  function draw(own, lines) {
    const linked = new Set([...own].map(({ source: line }) => line));
    lists.code.show(state.only
      ? model.code.filter((item) => own.has(item) || lines.has(item.source)) : model.code);
    lists.source.show(state.only
      ? model.source.filter((item) => lines.has(item) || linked.has(item)) : model.source);
    follow();
  }
  const button = (text, title, onclick) => html("button", { type: "button", title, onclick }, text);
  const steps = data.step ? [
    html("span", { class: "quiet about-step" },
      `above ${data.step[0]}, the step for ${wavesPerSimd(data.step[1])}`),
    button("↑ p", "previous line above the step", () => toAbove(-1)),
    button("↓ n", "next line above the step", () => toAbove(1))] : [];
  const bar = html("div", { class: "panes-bar" }, search,
    html("label", { class: "quiet" }, only, " only these"), found,
    html("span", { class: "steps" }, steps,
      button("peak", "the instruction with most live registers",
        () => mark("code", instructions[data.peak]))));

  for (const [name, pane] of Object.entries(panes)) {
    pane.addEventListener("click", (event) => {
      const line = event.target.closest(".line");
      if (!line || !getSelection().isCollapsed) return;
      const block = line.parentElement;
      const place = [...pane.children].indexOf(block) * LINE_BLOCK + [...block.children].indexOf(line);
      const item = lists[name].items()[place];
      if (canMark(item)) mark(name, item);
    });
    pane.addEventListener("focus", () => turn(name));
  }
  const KEYS = {
    ArrowDown: () => step(1, 1), ArrowUp: () => step(-1, 1),
    PageDown: () => step(1, PAGE_OF_LINES), PageUp: () => step(-1, PAGE_OF_LINES),
    Home: () => step(-1, Infinity), End: () => step(1, Infinity),
    ArrowLeft: () => turn("source"), ArrowRight: () => turn("code"),
  };
  const ANYWHERE = { n: () => toAbove(1), p: () => toAbove(-1), "/": () => search.focus() };
  addEventListener("keydown", (event) => {
    const { target, key } = event;
    if (!element.isConnected || event.ctrlKey || event.metaKey || event.altKey) return;
    if (target.closest("input, select, textarea")) return;
    const action = target === code || target === source ? KEYS[key] ?? ANYWHERE[key] : ANYWHERE[key];
    if (!action) return;
    event.preventDefault();
    action();
  });
  let isWaiting = false;
  addEventListener("scroll", () => {
    if (isWaiting || !element.isConnected) return;
    isWaiting = true;
    requestAnimationFrame(() => {
      isWaiting = false;
      follow();
    });
  });
  addEventListener("beforeprint", () =>
    element.isConnected && Object.values(lists).forEach((list) => list.fillAll()));
  addEventListener("afterprint", () =>
    element.isConnected && Object.values(lists).forEach((list) => list.watch()));

  const share = data.step ? Math.min(1, data.step[0] / model.most) : 1;
  const kinds = ["panes-section", !hasSource && "alone", !data.step && "stepless"];
  const element = html("section", { class: kinds.filter(Boolean).join(" "),
    style: `--step:${share};--depth:${model.depth}` },
    html("h2", { id: "source" }, hasSource ? "Source and instructions" : "Instructions"),
    hasSource ? null : html("p", { class: "quiet" },
      "No instruction has a source line: build with -gline-tables-only."),
    panesKeys(model, hasSource), bar,
    html("div", {}, html("div", { class: "panes" }, hasSource ? source : null, code), detail));
  draw(new Set(), new Set());
  detail.replaceChildren(...detailOf(model, state.marked, state.marked));
  return { element, markNumber: (number) => mark("code", instructions[number]) };
}

function panesKeys({ data }, hasSource) {
  const parts = ["bars: live vector registers",
    data.step && `the tick is at ${data.step[0]}`,
    data.loops.length && "brackets: loops",
    data.rows.some((row) => row[7]) && "red: spills",
    `keys: ↑ ↓ move${hasSource ? ", ← → change sides" : ""}${data.step ? ", n p next and previous " +
      "line above the step" : ""}, / searches`];
  return html("p", { class: "keys" }, parts.filter(Boolean).join(" · "));
}

/* What is marked in words, and the values that are live there. */
function detailOf(model, item, one) {
  const { data, instructions, files } = model;
  const location = ({ source, where }) =>
    (source ? `${files[source.file].name}:${source.line} (${where})` : where);
  const agprs = one.agprs ? ` and ${one.agprs} AGPRs` : "";
  const told = item.code ? countsInWords(model, item) : one.kind.replace("_", " ");
  const first = `${location(one)}: ${one.vgprs} VGPRs${agprs}, ${one.sgprs} SGPRs live`;
  return [
    html("p", { class: "reading" }, html("b", {}, first), ` · ${one.text} · ${told}`,
      one.spills ? html("span", { class: "error" }, " · spill") : null),
    liveTable(data, one.number, (at) => location(instructions[at]),
      (from, to) => to - from + 1),
  ];
}
