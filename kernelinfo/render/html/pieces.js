/* The page's data: pieces of JSON, written one by one by kernelinfo/render/html/pieces.py. A large
   piece is compressed: base64 of a zlib stream. */
"use strict";

async function readPiece(script) {
  if (!script.hasAttribute("data-packed")) return JSON.parse(script.textContent);
  const packed = Uint8Array.from(atob(script.textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

const piecesOf = (kind) => [...document.querySelectorAll(`script[data-piece=${kind}]`)];

/* All pieces as one object: lists are joined, other values are set. */
async function readData() {
  const data = {};
  for (const script of piecesOf("data")) {
    for (const [name, value] of Object.entries(await readPiece(script))) {
      if (Array.isArray(data[name])) for (const one of value) data[name].push(one);
      else data[name] = value;
    }
  }
  return data;
}

/* Reads the data, then shows the page; says what the browser lacks if it cannot. */
async function openWith(show) {
  const stage = byId("page");
  stage.setAttribute("aria-busy", "true");
  if (piecesOf("data").some((script) => script.hasAttribute("data-packed"))) {
    stage.append(html("p", { class: "quiet" }, "reading …"));
    if (!window.DecompressionStream) {
      stage.append(html("p", { class: "error" }, "This browser cannot unpack the data of the page. " +
        "Chromium 80, Firefox 113 and Safari 16.4 and later can."));
      return;
    }
  }
  const data = await readData();
  stage.replaceChildren();
  show(data);
  stage.removeAttribute("aria-busy");
}
