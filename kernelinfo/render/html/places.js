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
  const processors = tally([...new Set(ids)].map((id) => id.split(":")[0]));
  return ids.map((id) => (processors.get(id.split(":")[0]) > 1 ? id : id.split(":")[0]));
}

/* Choices of a filter for targets: each label, and a processor that has several. */
function targetChoices(labels) {
  const counts = tally(labels);
  for (const label of new Set(counts.keys())) {
    const [processor] = label.split(":");
    if (processor !== label)
      counts.set(processor, labels.filter((one) => one.split(":")[0] === processor).length);
  }
  return [...counts].sort().map(([label, count]) => [label, label || "unknown", count]);
}

/* A filter for the library; null if there is one. */
function libraryChoice(rows, choice) {
  const libraries = [...tally(rows.map(({ library }) => library))].sort();
  if (libraries.length < 2) return null;
  return choice("library", "library", libraries.map(([name, count]) => [name, name, count]));
}

/* [target, file or member, library] as objects with the label of the library. */
function placesOf(rows) {
  const libraries = libraryLabels(rows.map(([, place, library]) => [place, library]));
  return rows.map(([target, location], index) =>
    ({ target, location, library: libraries[index] }));
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

const isOfTarget = (label, chosen) => label === chosen || label.split(":")[0] === chosen;
