// The gallery's host: the same model as in the app, a notebook and a file; what is sent is kept.

import { currentPalette } from "/kit/colors.js";
import { Lifetime } from "/kit/lifetime.js";
import { matrix } from "/kit/maths.js";
import { Model } from "/kit/model.js";

const { random } = Math;
const nobody = () => Promise.reject(new Error("nobody answers in the gallery"));
let ending = new AbortController();
let kept = [];
let model = null;

/** An empty place on the page, at rest, in the place of what stood there. */
function clear(width) {
  ending.abort();
  ending = new AbortController();
  [kept, model] = [[], null];
  Math.random = random;
  gallery.answer = nobody;
  const el = document.createElement("main");
  el.className = "hl-live";
  el.style.width = `${width}px`;
  document.body.replaceChildren(el);
  scrollTo(0, 0);
  return el;
}

const load = async (path) => {
  const answer = await fetch(`/kit/arrays/${path}`);
  if (!answer.ok) throw new Error("the gallery does not have it");
  return answer.arrayBuffer();
};
const frame = () => new Promise(requestAnimationFrame);

async function settled() {
  do
    await frame(); // what a hand did has had a frame to begin
  while (document.querySelector("[data-busy]"));
}

const within = (path) =>
  path.split(".").reduce((at, name) => (name ? at[name] : at), globalThis.instrument);
const numbers = ({ rows, columns, values }) =>
  matrix(rows, columns, Float64Array.from(values.map((x) => x ?? NaN)));

/** How each mark is drawn alone; each gives what answers to `read`. */
const MARKS = {
  async heatmap({ HeatMap }, { place, lifetime, palette, note }, { on = [], sides, ...given }) {
    const map = new HeatMap(
      place("div"),
      lifetime,
      Object.fromEntries(on.map((x) => [x, note(x)])),
    );
    const bars = sides && { ...sides, pickRow: note("row"), pickColumn: note("column") };
    await map.draw({ hidden: null, ...given, values: numbers(given.values), sides: bars }, palette);
    return map;
  },
  grid({ Grid }, { place, palette, note }, { heads, framed }) {
    const acts = { point() {}, pick: note("pick"), step: note("step") };
    const grid = new Grid("hl-overview", { left: 26, top: 16, beside: 2 }, acts);
    place("div").append(grid.node);
    grid.build(heads, { masked: 1 }, palette, { x: 15, y: 15 });
    grid.frame(framed);
    return grid;
  },
  strips({ Strip, Bars }, { place, palette }, { values, marked }) {
    const [strip, bars] = [new Strip(values.length), new Bars(values.length, true)];
    place("div").append(strip.node, bars.node);
    const given = Float64Array.from(values, (x) => x ?? NaN);
    strip.paint(given, (x) => (x < 0 ? palette.diverging[0] : palette.accent));
    bars.paint(given, palette, marked);
    return { read: () => ({ strip: strip.read(), bars: bars.read() }) };
  },
  bars({ TokenBars }, { place, note }, { rows, title, most }) {
    const list = new TokenBars(note("pick"));
    place("div").append(list.node);
    list.show(rows, title, most);
    return list;
  },
  signed({ SignedBars }, { place, palette, note }, { title, bars }) {
    const list = new SignedBars(title, { pick: note("pick"), open: note("open") });
    place("div").append(list.node);
    list.show(bars, palette);
    return list;
  },
  arcs({ drawArcs }, { place, palette, note }, { values, kept: keys, focus, ...sides }) {
    const none = Array(values.values.length).fill(0);
    const shown = { ...sides, values: numbers(values), hidden: none, blank: none };
    const how = { kept: keys, focus, width: 400, palette, look: note("look") };
    const drawn = drawArcs(place("svg"), shown, how);
    return { read: () => drawn };
  },
  tokens({ Tokens }, { place, note }, { tokens, walks }) {
    const row = new Tokens("", "Tokens", { pick: note("pick"), leave: note("leave"), walks });
    place("div").append(row.node);
    row.show(tokens);
    return row;
  },
  plot({ Plot }, { place, lifetime, note }, { figure }) {
    const plot = new Plot(place("div"), lifetime, { pick: note("pick") });
    plot.draw(figure, {});
    return plot;
  },
  table({ numberTable, fillTable, readTable }, { place }, { name, words, values }) {
    const m = numbers(values);
    const table = place("div").appendChild(numberTable(name, words, m));
    fillTable(table, name, m, () => "rgb(1,2,3)");
    return { read: () => readTable(table) };
  },
};

const gallery = {
  answer: nobody,
  clear,
  async show(name, told, width) {
    const el = clear(width);
    const { signal } = ending;
    const lifetime = new Lifetime(signal, el);
    const { default: part } = await lifetime.busy(import(`/kit/parts/${name}.js`));
    const ask = async (question) => Uint8Array.from(await gallery.answer(question)).buffer;
    const push = (message) => kept.push(message);
    const differs = (heads) => push({ changes: { differs: heads } });
    model = new Model({ push, load, ask, differs, source: "Live" }, new Lifetime(signal));
    model.receive(told);
    Object.assign(globalThis, { model, instrument: part.render({ model, el, signal }) });
    await settled();
  },
  receive: (told) => model.receive(told),
  /** A mark alone: what of it a person may pick is noted under its name. */
  async mark(name, { themes, ...given }, width) {
    const el = clear(width);
    const { signal } = ending;
    const [lifetime, palette] = [new Lifetime(signal, el), currentPalette(themes, el)];
    const note =
      (kind) =>
      (...at) =>
        kept.push({ changes: { [kind]: at } });
    const place = (tag) => {
      const isSvg = tag === "svg" && "http://www.w3.org/2000/svg";
      return el.appendChild(
        isSvg ? document.createElementNS(isSvg, tag) : document.createElement(tag),
      );
    };
    const module = await import(`/kit/marks/${name}.js`);
    const mark = MARKS[name](module, { place, lifetime, palette, note }, given);
    globalThis.instrument = await lifetime.busy(Promise.resolve(mark));
    await settled();
  },
  async read(path) {
    await settled();
    return within(path).read();
  },
  /** Where a cell is on the page. */
  cell(path, row, column) {
    const map = within(path);
    map.host.scrollIntoView({ block: "center" });
    const [{ left, top }, box] = [map.host.getBoundingClientRect(), map.boxOf(row, column)];
    return [left + box.left + box.width / 2, top + box.top + box.height / 2];
  },
  /** What was chosen since it was asked for last, once the hand rests. */
  async sent() {
    model?.save_changes();
    return Object.assign({}, ...kept.splice(0).map(({ changes }) => changes));
  },
};
globalThis.gallery = gallery;
