/* The table of kernels: sorted by any column, a page of rows at a time, so that no number of kernels
   makes it slow. */
"use strict";

const ROWS = 50;

const known = (value) => value ?? -1;
const verdictAt = (key) => ({ case: found }) => (found ? known(found.verdict[key]) : -1);

/* Registers that the hardware reserves, or where that is not known what the code uses. */
const reserved = (key) => ({ case: found, used }) => known((found ? found.verdict : used)[key]);

/* AGPRs used: what lies above the VGPRs in one file is reserved for either. */
const agprsOf = ({ case: found, used }) =>
  known(found && !found.verdict.agprs ? found.verdict.agprs : used.agprs);

const launches = ({ case: found }) => !found || found.verdict.waves_per_simd > 0;

const COLUMNS = [
  { key: "name", label: "kernel", of: ({ title }) => title.brief, show: nameCell },
  { key: "target", label: "target", of: ({ target }) => target, show: ({ target }) => target || "?" },
  { key: "size", label: "block", of: ({ case: found }) => (found ? found.launch.workgroup_size : -1) },
  { key: "vgprs", label: "VGPR", of: reserved("vgprs") },
  { key: "agprs", label: "AGPR", of: agprsOf },
  { key: "sgprs", label: "SGPR", of: reserved("sgprs") },
  { key: "lds", label: "LDS", show: (kernel) => sized(ldsAsked(kernel)), of: ldsAsked },
  { key: "scratch", label: "scratch", of: ({ spills }) => known(spills.scratch),
    show: ({ spills }) => sized(known(spills.scratch)) },
  { key: "waves", label: "waves/SIMD", of: verdictAt("waves_per_simd"), show: wavesCell },
  { key: "percent", label: "occ", of: verdictAt("percent"),
    show: ({ case: found }) => (found ? `${found.verdict.percent.toFixed(1)} %` : "?") },
  { key: "limiters", label: "limited by", of: (kernel) => limitersOf(kernel).join(" "),
    show: (kernel) => launches(kernel)
      ? limitersOf(kernel).map((name) => keyOf(name, RESOURCES[name])) : "cannot launch" },
  { key: "findings", label: "findings", of: ({ findings }) => findings.length,
    show: ({ findings }) => findings.map((finding) =>
      html("span", { class: `finding ${finding.severity}`, title: finding.message },
        finding.rule)) },
];

const TEXT_COLUMNS = ["name", "target", "limiters", "findings"];

function ldsAsked({ case: found, used }) {
  return known(found ? ldsOf(found.demand, found.launch) : used.lds);
}

const sized = (value) => (value < 0 ? "?" : bytes(value));

function nameCell({ title, index }) {
  const rest = title.name === title.brief ? title.symbol : title.name;
  return html("a", { href: `#kernel=${index}`, title: title.name.slice(0, 400) },
    html("b", {}, title.brief.slice(0, 300)), html("span", { class: "rest" }, rest.slice(0, 300)));
}

function wavesCell({ case: found }) {
  if (!found) return "?";
  const { waves_per_simd: waves, exact, percent: share } = found.verdict;
  return html("span", { class: "level" }, (exact || !waves ? "" : "≤ ") + number(waves),
    html("span", { class: "meter", style: `--share:${share}%`, "aria-hidden": "true" }));
}

function compare(one, other) {
  if (typeof one === "string") return one < other ? -1 : one > other ? 1 : 0;
  return one - other;
}

/* Few kernels stand as they were read, many from the lowest ceiling up, as in the text report. */
function kernelTable(order) {
  const body = html("tbody");
  const place = html("span", { "aria-live": "polite" });
  let [shown, first] = [[], 0];
  const heads = COLUMNS.map(({ key, label }) =>
    html("th", { scope: "col", class: TEXT_COLUMNS.includes(key) ? null : "number" },
      html("button", { type: "button", "data-sort": key, onclick: () => sortBy(key) }, label)));
  const turn = (by, label, name) => html("button", { type: "button", "data-turn": name,
    onclick: () => { first += by; fill(); } }, label);
  const [back, on] = [turn(-ROWS, "← previous", "back"), turn(ROWS, "next →", "on")];
  const pager = html("p", { class: "pager" }, back, place, on);

  function sortBy(key) {
    const numbers = !TEXT_COLUMNS.includes(key) || key === "findings";
    const rising = order.key === key ? !order.rising : !numbers || key === "waves" || key === "percent";
    Object.assign(order, { key, rising });
    arrange();
  }
  function arrange() {
    const column = COLUMNS.find(({ key }) => key === order.key);
    if (column) {
      const sign = order.rising ? 1 : -1;
      const values = new Map(shown.map((kernel) => [kernel, column.of(kernel)]));
      shown.sort((one, other) => sign * compare(values.get(one), values.get(other)) ||
        one.index - other.index);
    }
    heads.forEach((head, index) => {
      const sorted = COLUMNS[index].key === order.key;
      if (sorted) head.setAttribute("aria-sort", order.rising ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
    first = 0;
    fill();
  }
  function fill() {
    const rows = shown.slice(first, first + ROWS);
    body.replaceChildren(...rows.map(rowOf));
    place.textContent = shown.length
      ? `${grouped(first + 1)}–${grouped(first + rows.length)} of ${grouped(shown.length)}`
      : "no kernel of that kind";
    back.disabled = first === 0;
    on.disabled = first + ROWS >= shown.length;
    pager.classList.toggle("short", shown.length <= ROWS && shown.length > 0);
  }
  const element = html("div", {},
    html("div", { class: "scroll" }, html("table", { class: "kernels" },
      html("caption", { class: "unseen" }, "Kernels; headings sort"),
      html("thead", {}, html("tr", {}, heads)), body)),
    pager);
  return { element, show(kernels) { shown = [...kernels]; arrange(); } };
}

function rowOf(kernel) {
  return html("tr", {}, COLUMNS.map(({ key, of, show }, index) => {
    const value = show ? show(kernel) : of(kernel);
    return html(index === 0 ? "th" : "td", {
      scope: index === 0 ? "row" : null, class: TEXT_COLUMNS.includes(key) ? key : "number",
    }, value === -1 ? "?" : typeof value === "number" ? String(value) : value);
  }));
}
