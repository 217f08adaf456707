/* Opens the fleet or one kernel, as the address says; back and forward work. */
"use strict";

const stage = byId("page");
let report = null;
let fleet = null;
let left = 0;
/* The address without the kernel. If it is the same after closing a kernel, nothing is redrawn. */
let followed = "";

const isAlone = () => report.kernels.length === 1;

function opened() {
  if (isAlone()) return report.kernels[0];
  const { kernel } = readAddress();
  return kernel && report.kernels.find(({ key }) => key === kernel);
}

function show() {
  const kernel = opened();
  if (fleet?.element.isConnected) left = scrollY;
  const around = addressWith({ kernel: "", ...NO_CHANGES });
  const isBack = fleet && !fleet.element.isConnected && around === followed;
  if (!kernel && !isBack) {
    fleet ??= fleetPage(report);
    fleet.follow();
  }
  followed = around;
  stage.replaceChildren(kernel ? kernelPage(report, kernel) : fleet.element);
  if (kernel && isAlone()) stage.prepend(problemsOf(report));
  if (report.gate && (!kernel || isAlone())) stage.prepend(gateSection(report));
  document.title = kernel ? `${kernel.title.brief.slice(0, 120)} · kernelinfo` : "kernelinfo";
  scrollTo(0, kernel ? 0 : left);
}

openWith((data) => {
  report = reportOf(data);
  addEventListener("hashchange", () => {
    show();
    // Screen readers continue at the heading. The first opening starts there anyway.
    stage.querySelector("h1").focus({ preventScroll: true });
  });
  show();
});
