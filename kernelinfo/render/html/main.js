/* Opens the fleet or one kernel, as the address says; back and forward work. */
"use strict";

const report = readReport(byId("report").textContent);
const stage = byId("page");
const alone = report.kernels.length === 1;
let fleet = null;
let left = 0;
/* The address without the kernel: what has not changed while one was open is not drawn again. */
let followed = "";

function opened() {
  if (alone) return report.kernels[0];
  const { kernel } = readAddress();
  return kernel && report.kernels.find(({ key }) => key === kernel);
}

function show() {
  const kernel = opened();
  if (fleet?.element.isConnected) left = scrollY;
  const around = addressWith({ kernel: "" });
  const isBack = fleet && !fleet.element.isConnected && around === followed;
  if (!kernel && !isBack) {
    fleet ??= fleetPage(report);
    fleet.follow();
  }
  followed = around;
  stage.replaceChildren(kernel ? kernelPage(report, kernel) : fleet.element);
  if (kernel && alone) stage.prepend(problemsOf(report));
  if (report.gate && (!kernel || alone)) stage.prepend(gateSection(report));
  document.title = kernel ? `${kernel.title.brief.slice(0, 120)} · kernelinfo` : "kernelinfo";
  scrollTo(0, kernel ? 0 : left);
}

addEventListener("hashchange", () => {
  show();
  // Screen readers go on from the heading; the first opening needs no such move.
  stage.querySelector("h1").focus({ preventScroll: true });
});
show();
