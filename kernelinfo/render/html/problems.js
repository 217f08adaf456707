/* What could not be read, and what was met again and counted once. */
"use strict";

function problemsOf(report) {
  const told = report.problems.map(([path, member, line, offset, message]) => {
    const at = line !== null ? `:${line}` : offset ? ` at 0x${offset.toString(16)}` : "";
    const place = path + (member ? ` › ${member}` : "") + at;
    return html("li", {}, html("b", {}, place), `: ${message}`);
  });
  const again = report.repeats.map(([place, first]) =>
    html("li", {}, `${place} is ${first}, byte for byte`));
  return html("div", {},
    told.length ? html("details", { class: "problems", open: true },
      html("summary", {}, `Not read: ${plural(told.length, "problem")}`),
      html("ul", {}, told)) : null,
    again.length ? html("details", {},
      html("summary", {}, `Counted once: ${plural(again.length, "code object")} met again`),
      html("ul", {}, again)) : null);
}
