/* Source and instructions of one kernel as two lists whose items know each other.
   kernelinfo/render/pressure/panes.py writes the data. */
"use strict";

/* Most loops around a line that have a bracket. */
const MOST_BRACKETS = 8;

const PANE_ROW = ["where", "file", "line", "vgprs", "agprs", "sgprs", "kind", "spills", "text"];

/* The two lists: `code` of labels and instructions, `source` of files and lines. `texts` has the
   lines of each file; null if its text was not read. */
function panesModel(data, texts) {
  const instructions = data.rows.map((row, number) => {
    const one = named(PANE_ROW, row);
    return { ...one, number, vector: vectorOf(data, one), kind: data.classes[one.kind] };
  });
  const code = codeItems(data, instructions);
  const source = sourceItems(data, texts, instructions);
  const most = instructions.reduce((one, { vector }) => Math.max(one, vector), 1);
  const model = { data, instructions, code, source, most, files: data.files.map(fileOf) };
  model.codeLoops = data.loops.flatMap(([label, depth, , ranges]) => ranges.map(([first, last]) =>
    ({ label, depth, first: instructions[first].head, last: instructions[last].place })));
  model.sourceLoops = data.loops.map((loop) => sourceLoop(loop, model)).filter(Boolean);
  model.depth = data.loops.reduce((one, [, depth]) => Math.max(one, Math.min(depth, MOST_BRACKETS)), 0);
  return model;
}

const fileOf = ([path, , reason]) => ({ path, reason, name: path.replace(/^.*[\\/]/, "") });

/* Instructions with the labels before them. `head` is the place of an instruction's first label. */
function codeItems(data, instructions) {
  const labels = new Map();
  for (const [number, label] of data.labels)
    labels.set(number, [...(labels.get(number) ?? []), label]);
  const items = [];
  for (const one of instructions) {
    one.head = items.length;
    for (const label of labels.get(one.number) ?? []) items.push({ label, next: one, place: items.length });
    one.place = items.length;
    items.push(one);
  }
  return items;
}

/* Each file's name and lines; without its text, the lines that have instructions. */
function sourceItems(data, texts, instructions) {
  const lines = data.files.map((_, file) =>
    (texts[file] ?? []).map((text, index) => sourceLine(file, index + 1, text)));
  const known = data.files.map((_, file) => new Map(lines[file].map((one) => [one.line, one])));
  for (const one of instructions) {
    if (one.file < 0) continue;
    const file = known[one.file];
    if (!file.has(one.line)) {
      file.set(one.line, sourceLine(one.file, one.line, null));
      lines[one.file].push(file.get(one.line));
    }
    one.source = file.get(one.line);
    addTo(one.source, one);
  }
  const items = data.files.flatMap((_, file) =>
    [{ heading: file }, ...lines[file].sort((one, other) => one.line - other.line)]);
  items.forEach((item, place) => { item.place = place; });
  return items;
}

const sourceLine = (file, line, text) =>
  ({ file, line, text, code: [], vector: 0, spills: 0, peak: null, counts: {} });

function addTo(line, one) {
  line.code.push(one);
  line.spills += one.spills;
  line.counts[one.kind] = (line.counts[one.kind] ?? 0) + 1;
  if (!line.peak || one.vector > line.vector) [line.peak, line.vector] = [one, one.vector];
}

/* The lines of the loop's main file most of whose instructions are in the loop. */
function sourceLoop([label, depth, , ranges], { instructions }) {
  const inside = new Map();
  for (const { source } of ranges.flatMap(([first, last]) => instructions.slice(first, last + 1)))
    if (source) inside.set(source, (inside.get(source) ?? 0) + 1);
  const lines = [...inside].filter(([line, count]) => 2 * count > line.code.length);
  const files = tally(lines.map(([{ file }]) => file));
  const [main] = [...files].sort(([, one], [, other]) => other - one)[0] ?? [];
  const places = lines.filter(([{ file }]) => file === main).map(([{ place }]) => place)
    .sort((one, other) => one - other);
  return places.length ? { label, depth, first: places[0], last: places.at(-1) } : null;
}

/* True for a line or instruction with more live registers than the next step of the occupancy. */
const isAbove = ({ data: { step } }, { vector }) => step !== null && vector > step[0];
