/* The outcome of `kernelinfo check`, above its report; from kernelinfo/render/check/html.py. */
"use strict";

function gateSection(report) {
  const { headline, passed, since, lists, renamed, remarks } = report.gate;
  return html("section", { class: `gate ${passed ? "passed" : "failed"}` },
    html("h1", { tabindex: "-1" }, headline),
    since ? html("p", {}, since) : null,
    lists.filter(([, count]) => count).map((list) => claimsOf(list, report)),
    textsOf("Renamed", renamed.map(([old, now, target]) => `${old} → ${now} (${target})`)),
    textsOf("Not covered", remarks));
}

/* The first claims of a list, each with its kernel, and its excuse and location if it has them. */
function claimsOf([title, count, claims], report) {
  const rows = claims.map(([severity, rule, kernel, subject, text, at, excuse]) =>
    html("li", { class: severity },
      html("span", { class: "severity" }, severity), " ", html("b", {}, rule), " ",
      kernel === null ? subject : kernelLink(report.kernels[kernel]), `: ${text}`,
      html("span", { class: "quiet" }, [excuse, at].filter(Boolean).map((one) => ` · ${one}`))));
  const rest = count > claims.length
    ? html("li", { class: "quiet" }, `… ${grouped(count - claims.length)} more`) : null;
  return html("details", { open: true },
    html("summary", {}, `${title} (${grouped(count)})`),
    html("ul", { class: "findings" }, rows, rest));
}

const kernelLink = (kernel) => [
  html("a", { href: addressWith({ kernel: kernel.key }) }, shortened(kernel.title.brief)),
  ` (${[kernel.label || "unknown target", kernel.library].filter(Boolean).join(" · ")})`];

function textsOf(title, texts) {
  if (!texts.length) return null;
  return html("details", {}, html("summary", {}, `${title} (${grouped(texts.length)})`),
    html("ul", {}, texts.map((text) => html("li", {}, text))));
}
