/* Unread inputs, copies of code objects, which are counted once, and files whose text the page holds. */
"use strict";

/* Debug information chose these files, not the user. */
function pageTexts() {
  const paths = piecesOf("source").map((script) => JSON.parse(script.textContent));
  return paths.length ? html("details", {},
    html("summary", {}, `Source text in this page: ${plural(paths.length, "file")}`),
    html("ul", {}, paths.map((path) => html("li", {}, path)))) : null;
}

function problemsOf(report) {
  const problems = report.problems.map(([path, member, line, offset, message]) => {
    const at = line !== null ? `:${line}` : offset ? ` at 0x${offset.toString(16)}` : "";
    const location = path + (member ? ` › ${member}` : "") + at;
    return html("li", {}, html("b", {}, location), `: ${message}`);
  });
  const again = report.repeats.map(([location, first, isExact]) =>
    html("li", {}, isExact ? `${location} is ${first}, byte for byte`
      : `${location} states what ${first} does`));
  return html("div", {},
    problems.length ? html("details", { class: "problems", open: true },
      html("summary", {}, `Not read: ${plural(problems.length, "problem")}`),
      html("ul", {}, problems)) : null,
    again.length ? html("details", {},
      html("summary", {}, `Counted once: copies of code objects (${grouped(again.length)})`),
      html("ul", {}, again)) : null,
    pageTexts());
}
