/* Labels that tell kernels apart: the library or member, and the target with features if needed. */
"use strict";

const tally = (values) => {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
};

/* Labels of [file or member, its name]: the name, with as much of the path as tells them apart.
   All are empty if there is only one. */
function libraryLabels(places) {
  const labels = new Map(places);
  if (labels.size < 2) return places.map(() => "");
  for (let parts = 2; ; parts++) {
    const counts = tally(labels.values());
    const equal = [...labels].filter(([, label]) => counts.get(label) > 1);
    if (!equal.length) return places.map(([place]) => labels.get(place));
    for (const [place] of equal) {
      const words = place.split(/\/| › /);
      labels.set(place, parts < words.length ? words.slice(-parts).join("/") : place);
    }
  }
}

/* Texts that are in every list. */
const sharedBy = (lists) =>
  new Set(lists.length ? lists[0].filter((one) => lists.every((list) => list.includes(one))) : []);

/* Target ids; the processor alone if no other features of it are there. */
function targetLabels(ids) {
  const processors = tally([...new Set(ids)].map(processorOf));
  return ids.map((id) => (processors.get(processorOf(id)) > 1 ? id : processorOf(id)));
}

const processorOf = (label) => label.split(":")[0];

/* Order of targets: gfx90a before gfx1030. */
const byTargetName = (one, other) =>
  processorOf(one).length - processorOf(other).length || compare(one, other);

/* Columns of a table of which that of targets has room for these texts. */
function fitTargets(columns, texts) {
  const widest = texts.reduce((most, { length }) => Math.max(most, length), 0);
  const width = Math.min(14, Math.max(4.4, 1.6 + 0.56 * widest));
  return columns.map((column) => (column.key === "target" ? { ...column, width } : column));
}

/* Choices of a filter for targets: each label, and a processor that has several. */
function targetChoices(labels) {
  const counts = tally(labels);
  for (const label of new Set(counts.keys())) {
    const processor = processorOf(label);
    if (processor !== label)
      counts.set(processor, labels.filter((one) => processorOf(one) === processor).length);
  }
  return [...counts].sort(([one], [other]) => byTargetName(one, other)).map(([label, count]) => [label, label || "unknown", count]);
}

/* A filter for the library; null if there is one. */
function libraryChoice(rows, choice) {
  const libraries = [...tally(rows.map(({ library }) => library))].sort();
  if (libraries.length < 2) return null;
  return choice("library", "library", libraries.map(([name, count]) => [name, name, count]));
}

/* [target, file or member, library] as objects with the labels of target and library. */
function placesOf(rows) {
  const libraries = libraryLabels(rows.map(([, place, library]) => [place, library]));
  const targets = targetLabels(rows.map(([target]) => target));
  return rows.map(([, location], index) =>
    ({ target: targets[index], location, library: libraries[index] }));
}

/* The ends of two builds' paths that differ. */
function shortBuilds(builds) {
  const words = builds.map((build) => build.replace(/\/+$/, "").split("/"));
  const most = Math.max(0, ...words.map(({ length }) => length));
  for (let parts = 1; parts < most; parts++) {
    const ends = words.map((all) => all.slice(-parts).join("/"));
    if (new Set(ends).size === ends.length) return ends;
  }
  return builds;
}

const isOfTarget = (label, chosen) => label === chosen || processorOf(label) === chosen;

/* The only file of these inputs, its folder less prominent, or the number of files. */
function headingOf(inputs) {
  const paths = [...new Set(inputs.map(({ location }) => location.split(" › ")[0]))];
  if (paths.length !== 1) return plural(paths.length, "file");
  const end = paths[0].lastIndexOf("/") + 1;
  return [html("span", { class: "folder" }, breakable(paths[0].slice(0, end))),
    breakable(paths[0].slice(end))];
}
