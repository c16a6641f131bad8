// Saving what is on screen: picture, numbers, or the whole instrument as one file that opens offline.

import { html, svg } from "./dom.js";
import { rowOf } from "./maths.js";

const SPACE = 16;
const SCALE = 2; // PNG pixels for each pixel on screen

/** The row of export buttons of a microscope. */
export function exportMenu(scope) {
  const kinds = { PNG: savePng, SVG: saveSvg, HTML: saveHtml, CSV: saveCsv };
  const buttons = Object.entries(kinds).map(([name, save]) =>
    html(
      "button",
      {
        type: "button",
        class: "hl-button",
        onclick: () =>
          whenDrawn(scope, save).catch((error) =>
            scope.complain(`${name} was not saved: ${error.message}`),
          ),
      },
      name,
    ),
  );
  return html(
    "div",
    { class: "hl-row hl-exports", role: "group", "aria-label": "Save what is on screen" },
    html("span", {}, "Save this view"),
    buttons,
  );
}

/** Save only what is on screen: not a view that is still on its way. */
async function whenDrawn(scope, save) {
  if (!scope.view || (scope.isBusy && !scope.offline)) throw new Error("it is not drawn yet");
  await save(scope);
}

function fileName(scope, suffix) {
  const { layer, head, view, stage } = scope.settings;
  return `headlight-l${layer}-h${head}-${view === "map" ? stage : view}.${suffix}`;
}

function download(blob, name) {
  const address = URL.createObjectURL(blob);
  html("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

async function saveCsv(scope) {
  const table = scope.view.table();
  if (!table) throw new Error("there is no matrix here yet");
  download(new Blob(["\ufeff", csvText(table)], { type: "text/csv" }), fileName(scope, "csv"));
}

/** A matrix with numbered token labels on both sides; `columns` null numbers them alone. */
export function csvText({ values, rows, columns, corner }) {
  const quoted = (text) => `"${text.replaceAll('"', '""')}"`;
  const numbered = (labels, i) => (labels ? quoted(`${i} ${labels[i]}`) : String(i));
  const header = [
    quoted(corner),
    ...Array.from({ length: values.columns }, (_, j) => numbered(columns, j)),
  ];
  const lines = Array.from({ length: values.rows }, (_, i) => [
    numbered(rows, i),
    ...Array.from(rowOf(values, i), String),
  ]);
  return `${[header, ...lines].map((line) => line.join(",")).join("\r\n")}\r\n`;
}

async function saveSvg(scope) {
  const { text } = await composed(scope);
  download(new Blob([text], { type: "image/svg+xml" }), fileName(scope, "svg"));
}

async function savePng(scope) {
  const { text, width, height } = await composed(scope);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = html("canvas", { width: width * SCALE, height: height * SCALE });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  if (!blob) throw new Error("the picture is too large for this browser; save SVG");
  download(blob, fileName(scope, "png"));
}

/** The drawings of the view below each other in one SVG, each under its caption. */
async function composed(scope) {
  const pieces = await scope.view.drawings();
  if (!pieces.length) throw new Error("there is nothing to draw here yet");
  const { palette, data } = scope;
  const drawn = pieces.map(({ caption, drawing }) => ({ caption, ...asElement(drawing) }));
  const width = Math.max(480, ...drawn.map(({ size }) => size[0] + 2 * SPACE));
  const picture = svg("svg", { xmlns: "http://www.w3.org/2000/svg" });
  let y = SPACE;
  const write = (words, size, fill) => {
    for (const line of wrapped(words, (width - 2 * SPACE) / (0.53 * size))) {
      y += 1.35 * size;
      picture.append(svg("text", { x: SPACE, y, fill, "font-size": size }, line));
    }
  };
  write(`Headlight · ${data.model} · ${scope.title.textContent}`, 17, palette.text);
  write(data.queryLabels.join(" "), 14, palette.muted);
  for (const { caption, node, size } of drawn) {
    y += SPACE / 2;
    write(caption, 14, palette.text);
    y += 6;
    const box = { x: SPACE, y, width: size[0], height: size[1] };
    for (const [name, value] of Object.entries(box)) node.setAttribute(name, value);
    picture.append(node);
    y += size[1];
  }
  y += SPACE;
  picture.prepend(svg("rect", { width, height: y, fill: palette.background }));
  const size = { width, height: y, viewBox: `0 0 ${width} ${y}` };
  const style = { "font-family": palette.font, "font-size": 14, fill: palette.text };
  for (const [name, value] of Object.entries({ ...size, ...style }))
    picture.setAttribute(name, value);
  return { text: new XMLSerializer().serializeToString(picture), width, height: y };
}

/** Words in lines of at most so many letters. */
function wrapped(words, letters) {
  const lines = [""];
  for (const word of words.split(" ")) {
    if (lines.at(-1).length + word.length + 1 > letters && lines.at(-1)) lines.push("");
    lines.push(`${lines.pop()} ${word}`.trim());
  }
  return lines;
}

/** A drawing, text or element, as an element of its own with its size on screen. */
function asElement(drawing) {
  if (typeof drawing === "string") {
    const node = new DOMParser().parseFromString(drawing, "image/svg+xml").documentElement;
    return {
      node,
      size: [parseFloat(node.getAttribute("width")), parseFloat(node.getAttribute("height"))],
    };
  }
  const box = drawing.getBoundingClientRect();
  return { node: drawing.cloneNode(true), size: [Math.round(box.width), Math.round(box.height)] };
}

async function saveHtml(scope) {
  await scope.redraw(); // so that what is on screen is among the arrays kept
  const [page, plotly, program, style] = await Promise.all(
    ["live/offline.html", "live/plotly.min.js", "live/program.js", "live/live.css"].map(textOf),
  );
  const contents = {
    data: { ...scope.data, arrays: {}, settings: scope.settings },
    arrays: await scope.library.packed(),
  };
  const filled = page
    .replace("/*style*/", () => style)
    .replace("/*plotly*/", () => plotly.replaceAll("</script", "<\\/script"))
    .replace("/*program*/", () => program)
    .replace('{"replaced": "by the arrays"}', () =>
      JSON.stringify(contents).replaceAll("<", "\\u003c"),
    );
  download(new Blob([filled], { type: "text/html" }), fileName(scope, "html"));
}

async function textOf(address) {
  const response = await fetch(new URL(address, document.baseURI)).catch(() => null);
  if (!response?.ok) throw new Error("the app does not answer; this needs it");
  return response.text();
}
