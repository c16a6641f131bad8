// sha256 f3d0a2ec448230c4683508c898f978a85bf2d8ba7517df4bc60201054890ad77 of core/arrays.js core/atlas.js core/badge.js core/colors.js core/conversation.js core/dom.js core/figure.js core/heatmap.js core/independent.js core/instrument.js core/keyboard.js core/lifetime.js core/maths.js core/measures.js core/names.js core/patterns.js core/pixels.js core/plotly.js core/pointed.js core/printed.js core/reader.js core/screen.js core/shades.js core/stale.js core/tally.js core/wall.js microscope/controls.js microscope/exports.js microscope/formulas.js microscope/heads.js microscope/microscope.js microscope/operands.js microscope/overview.js microscope/proof.js microscope/reading/lines.js microscope/reading/maps.js microscope/reading/overview.js microscope/reading/sentence.js microscope/reading/steps.js microscope/reading/truth.js microscope/reading/words.js microscope/roles.js microscope/tiling.js microscope/verdict.js microscope/view.js microscope/views/compare.js microscope/views/lines.js microscope/views/map.js microscope/views/sentence.js microscope/views/summary.js microscope/views/whatif.js offline/offline.js
// Built by npm run bundle.
"use strict";
var HeadlightOffline = (() => {
  var __defProp = Object.defineProperty;
  var __getOwnPropDesc = Object.getOwnPropertyDescriptor;
  var __getOwnPropNames = Object.getOwnPropertyNames;
  var __hasOwnProp = Object.prototype.hasOwnProperty;
  var __export = (target, all) => {
    for (var name in all)
      __defProp(target, name, { get: all[name], enumerable: true });
  };
  var __copyProps = (to, from, except, desc) => {
    if (from && typeof from === "object" || typeof from === "function") {
      for (let key of __getOwnPropNames(from))
        if (!__hasOwnProp.call(to, key) && key !== except)
          __defProp(to, key, { get: () => from[key], enumerable: !(desc = __getOwnPropDesc(from, key)) || desc.enumerable });
    }
    return to;
  };
  var __toCommonJS = (mod) => __copyProps(__defProp({}, "__esModule", { value: true }), mod);

  // viz/live/offline/offline.js
  var offline_exports = {};
  __export(offline_exports, {
    open: () => open2
  });

  // viz/live/core/maths.js
  function matrix(rows, columns, values = new Float64Array(rows * columns)) {
    return { rows, columns, values };
  }
  function rowOf(m, row) {
    return m.values.subarray(row * m.columns, (row + 1) * m.columns);
  }
  function dot(a, b) {
    let sum = 0;
    for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
    return sum;
  }
  function products(q, k) {
    const result = matrix(q.rows, k.rows);
    for (let i = 0; i < q.rows; i++) {
      const query = rowOf(q, i);
      for (let j = 0; j < k.rows; j++) result.values[i * k.rows + j] = dot(query, rowOf(k, j));
    }
    return result;
  }
  function mapped(m, change) {
    const result = matrix(m.rows, m.columns);
    for (let i = 0; i < m.values.length; i++) result.values[i] = change(m.values[i], i);
    return result;
  }
  function masked(scores, mask) {
    return mapped(scores, (value, i) => mask[i] ? value : -Infinity);
  }
  function softmaxRows(scores, temperature = 1) {
    const result = matrix(scores.rows, scores.columns);
    for (let i = 0; i < scores.rows; i++) {
      const from = rowOf(scores, i);
      const to = rowOf(result, i);
      const top = from.reduce((a, b) => Math.max(a, b), -Infinity);
      if (top === -Infinity) continue;
      let total = 0;
      for (let j = 0; j < from.length; j++) total += to[j] = Math.exp((from[j] - top) / temperature);
      for (let j = 0; j < from.length; j++) to[j] /= total;
    }
    return result;
  }
  function weightedValues(pattern, v) {
    const result = matrix(pattern.rows, v.columns);
    for (let i = 0; i < pattern.rows; i++) {
      const weights = rowOf(pattern, i);
      const z = rowOf(result, i);
      for (let j = 0; j < weights.length; j++) {
        if (weights[j] === 0) continue;
        const value = rowOf(v, j);
        for (let d = 0; d < z.length; d++) z[d] += weights[j] * value[d];
      }
    }
    return result;
  }
  function steps(head, { scale = true, mask = true, temperature = 1 } = {}) {
    const product = products(head.q, head.k);
    const factor = scale ? scaleOf(head) : 1;
    const scaled = mapped(product, (value) => value * factor);
    const { bias } = head;
    const biased = bias ? mapped(scaled, (value, i) => value + bias.values[i]) : scaled;
    const hidden = mask ? masked(biased, head.mask.values) : biased;
    const weights = softmaxRows(hidden, temperature);
    const output = weightedValues(weights, head.v);
    return { product, scaled, biased, masked: hidden, weights, output };
  }
  function scaleOf({ scale }) {
    return scale.values[0];
  }
  function isUsualScale(head) {
    return Math.abs(scaleOf(head) * Math.sqrt(head.q.columns) - 1) < 1e-6;
  }

  // viz/live/core/arrays.js
  var KEPT_HEADS = 24;
  var SAFETENSORS = { F64: Float64Array, F32: Float32Array, U8: Uint8Array };
  var MOST_ARGUMENTS = 32768;
  function bytesOf(base64) {
    const text = atob(base64);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    return bytes;
  }
  function decodeSafetensors(buffer) {
    const length = Number(new DataView(buffer).getBigUint64(0, true));
    const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
    delete header.__metadata__;
    const named = {};
    for (const [name, { dtype, shape, data_offsets }] of Object.entries(header)) {
      const [start, end] = data_offsets;
      const bytes = buffer.slice(8 + length + start, 8 + length + end);
      named[name] = matrix(shape[0], shape[1], new SAFETENSORS[dtype](bytes));
    }
    return named;
  }
  var MissingArrays = class extends Error {
    /**
     * @param {string} message
     * @param {boolean} [isLost]
     */
    constructor(message, isLost = false) {
      super(message);
      this.isLost = isLost;
    }
  };
  var Library = class {
    /** In the order of use. @type {Map<string, Entry | Promise<Entry>>} */
    #kept = /* @__PURE__ */ new Map();
    /**
     * The matrices at an address below the app's own.
     *
     * @param {string} address
     * @returns {Promise<Matrices>}
     */
    async fetch(address) {
      const entry = this.#kept.get(address) ?? load(address);
      this.#kept.delete(address);
      this.#kept.set(address, entry);
      const [oldest] = this.#kept.keys();
      if (this.#kept.size > KEPT_HEADS) this.#kept.delete(oldest);
      try {
        return (await entry).matrices;
      } catch (error) {
        this.#kept.delete(address);
        throw error;
      }
    }
    /**
     * Take arrays that came along.
     *
     * @param {string} address
     * @param {string} base64
     */
    put(address, base64) {
      if (this.#kept.has(address)) return;
      const { buffer } = bytesOf(base64);
      this.#kept.set(address, { buffer, matrices: decodeSafetensors(buffer) });
    }
    /** Everything kept, as base64 by address, for a file that opens without the app. */
    async packed() {
      const entries = await Promise.all(
        Array.from(this.#kept, async ([address, entry]) => [address, base64Of((await entry).buffer)])
      );
      return Object.fromEntries(entries);
    }
  };
  async function load(address) {
    const response = await fetch(new URL(address, document.baseURI)).catch(() => null);
    if (!response)
      throw new MissingArrays("The app does not answer. Heads already opened still work.");
    const isLost = response.status === 404;
    if (isLost) throw new MissingArrays("The app has let go of this sentence; asking again.", true);
    if (!response.ok) throw new MissingArrays(`The app could not send this (${response.status}).`);
    const buffer = await response.arrayBuffer();
    try {
      return { buffer, matrices: decodeSafetensors(buffer) };
    } catch {
      throw new MissingArrays("The app sent something that is not an array file.");
    }
  }
  var PackedLibrary = class {
    /** @type {Map<string, Matrices>} */
    #kept = /* @__PURE__ */ new Map();
    /** @param {Record<string, string>} arrays base64 by address */
    constructor(arrays) {
      this.arrays = arrays;
      for (const [address, base64] of Object.entries(arrays)) this.put(address, base64);
    }
    /**
     * @param {string} address
     * @param {string} base64
     */
    put(address, base64) {
      this.#kept.set(address, decodeSafetensors(bytesOf(base64).buffer));
    }
    /**
     * @param {string} address
     * @returns {Promise<Matrices>}
     */
    async fetch(address) {
      const matrices = this.#kept.get(address);
      if (!matrices)
        throw new MissingArrays(
          "This is not in the saved file; it holds what was opened before saving."
        );
      return matrices;
    }
    async packed() {
      return this.arrays;
    }
  };
  function base64Of(buffer) {
    const bytes = new Uint8Array(buffer);
    const pieces = [];
    for (let i = 0; i < bytes.length; i += MOST_ARGUMENTS)
      pieces.push(String.fromCharCode(...bytes.subarray(i, i + MOST_ARGUMENTS)));
    return btoa(pieces.join(""));
  }
  function headAddress(key, site, head) {
    return `live/arrays/${key}/head/${site}/${head}`;
  }
  function summaryAddress(key, group, how, over, index) {
    return `live/arrays/${key}/summary/${group}/${how}/${over}/${index}`;
  }

  // viz/live/core/conversation.js
  var QUIET_MS = 250;
  var REMEMBERED = 50;
  var Conversation = class {
    /** The last turn; null until Python has named one. @type {number | null} */
    #turn = null;
    /** The last turn that Python has taken over. */
    #acked = 0;
    /** @type {Record<string, Change>} */
    #changes = {};
    /** What was sent of each setting, the newest last. @type {Record<string, unknown[]>} */
    #sent = {};
    /** What Python's settings were the last time. @type {Record<string, unknown> | null} */
    #fromPython = null;
    /** What else Python is sent with each message. @type {Record<string, unknown>} */
    #facts = {};
    #cancel = () => {
    };
    /**
     * @param {(message: Message) => void} send
     * @param {Lifetime} lifetime after which nothing is sent
     * @param {number} [quiet] milliseconds of rest before something is sent
     */
    constructor(send, lifetime, quiet = QUIET_MS) {
      this.send = send;
      this.lifetime = lifetime;
      this.quiet = quiet;
    }
    /**
     * The settings that count now: Python's, but for those changed here that it does not know yet.
     *
     * @template {Record<string, any>} Settings
     * @param {{settings: Settings, acked: number}} data as Python sent it
     * @returns {Settings}
     */
    settingsNow({ settings, acked }) {
      this.#turn ??= acked;
      this.#acked = acked;
      for (const [name, { turn }] of Object.entries(this.#changes)) {
        const isAcknowledged = turn !== null && turn <= acked;
        if (isAcknowledged || this.#isChosenElsewhere(name, settings[name]))
          delete this.#changes[name];
      }
      this.#fromPython = settings;
      return { ...settings, ...this.#unacknowledged() };
    }
    /**
     * Whether Python shows a value that is neither its last one nor one it was sent. One it was sent
     * may be some changes old: Python answers late.
     *
     * @param {string} name
     * @param {unknown} value
     */
    #isChosenElsewhere(name, value) {
      if (!this.#fromPython || same(value, this.#fromPython[name])) return false;
      return !this.#sent[name]?.some((earlier) => same(value, earlier));
    }
    /**
     * A person changed settings: send them once there is rest.
     *
     * @param {Record<string, unknown>} values
     */
    change(values) {
      for (const [name, value] of Object.entries(values)) this.#changes[name] = { value, turn: null };
      this.#sendSoon();
    }
    /**
     * Something found out here that Python should know; sent when it is new.
     *
     * @param {string} name
     * @param {unknown} value
     */
    report(name, value) {
      if (same(this.#facts[name], value)) return;
      this.#facts[name] = value;
      this.#sendSoon();
    }
    /** Whether Python has yet to answer: what came last was made without what it was sent. */
    get isAwaiting() {
      return (this.#turn ?? 0) > this.#acked;
    }
    /** Send at once what waits for rest; says whether anything did. */
    flush() {
      const waits = Object.values(this.#changes).some(({ turn }) => turn === null);
      if (waits) this.#sendNow();
      return waits;
    }
    #sendSoon() {
      this.#cancel();
      this.#cancel = this.lifetime.timeout(() => this.#sendNow(), this.quiet);
    }
    #sendNow() {
      this.#cancel();
      const turn = (this.#turn ?? 0) + 1;
      this.#turn = turn;
      for (const change of Object.values(this.#changes)) change.turn ??= turn;
      const changes2 = this.#unacknowledged();
      for (const [name, value] of Object.entries(changes2))
        this.#sent[name] = [...this.#sent[name] ?? [], value].slice(-REMEMBERED);
      this.send({ turn, changes: changes2, ...this.#facts });
    }
    /** The values changed here that Python has not acknowledged. */
    #unacknowledged() {
      return Object.fromEntries(
        Object.entries(this.#changes).map(([name, { value }]) => [name, value])
      );
    }
  };
  function same(a, b) {
    return JSON.stringify(a) === JSON.stringify(b);
  }

  // viz/live/core/dom.js
  var SVG = "http://www.w3.org/2000/svg";
  var MATHML = "http://www.w3.org/1998/Math/MathML";
  var SIGNIFICANT = 7;
  function html(tag, attributes, ...children) {
    return filled(document.createElement(tag), attributes, children);
  }
  function svg(tag, attributes, ...children) {
    return filled(document.createElementNS(SVG, tag), attributes, children);
  }
  function math(tag, attributes, ...children) {
    return filled(document.createElementNS(MATHML, tag), attributes, children);
  }
  function filled(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes ?? {})) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (value === true) node.setAttribute(name, "");
      else if (value !== false && value != null) node.setAttribute(name, value);
    }
    for (const child of children.flat()) {
      if (child != null) node.append(typeof child === "number" ? String(child) : child);
    }
    return node;
  }
  function setAll(node, attributes) {
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  }
  function button(words, press, attributes = {}) {
    return html(
      "button",
      { type: "button", class: "hl-button", onclick: press, ...attributes },
      words
    );
  }
  function digits(number, most = 4) {
    if (number === 0) return "0";
    if (number === -Infinity) return "−∞";
    if (!Number.isFinite(number)) return "not a number";
    const power = Number(number.toExponential().split("e")[1]);
    const places = Math.max(0, Math.min(most, SIGNIFICANT - 1 - power));
    const value = power < SIGNIFICANT ? number : Number(number.toPrecision(SIGNIFICANT));
    if (!Number(number.toFixed(places)))
      return `${number < 0 ? "> −" : "< "}${(10 ** -places).toFixed(places)}`;
    return value.toFixed(places).replace("-", "−");
  }
  function traced(value, name, address = null, most = 4) {
    const from = { "data-number": name, "data-address": address };
    return html("span", from, digits(value, most));
  }
  function equals(value, most = 4) {
    const text = digits(value, most);
    return /^[<>]/.test(text) ? text : `= ${text}`;
  }
  function operand(value) {
    const text = digits(value);
    return /^[<>]/.test(text) ? value.toExponential(1).replaceAll("-", "−") : text;
  }
  function radios(name, label, options, chosen, pick) {
    const group = html(
      "fieldset",
      { class: "hl-radios" },
      html("legend", { class: "hl-hidden" }, label)
    );
    for (const { value, text, title, disabled } of options) {
      const checked = value === chosen;
      const act = { onchange: () => pick(value) };
      const input = html("input", { type: "radio", name, value, checked, disabled, ...act });
      group.append(html("label", { title }, input, html("span", null, text)));
    }
    return group;
  }
  function check(group, value) {
    for (const input of group.querySelectorAll("input")) input.checked = input.value === value;
  }
  function select(label, options, chosen, pick) {
    const list = html("select", { "aria-label": label, onchange: () => pick(list.value) });
    for (const [value, text] of options) {
      list.append(html("option", { value, selected: String(value) === String(chosen) }, text));
    }
    return html("label", { class: "hl-field" }, html("span", null, label), list);
  }
  function slider(label, { bounds, value, show = String }, move) {
    const output = html("b", { class: "hl-value" }, show(value));
    const { low: min, high: max, step } = bounds;
    const input = html("input", {
      type: "range",
      "aria-label": label,
      "aria-valuetext": show(value),
      ...{ min, max, step, value },
      oninput: () => {
        output.textContent = show(Number(input.value));
        input.setAttribute("aria-valuetext", output.textContent);
        move(Number(input.value));
      }
    });
    return html("label", { class: "hl-field" }, html("span", null, label, " ", output), input);
  }
  function inputOf(label) {
    return (
      /** @type {HTMLInputElement} */
      label.querySelector("input")
    );
  }
  function toggle(label, set, title) {
    const input = html("input", { type: "checkbox", onchange: () => set(input.checked) });
    return html("label", { class: "hl-toggle", title }, input, html("span", null, label));
  }
  function fillOnce(container, what, make) {
    if (container.dataset.holds === what) return;
    container.dataset.holds = what;
    container.replaceChildren(...make());
  }

  // viz/live/core/colors.js
  function rgb(color) {
    return [1, 3, 5].map((i) => parseInt(color.slice(i, i + 2), 16));
  }
  function currentPalette(themes, host) {
    const background = getComputedStyle(host).getPropertyValue("--st-background-color").trim().toLowerCase();
    return Object.values(themes).find((palette) => palette.background === background) ?? themes.light;
  }
  function ramp(colors, size = 256) {
    const stops = colors.map(rgb);
    const table = new Uint8ClampedArray(3 * size);
    for (let i = 0; i < size; i++) {
      const at = i / (size - 1) * (stops.length - 1);
      const low = Math.min(Math.floor(at), stops.length - 2);
      for (let c = 0; c < 3; c++) {
        table[3 * i + c] = stops[low][c] + (at - low) * (stops[low + 1][c] - stops[low][c]);
      }
    }
    return table;
  }
  function colorAt(table, value, low, high) {
    const last2 = table.length / 3 - 1;
    const share = high > low ? (value - low) / (high - low) : 0;
    const i = 3 * Math.round(Math.min(Math.max(share, 0), 1) * last2);
    return `rgb(${table[i]},${table[i + 1]},${table[i + 2]})`;
  }
  function plotlyScale(colors) {
    return colors.map((color, i) => [i / (colors.length - 1), color]);
  }
  function inkOn(color) {
    const [r, g, b] = (color.match(/\d+/g) ?? []).map((x) => {
      const share = Number(x) / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18 ? "#000000" : "#ffffff";
  }
  function paletteVariables(palette) {
    return Object.entries(palette).flatMap(
      ([name, value]) => typeof value === "string" ? [[`--hl-${name}`, value]] : []
    );
  }

  // viz/live/core/lifetime.js
  var Lifetime = class _Lifetime {
    /** @type {Set<() => void>} */
    #releases = /* @__PURE__ */ new Set();
    isOver = false;
    /**
     * Have something released at the end.
     *
     * @param {() => void} release
     * @returns {() => void} releases it sooner; a second call does nothing
     */
    keep(release) {
      const once = () => {
        if (this.#releases.delete(once)) release();
      };
      this.#releases.add(once);
      if (this.isOver) once();
      return once;
    }
    /**
     * Do something after a while.
     *
     * @param {() => void} act
     * @param {number} ms
     * @returns {() => void} takes it back
     */
    timeout(act, ms) {
      if (this.isOver) return () => {
      };
      const cancel = this.keep(() => clearTimeout(timer));
      const timer = setTimeout(() => {
        cancel();
        act();
      }, ms);
      return cancel;
    }
    /**
     * Do something again and again.
     *
     * @param {() => void} act
     * @param {number} ms
     * @returns {() => void} ends it
     */
    interval(act, ms) {
      if (this.isOver) return () => {
      };
      const timer = setInterval(act, ms);
      return this.keep(() => clearInterval(timer));
    }
    /**
     * A moment in which the browser has nothing else to do, or the end of a while.
     *
     * @param {number} ms
     */
    async rest(ms) {
      await new Promise((resolve) => {
        const asked = requestIdleCallback(() => release(), { timeout: ms });
        const release = this.keep(() => {
          cancelIdleCallback(asked);
          resolve(null);
        });
      });
    }
    /**
     * Do something before the next frame is painted.
     *
     * @param {() => void} act
     * @returns {() => void} takes it back
     */
    frame(act) {
      if (this.isOver) return () => {
      };
      const cancel = this.keep(() => cancelAnimationFrame(frame));
      const frame = requestAnimationFrame(() => {
        cancel();
        act();
      });
      return cancel;
    }
    /**
     * Listen to something that outlives the instrument, such as the window.
     *
     * @param {EventTarget} target
     * @param {string} type
     * @param {(event: any) => void} listener
     * @param {AddEventListenerOptions} [options]
     * @returns {() => void} stops listening
     */
    listen(target, type, listener, options = {}) {
      if (this.isOver) return () => {
      };
      const handle = (event) => {
        if (options.once) stop();
        listener(event);
      };
      const stop = this.keep(() => target.removeEventListener(type, handle, options));
      target.addEventListener(type, handle, options);
      return stop;
    }
    /**
     * Act on the size of an element, now and when it changes.
     *
     * @param {Element} element
     * @param {() => void} act
     */
    watchSize(element, act) {
      if (this.isOver) return;
      const observer = new ResizeObserver(act);
      observer.observe(element);
      this.keep(() => observer.disconnect());
    }
    /**
     * A lifetime within this one, over with it at the latest.
     *
     * @returns {Lifetime}
     */
    child() {
      const child = new _Lifetime();
      child.keep(this.keep(() => child.end()));
      return child;
    }
    /** Release everything. */
    end() {
      this.isOver = true;
      for (const release of [...this.#releases]) release();
    }
  };

  // viz/live/core/stale.js
  function fill(node, run, ...children) {
    node.replaceChildren(...children);
    node.dataset.ofRun = run;
  }
  var listeners = /* @__PURE__ */ new Set();
  function shown() {
    for (const listener of listeners) listener();
  }

  // viz/live/core/instrument.js
  var Instrument = class {
    /**
     * What Python sent last. @type {Data}
     */
    data;
    /**
     * The settings that count: Python's, with what was changed here since.
     *
     * @type {Data["settings"]}
     */
    settings;
    /** @type {Palette} */
    palette;
    /**
     * @param {HTMLElement} root the element it fills
     * @param {Receiver} [receiver] who gets what it sends
     * @param {number} [quiet] milliseconds of rest before a change is sent
     */
    constructor(root, receiver = {}, quiet) {
      this.root = root;
      this.receiver = receiver;
      this.lifetime = new Lifetime();
      this.conversation = new Conversation(
        (message) => this.receiver.send?.(message),
        this.lifetime,
        quiet
      );
    }
    /**
     * Take what Python sent. What a person has changed since, and Python has not acknowledged, stays.
     *
     * @param {Data} data
     */
    receive(data) {
      const isNew = data.key !== this.data?.key;
      this.data = data;
      this.palette = currentPalette(data.themes, this.root);
      for (const [name, value] of paletteVariables(this.palette))
        this.root.style.setProperty(name, value);
      this.root.dataset.run = this.run;
      const before = this.settings;
      this.settings = this.settle(this.conversation.settingsNow(data));
      this.update(isNew, !same(before, this.settings));
      shown();
    }
    /** The key of the run that is shown, by which numbers are asked for by address. */
    get run() {
      return this.data.key;
    }
    /**
     * Settings as they can be here; each instrument has its own limits.
     *
     * @param {Data["settings"]} settings
     * @returns {Data["settings"]}
     */
    settle(settings) {
      return settings;
    }
    /**
     * Show what was received.
     *
     * @param {boolean} _isNew whether it has another key than what was shown before
     * @param {boolean} _hasMoved whether settings are others than before
     */
    update(_isNew, _hasMoved) {
      this.redraw();
    }
    /**
     * A person changed settings here.
     *
     * @param {Partial<Data["settings"]>} changes
     */
    set(changes2) {
      this.setQuietly(changes2);
      this.redraw();
    }
    /**
     * Change settings that the caller has drawn already.
     *
     * @param {Partial<Data["settings"]>} changes
     */
    setQuietly(changes2) {
      this.settings = { ...this.settings, ...changes2 };
      this.conversation.change(changes2);
    }
    /**
     * Draw what the settings say.
     *
     * @returns {void | Promise<void>}
     */
    redraw() {
    }
    /** It was taken off the page: release everything. */
    destroy() {
      this.lifetime.end();
    }
  };

  // viz/live/core/measures.js
  function rowEntropies(pattern) {
    return Float64Array.from(
      { length: pattern.rows },
      (_, i) => rowOf(pattern, i).reduce((sum, p) => p > 0 ? sum - p * Math.log2(p) : sum, 0)
    );
  }
  function logSumExp(row) {
    const top = row.reduce((a, b) => Math.max(a, b), -Infinity);
    return top === -Infinity ? top : top + Math.log(row.reduce((sum, x) => sum + Math.exp(x - top), 0));
  }
  function columnSums(m) {
    const sums = new Float64Array(m.columns);
    for (let i = 0; i < m.rows; i++) rowOf(m, i).forEach((value, j) => sums[j] += value);
    return sums;
  }
  function mean(values) {
    return values.length ? values.reduce((a, b) => a + b, 0) / values.length : 0;
  }
  function leakedShare(pattern, mask) {
    let leaked2 = 0;
    let total = 0;
    for (let i = 0; i < pattern.values.length; i++) {
      total += pattern.values[i];
      if (!mask[i]) leaked2 += pattern.values[i];
    }
    return total ? leaked2 / total : 0;
  }
  function leading(row, mass) {
    const order = Array.from(row.keys()).filter((j) => row[j] > 0).sort((a, b) => row[b] - row[a] || a - b);
    const wanted = mass * row.reduce((a, b) => a + b, 0);
    const kept2 = [];
    let held = 0;
    for (const j of order) {
      if (kept2.length && held >= wanted - 1e-12) break;
      kept2.push(j);
      held += row[j];
    }
    return kept2;
  }
  function mergedWords(pattern, rowGroups, columnGroups) {
    const result = matrix(countOf(rowGroups), countOf(columnGroups));
    const sizes = new Float64Array(result.rows);
    rowGroups.forEach((group) => sizes[group]++);
    for (let i = 0; i < pattern.rows; i++) {
      const to = rowOf(result, rowGroups[i]);
      rowOf(pattern, i).forEach((p, j) => to[columnGroups[j]] += p / sizes[rowGroups[i]]);
    }
    return result;
  }
  function mergedMask(mask, rowGroups, columnGroups) {
    const columns = columnGroups.length;
    const width = countOf(columnGroups);
    const result = new Uint8Array(countOf(rowGroups) * width);
    mask.forEach((allowed, i) => {
      const row = rowGroups[Math.floor(i / columns)];
      if (allowed) result[row * width + columnGroups[i % columns]] = 1;
    });
    return result;
  }
  function countOf(groups) {
    return (groups.at(-1) ?? -1) + 1;
  }
  function difference(a, b) {
    const result = matrix(Math.min(a.rows, b.rows), Math.min(a.columns, b.columns));
    for (let i = 0; i < result.rows; i++) {
      const to = rowOf(result, i);
      for (let j = 0; j < to.length; j++) to[j] = rowOf(a, i)[j] - rowOf(b, i)[j];
    }
    return result;
  }
  function relativeError(a, b) {
    let worst = 0;
    let largest = 1;
    for (let i = 0; i < b.length; i++) {
      const error = Math.abs(a[i] - b[i]);
      if (!Number.isFinite(error)) return NaN;
      worst = Math.max(worst, error);
      largest = Math.max(largest, Math.abs(b[i]));
    }
    return a.length === b.length ? worst / largest : NaN;
  }
  function strongestPairs(pattern, n, kind = "self") {
    const best = [];
    for (let query = 0; query < pattern.rows; query++) {
      for (let key = 0; key < pattern.columns; key++) {
        const weight = pattern.values[query * pattern.columns + key];
        if (!(weight > 0)) continue;
        const isLate2 = kind === "self" && !isInformative(query, key);
        if (best.length === n && !isBefore(isLate2, weight, best[n - 1])) continue;
        const place = best.findIndex((other) => isBefore(isLate2, weight, other));
        best.splice(place < 0 ? best.length : place, 0, { query, key, weight, isLate: isLate2 });
        if (best.length > n) best.pop();
      }
    }
    const isLate = best[0]?.isLate;
    const same2 = best.filter((pair) => pair.isLate === isLate);
    return same2.map(({ query, key, weight }) => ({ query, key, weight }));
  }
  function isBefore(isLate, weight, other) {
    return isLate === other.isLate ? weight > other.weight : other.isLate;
  }
  function isInformative(query, key) {
    return key !== 0 && key !== query;
  }
  function argmax(values) {
    let best = 0;
    for (let i = 1; i < values.length; i++) if (values[i] > values[best]) best = i;
    return best;
  }
  function reach(values) {
    let most = 0;
    for (const value of values) if (Number.isFinite(value)) most = Math.max(most, Math.abs(value));
    return most || 1;
  }

  // viz/live/core/patterns.js
  var WEIGHT_PAIRS = 3;
  var EARLY_ROWS = 8;
  var MOST_LETTERS = 18;
  function shownPattern(pattern, mask, between2, { words = false, hide_first = false } = {}) {
    const shown2 = words && canMerge(between2) ? inWords(pattern, mask, between2) : null;
    const { values, allowed, ...labels } = shown2 ?? inTokens(pattern, mask, between2);
    const { kind, rowTitle, columnTitle } = between2;
    const { length } = values.values;
    const hidden = bytesWhere(length, (i) => !allowed[i]);
    const isFirstHidden2 = hide_first && kind === "self";
    const blank = bytesWhere(length, (i) => isFirstHidden2 && i % values.columns === 0);
    return { ...labels, values, allowed, hidden, blank, kind, rowTitle, columnTitle };
  }
  function bytesWhere(length, test) {
    const bytes = new Uint8Array(length);
    for (let i = 0; i < length; i++) if (test(i)) bytes[i] = 1;
    return bytes;
  }
  function canMerge({ queries, keys }) {
    return queries.words !== null && keys.words !== null;
  }
  function inTokens(values, allowed, { queries, keys }) {
    const labels = { rows: queries.labels, columns: keys.labels };
    return { values, allowed, ...labels, rowLabels: queries.axis, columnLabels: keys.axis };
  }
  function inWords(pattern, mask, { queries, keys }) {
    const [rowWords, columnWords] = [queries.words ?? [], keys.words ?? []];
    return {
      values: mergedWords(pattern, rowWords, columnWords),
      allowed: mergedMask(mask, rowWords, columnWords),
      rows: queries.word_labels ?? [],
      columns: keys.word_labels ?? [],
      rowLabels: queries.word_axis ?? [],
      columnLabels: keys.word_axis ?? []
    };
  }
  function weightScale(shown2) {
    return weightScaleTo(weightReach(shown2));
  }
  function sharedWeightScale(patterns) {
    return weightScaleTo(Math.max(...patterns.map(weightReach)));
  }
  function weightReach({ kind, values, hidden, blank }) {
    let high = 0;
    const first = kind === "self" ? Math.min(EARLY_ROWS, Math.floor(values.rows / 2)) : 0;
    for (let i = first * values.columns; i < values.values.length; i++) {
      if (!hidden[i] && !blank?.[i]) high = Math.max(high, values.values[i]);
    }
    return high;
  }
  function weightScaleTo(high) {
    if (high > 0.5 || !high) return { name: "weight", low: 0, high: 1 };
    const end = Math.ceil(high * 20) / 20;
    return { name: `weight: colours end at ${digits(end, 2)}`, low: 0, high: end };
  }
  function signedScale(name, values) {
    const most = reach(values);
    return { name, low: -most, high: most, signed: true };
  }
  function pairsInWords(shown2, what = "Strongest pairs") {
    const { pairs, aside } = strongestOf(shown2);
    const { rows, columns } = shown2;
    if (!pairs.length) return `${what}${aside}: none.`;
    const named = pairs.map(
      ({ query, key, weight }) => `${rows[query]} attends to ${columns[key]} ${digits(weight, 3)}`
    );
    return `${what}${aside}: ${named.join("; ")}.`;
  }
  function pairsTraced(shown2, addressOf) {
    const { pairs, aside } = strongestOf(shown2);
    const { rows, columns } = shown2;
    if (!pairs.length) return [`Strongest pairs${aside}: none.`];
    const named = pairs.flatMap(({ query, key, weight }, i) => {
      const number = traced(weight, "pair", addressOf(query, key), 3);
      const names = [rows[query], columns[key]].map((label) => html("bdi", null, label));
      const place = { "data-pair": `${query}-${key}` };
      const pair = html("span", place, names[0], " attends to ", names[1], " ", number);
      return i ? ["; ", pair] : [pair];
    });
    return [`Strongest pairs${aside}: `, ...named, "."];
  }
  function strongestOf(shown2) {
    const { kind, values, hidden, blank } = shown2;
    const visible2 = matrix(
      values.rows,
      values.columns,
      values.values.map((x, i) => hidden[i] || blank?.[i] ? 0 : x)
    );
    const pairs = strongestPairs(visible2, WEIGHT_PAIRS, kind);
    const isPart = kind === "self" && pairs.every(({ query, key }) => isInformative(query, key));
    const aside = blank?.some(Boolean) ? FIRST_ASIDE : "";
    return { pairs, aside: isPart && pairs.length ? ASIDE : aside };
  }
  var ASIDE = " (first token and self left out)";
  var FIRST_ASIDE = " (first token left out)";
  var FIRST_HIDDEN = "Hatched: the first token, hidden by choice. Its weights are what they are: they count in sums, entropy, differences and what is saved.";
  function weightAt({ values, hidden }, row, column) {
    const at = row * values.columns + column;
    return hidden[at] ? "masked" : digits(values.values[at]);
  }
  function focusable(host, label) {
    host.tabIndex = 0;
    host.setAttribute("role", "application");
    host.setAttribute("aria-roledescription", "heat map");
    host.setAttribute("aria-label", label);
  }
  function pictured(host, label) {
    host.setAttribute("role", "img");
    host.setAttribute("aria-label", label);
  }
  function clipped(label) {
    const letters = Array.from(label);
    return letters.length > MOST_LETTERS ? `${letters.slice(0, MOST_LETTERS - 1).join("")}…` : label;
  }
  function patternTable({ values, rows, columns }) {
    return { values, rows, columns, corner: "query \\ key" };
  }
  function drawnMaps(maps) {
    return Promise.all(
      maps.map(async ({ title, heatMap }) => ({
        caption: title.textContent ?? "",
        drawing: await heatMap.svgText()
      }))
    );
  }

  // viz/live/microscope/controls.js
  var BETWEEN_TOKENS = ["map", "whatif"];
  var Controls = class {
    /** @param {Microscope} scope */
    constructor(scope) {
      this.scope = scope;
      this.tabs = html("div");
      this.hideFirst = toggle(
        "Hide attention sink (first token)",
        (isOn) => scope.set({ hide_first: isOn }),
        "Hides the column of the first token and fits the colours to the rest; weights, sums, entropy and what is saved stay as they are"
      );
      this.mergeWords = toggle("Merge subwords", (isOn) => scope.set({ words: isOn, token: null }));
      this.options = html("div", { class: "hl-row hl-options" }, this.hideFirst, this.mergeWords);
      this.reasons = html("p", { class: "hl-caption", "data-why": "", hidden: true });
    }
    /**
     * Offer the views that apply to what was sent.
     *
     * @param {MicroscopeData} data
     */
    offer({ views }) {
      fillOnce(this.tabs, JSON.stringify(views), () => [
        radios("hl-view", "View", asRadios(views), "", (view) => this.scope.set({ view }))
      ]);
      const reasons = reasonsOf(views);
      this.reasons.hidden = !reasons;
      this.reasons.textContent = reasons;
    }
    /** Show what is chosen, and what of it counts in this view. */
    draw() {
      const { view, stage, hide_first, words } = this.scope.settings;
      check(this.tabs, view);
      const isSelf = this.scope.group.kind === "self";
      const hasWeights = view !== "map" || stage === "weights";
      this.hideFirst.hidden = !isSelf;
      setToggle(this.hideFirst, hide_first, hasWeights && isSelf);
      const why = this.#whyNoWords();
      setToggle(this.mergeWords, words, why === null);
      this.mergeWords.title = why ?? "Weights to the tokens of a word are summed, weights from them averaged";
    }
    /** Why tokens cannot be merged to words here; null when they can. */
    #whyNoWords() {
      const { between: between2, settings } = this.scope;
      if (BETWEEN_TOKENS.includes(settings.view))
        return "Not in this view: its steps are between tokens. The other views can.";
      if (!canMerge(between2)) return "These tokens are not pieces of words.";
      const hasPieces = [between2.queries, between2.keys].some(
        ({ words, labels }) => (words?.at(-1) ?? -1) + 1 < labels.length
      );
      return hasPieces ? null : "Every token of this sentence is a word of its own";
    }
  };
  function asRadios(options) {
    return options.map(({ name, text, why }) => ({
      value: name,
      text,
      title: why,
      disabled: why !== null
    }));
  }
  function reasonsOf(options) {
    const not = options.filter(({ why }) => why !== null);
    return not.map(({ text, why }) => `${text}: ${why}`).join(" ");
  }
  function setToggle(label, isChecked, isEnabled) {
    const input = inputOf(label);
    input.checked = isChecked && isEnabled;
    input.disabled = !isEnabled;
  }

  // viz/live/microscope/exports.js
  var SPACE = 16;
  var LEAST_WIDTH = 640;
  var SCALE = 2;
  var KEEP_MS = 1e4;
  var PLACE = /"?\/\*(\w+)\*\/"?/g;
  var LETTER = 0.53;
  var KINDS = { PNG: savePng, SVG: saveSvg, HTML: saveHtml, CSV: saveCsv };
  function exportMenu(scope) {
    const buttons = Object.entries(KINDS).map(
      ([name, save]) => button(name, () => {
        whenDrawn(scope, save).catch(
          (error) => scope.complain(`${name} was not saved: ${error.message}`)
        );
      })
    );
    const label = { role: "group", "aria-label": "Save what is on screen" };
    const words = html("span", null, "Save this view");
    return html("div", { class: "hl-row hl-exports", ...label }, words, buttons);
  }
  async function whenDrawn(scope, save) {
    if (!scope.view || scope.isBusy && !scope.isOffline) throw new Error("it is not drawn yet");
    await save(scope);
  }
  function fileName(scope, suffix) {
    const { layer, head, view, stage } = scope.settings;
    const several = scope.data.groups.length > 1;
    const group = several ? `${scope.group.name.replace(/[^a-z0-9]+/gi, "-")}-` : "";
    return `headlight-${group}l${layer}-h${head}-${view === "map" ? stage : view}.${suffix}`;
  }
  function download(scope, blob, suffix) {
    const address = URL.createObjectURL(blob);
    html("a", { href: address, download: fileName(scope, suffix) }).click();
    setTimeout(() => URL.revokeObjectURL(address), KEEP_MS);
  }
  async function saveCsv(scope) {
    const table = scope.view?.table();
    if (!table) throw new Error("there is no matrix here yet");
    download(scope, new Blob(["\uFEFF", csvText(table)], { type: "text/csv" }), "csv");
  }
  function float32Text(value) {
    const wanted = Math.fround(value);
    const enough = [6, 7, 8, 9].find((n) => Math.fround(Number(wanted.toPrecision(n))) === wanted);
    return enough ? String(Number(wanted.toPrecision(enough))) : String(wanted);
  }
  function csvText({ values, rows, columns, corner }) {
    const quoted = (text) => `"${text.replaceAll('"', '""')}"`;
    const numbered = (labels, i) => labels ? quoted(`${i} ${labels[i]}`) : String(i);
    const header = [
      quoted(corner),
      ...Array.from({ length: values.columns }, (_, j) => numbered(columns, j))
    ];
    const lines = Array.from({ length: values.rows }, (_, i) => [
      numbered(rows, i),
      ...Array.from(rowOf(values, i), float32Text)
    ]);
    return `${[header, ...lines].map((line) => line.join(",")).join("\r\n")}\r
`;
  }
  async function saveSvg(scope) {
    const { text } = await composed(scope);
    download(scope, new Blob([text], { type: "image/svg+xml" }), "svg");
  }
  async function savePng(scope) {
    const { text, width, height } = await composed(scope);
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
    await image.decode();
    const canvas = html("canvas", { width: width * SCALE, height: height * SCALE });
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
    if (!blob) throw new Error("the picture is too large for this browser; save SVG");
    download(scope, blob, "png");
  }
  async function composed(scope) {
    const pieces = await scope.view?.drawings() ?? [];
    if (!pieces.length) throw new Error("there is nothing to draw here yet");
    const { palette, data } = scope;
    const drawn = pieces.map(({ caption, drawing }) => ({ caption, ...asElement(drawing) }));
    const width = Math.max(LEAST_WIDTH, ...drawn.map(({ size }) => size[0] + 2 * SPACE));
    const sheet = new Sheet(width);
    sheet.write(`Headlight · ${data.model} · ${scope.title.textContent}`, 17, palette.text);
    for (const labels of sentencesOf(scope)) sheet.write(labels.join(" "), 14, palette.muted);
    if (scope.does.textContent) sheet.write(scope.does.textContent, 14, palette.text);
    for (const { caption, node, size } of drawn) {
      sheet.y += SPACE / 2;
      sheet.write(caption, 14, palette.text);
      sheet.y += 6;
      sheet.put(node, size);
    }
    const height = sheet.y + SPACE;
    sheet.picture.prepend(svg("rect", { width, height, fill: palette.background }));
    const style = { "font-family": palette.font, "font-size": 14, fill: palette.text };
    setAll(sheet.picture, { width, height, viewBox: `0 0 ${width} ${height}`, ...style });
    return { text: new XMLSerializer().serializeToString(sheet.picture), width, height };
  }
  function sentencesOf({ between: { kind, queries, keys } }) {
    return kind === "self" ? [queries.labels] : [queries.labels, keys.labels];
  }
  var Sheet = class {
    y = SPACE;
    /** @param {number} width */
    constructor(width) {
      this.width = width;
      this.picture = svg("svg", { xmlns: "http://www.w3.org/2000/svg" });
    }
    /**
     * @param {string} words
     * @param {number} size of the letters
     * @param {string} fill
     */
    write(words, size, fill2) {
      for (const line of wrapped(words, (this.width - 2 * SPACE) / (LETTER * size))) {
        this.y += 1.35 * size;
        this.picture.append(svg("text", { x: SPACE, y: this.y, fill: fill2, "font-size": size }, line));
      }
    }
    /**
     * @param {Element} node
     * @param {[number, number]} size
     */
    put(node, [width, height]) {
      setAll(node, { x: SPACE, y: this.y, width, height });
      this.picture.append(node);
      this.y += height;
    }
  };
  function wrapped(words, letters) {
    const lines = [""];
    for (const word2 of words.split(" ")) {
      const line = lines[lines.length - 1];
      if (line && line.length + word2.length + 1 > letters) lines.push(word2);
      else lines[lines.length - 1] = `${line} ${word2}`.trim();
    }
    return lines;
  }
  function asElement(drawing) {
    if (typeof drawing === "string") {
      const node2 = new DOMParser().parseFromString(drawing, "image/svg+xml").documentElement;
      const pixels = (name) => parseFloat(node2.getAttribute(name) ?? "0");
      return { node: node2, size: [pixels("width"), pixels("height")] };
    }
    const { width, height } = drawing.getBoundingClientRect();
    const node = (
      /** @type {Element} */
      drawing.cloneNode(true)
    );
    return { node, size: [Math.round(width), Math.round(height)] };
  }
  async function saveHtml(scope) {
    await scope.redraw();
    const parts = ["offline/page.html", "plotly.min.js", "offline/program.js", "live.css"];
    const [page2, plotly, program, style] = await Promise.all(parts.map(textOf));
    const contents = {
      data: { ...scope.data, arrays: {}, settings: scope.settings },
      arrays: await scope.library.packed()
    };
    const fillings = {
      style,
      plotly: plotly.replaceAll("<\/script", "<\\/script"),
      program: program.replaceAll("<\/script", "<\\/script"),
      contents: JSON.stringify(contents).replaceAll("<", "\\u003c")
    };
    const filled2 = page2.replace(PLACE, (_, name) => fillings[name]);
    download(scope, new Blob([filled2], { type: "text/html" }), "html");
  }
  async function textOf(name) {
    const response = await fetch(new URL(`live/${name}`, document.baseURI)).catch(() => null);
    if (!response?.ok) throw new Error("the app does not answer; this needs it");
    return response.text();
  }

  // viz/live/microscope/heads.js
  var TRACED = [
    ["scores", "biased"],
    ["pattern", "weights"],
    ["z", "output"]
  ];
  var computed = /* @__PURE__ */ new WeakMap();
  async function loadHead(library, key, site, number) {
    const matrices = await library.fetch(headAddress(key, site, number));
    const head = (
      /** @type {HeadArrays} */
      /** @type {unknown} */
      matrices
    );
    const known = computed.get(head);
    if (known) return known;
    const all = steps(head);
    const errors = TRACED.map(
      ([traced2, step]) => relativeError(all[step].values, head[traced2].values)
    );
    const loaded = { head, steps: all, error: Math.max(...errors) };
    computed.set(head, loaded);
    return loaded;
  }
  function groupOf(data, name) {
    return data.groups.find((group) => group.name === name) ?? data.groups[0];
  }
  function headName({ groups }, group, layer, head) {
    const name = `L${layer} H${head}`;
    return groups.length > 1 ? `${group.title} ${name}` : name;
  }
  function between(streams, { kind, queries, keys }) {
    const isCross = kind === "cross";
    return {
      kind,
      queries: streams[queries],
      keys: streams[keys],
      rowTitle: isCross ? `query (${queries})` : "query",
      columnTitle: isCross ? `key (${keys})` : "key"
    };
  }

  // viz/live/core/pointed.js
  var last = null;
  function point(number) {
    last = number;
  }
  function pointAway() {
    last = null;
  }

  // viz/live/core/screen.js
  var readings = /* @__PURE__ */ new Map();
  var owners = /* @__PURE__ */ new Map();
  var listeners2 = /* @__PURE__ */ new Set();
  function notify() {
    for (const listener of listeners2) listener();
  }
  function changes(figure2, owner) {
    owners.set(figure2, owner);
    readings.set(figure2, null);
    notify();
  }
  function wasRead(reading, owner) {
    if (isOfAnother(reading.figure, owner)) return;
    owners.set(reading.figure, owner);
    readings.set(reading.figure, reading);
    notify();
  }
  function isGone(figure2, owner) {
    if (isOfAnother(figure2, owner)) return;
    owners.delete(figure2);
    if (readings.delete(figure2)) notify();
  }
  function isOfAnother(figure2, owner) {
    const last2 = owners.get(figure2);
    return last2 !== void 0 && last2 !== owner;
  }

  // viz/live/core/tally.js
  var Tally = class {
    error = 0;
    n = 0;
    address = "";
    /** @param {number} allowed */
    constructor(allowed) {
      this.allowed = allowed;
    }
    /**
     * One more value, or several with their largest error.
     *
     * @param {number} error NaN where something is missing or no number
     * @param {string} address
     * @param {number} [n]
     */
    add(error, address, n = 1) {
      this.error = Math.max(this.error, error);
      this.n += n;
      if (!(error <= this.allowed)) this.address ||= address;
    }
    /**
     * Something that holds or does not.
     *
     * @param {boolean} isRight
     * @param {string} address
     */
    hold(isRight, address) {
      this.add(isRight ? 0 : NaN, address);
    }
    /** @returns {Found} */
    get found() {
      const { error, n, address } = this;
      return { error, n, address };
    }
  };

  // viz/live/core/reader.js
  var REST_MS = 200;
  var IDLE_MS = 600;
  var Reader = class {
    #cancel = () => {
    };
    /**
     * @param {Lifetime} lifetime
     * @param {string} figure what it is called
     */
    constructor(lifetime, figure2) {
      this.lifetime = lifetime;
      this.figure = figure2;
      lifetime.keep(() => isGone(figure2, this));
    }
    /** What was said counts no more. */
    withdraw() {
      this.#cancel();
      changes(this.figure, this);
    }
    /** There is nothing to compare with. */
    gone() {
      this.#cancel();
      isGone(this.figure, this);
    }
    /**
     * Something else is drawn: read it once it rests.
     *
     * @param {Drawn} drawn
     */
    soon({ token, allowed, read }) {
      this.#cancel();
      let isCurrent = true;
      const cancel = this.lifetime.timeout(async () => {
        await this.lifetime.rest(IDLE_MS);
        if (!isCurrent || this.lifetime.isOver) return;
        const tally = new Tally(allowed);
        const isRead = await read(tally).then(
          () => true,
          () => false
          // the run is gone: nothing is said
        );
        if (!isCurrent || this.lifetime.isOver) return;
        if (isRead) wasRead({ figure: this.figure, token, ...tally.found }, this);
        else isGone(this.figure, this);
      }, REST_MS);
      this.#cancel = () => {
        isCurrent = false;
        cancel();
      };
    }
  };

  // viz/live/core/atlas.js
  var LEAST_PIXELS = 24;
  function atlas({ tiles, n_layers, n_heads }, codes, palette, gaps) {
    const [, rows, columns] = tiles.shape;
    const [wide2, high] = [columns, rows].map((cells2) => Math.ceil(LEAST_PIXELS / cells2));
    const right = columns * wide2 + Math.max(1, Math.round(columns * wide2 * gaps.x));
    const down = rows * high + Math.max(1, Math.round(rows * high * gaps.y));
    const canvas = html("canvas", { width: right * n_heads, height: down * n_layers });
    const context = canvas.getContext("2d");
    if (!context) return "";
    const image = context.createImageData(canvas.width, canvas.height);
    const table = byteColors(palette, codes.masked);
    const pixels = new Uint32Array(image.data.buffer);
    const size = rows * columns;
    bytesOf(tiles.bdata).forEach((level, i) => {
      const [tile, cell] = [Math.floor(i / size), i % size];
      const x = tile % n_heads * right + cell % columns * wide2;
      const y = Math.floor(tile / n_heads) * down + Math.floor(cell / columns) * high;
      for (let row = y; row < y + high; row++)
        pixels.fill(table[level], row * canvas.width + x, row * canvas.width + x + wide2);
    });
    context.putImageData(image, 0, 0);
    return canvas.toDataURL();
  }
  function byteColors(palette, masked2) {
    const scale = ramp(palette.sequential);
    const hidden = rgb(palette.masked);
    return Uint32Array.from({ length: 256 }, (_, level) => {
      const [red, green, blue] = level === masked2 ? hidden : scale.subarray(3 * level, 3 * level + 3);
      return (255 << 24 | blue << 16 | green << 8 | red) >>> 0;
    });
  }

  // viz/live/core/independent.js
  var KEPT = 36;
  var AT_ONCE = 2;
  var asking = 0;
  var waiting = [];
  var kept = /* @__PURE__ */ new Map();
  var keptTexts = /* @__PURE__ */ new Map();
  function independentTexts(key, of = "last") {
    const place = `live/independent/${key}/texts/${of}`;
    return keep(keptTexts, place, async () => (await (await get(place)).json()).texts);
  }
  function independent(key, address) {
    const place = `live/independent/${key}/${address}`;
    return keep(
      kept,
      place,
      async () => decodeSafetensors(await (await get(place)).arrayBuffer()).value
    );
  }
  function keep(all, place, load2) {
    const found = all.get(place) ?? load2();
    all.delete(place);
    all.set(place, found);
    found.catch(() => all.delete(place));
    const [oldest] = all.keys();
    if (all.size > KEPT) all.delete(oldest);
    return found;
  }
  async function get(place) {
    if (asking >= AT_ONCE) await new Promise((resolve) => waiting.push(resolve));
    asking += 1;
    try {
      const response = await fetch(new URL(place, document.baseURI));
      if (!response.ok) throw new Error(`no independent run (${response.status})`);
      return response;
    } finally {
      asking -= 1;
      waiting.shift()?.(null);
    }
  }

  // viz/live/core/shades.js
  var LEVELS = 256;
  var Shades = class {
    /** @type {number[][]} */
    #levels;
    /** The levels that have a colour, lowest and highest. @type {Map<number, [number, number] | null>} */
    #known = /* @__PURE__ */ new Map();
    /** @param {string[]} stops colours as #rrggbb, evenly spread */
    constructor(stops) {
      const ends = stops.map(channels);
      this.#levels = Array.from({ length: LEVELS }, (_, level) => {
        const at = level * (ends.length - 1) / (LEVELS - 1);
        const next = Math.min(Math.ceil(at), ends.length - 1);
        const share = next - at;
        return ends[next].map((c, i) => c * (1 - share) + ends[Math.max(next - 1, 0)][i] * share);
      });
    }
    /**
     * The lowest and the highest level, from 0 to 255, that have a colour; null where none has.
     *
     * @param {number} red
     * @param {number} green
     * @param {number} blue
     */
    levelsOf(red, green, blue) {
      const name = red << 16 | green << 8 | blue;
      const known = this.#known.get(name);
      if (known !== void 0) return known;
      const rgb2 = [red, green, blue];
      const fits = this.#levels.map((level) => level.every((c, i) => Math.abs(c - rgb2[i]) <= 0.501));
      const found = fits.includes(true) ? [fits.indexOf(true), fits.lastIndexOf(true)] : null;
      this.#known.set(
        name,
        /** @type {[number, number] | null} */
        found
      );
      return (
        /** @type {[number, number] | null} */
        found
      );
    }
    /**
     * How many levels a colour is from a place on the scale, beyond the half that rounding takes.
     *
     * @param {number} red
     * @param {number} green
     * @param {number} blue
     * @param {number} level where it should be, from 0 to 255
     */
    errorOf(red, green, blue, level) {
      const found = this.levelsOf(red, green, blue);
      return found ? Math.max(0, found[0] - 0.5 - level, level - found[1] - 0.5) : NaN;
    }
  };
  function channels(color) {
    const parts = color.startsWith("#") ? color.match(/[0-9a-f]{2}/gi) : color.match(/\d+/g);
    return (parts ?? []).slice(0, 3).map((part) => color.startsWith("#") ? parseInt(part, 16) : Number(part));
  }

  // viz/live/core/pixels.js
  var [ZERO, MOST] = [2, 255];
  async function pixelsOf(address) {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
    const context = canvas.getContext("2d", { willReadFrequently: true });
    if (!context) throw new Error("this browser has no canvas");
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, canvas.width, canvas.height);
  }
  function readTiles(tally, { data, width, height }, { values, name, rows, columns, n_heads, palette }) {
    const size = rows * columns;
    const n_layers = values.length / size / n_heads;
    const [right, down] = [width / n_heads, height / n_layers];
    const [wide2, high] = [opaque(data, right, 4), opaque(data, down, 4 * width)];
    const shades = new Shades(palette.sequential);
    const masked2 = channels(palette.masked);
    const address = `${name}.tiles`;
    tally.hold(Number.isInteger(right) && Number.isInteger(down), address);
    for (let i = 0; i < values.length; i++) {
      const [tile, cell] = [Math.floor(i / size), i % size];
      const x = tile % n_heads * right + (cell % columns + 0.5) * wide2 / columns;
      const y = Math.floor(tile / n_heads) * down + (Math.floor(cell / columns) + 0.5) * high / rows;
      const at = 4 * (Math.floor(y) * width + Math.floor(x));
      const [red, green, blue] = [data[at], data[at + 1], data[at + 2]];
      const level = ZERO + Math.sqrt(Math.max(0, values[i])) * (MOST - ZERO);
      const isMasked = red === masked2[0] && green === masked2[1] && blue === masked2[2];
      const ofMasked = isMasked ? 0 : NaN;
      const off = Number.isNaN(level) ? ofMasked : shades.errorOf(red, green, blue, level) / MOST;
      tally.add(off, off <= tally.allowed ? address : `${address}[${tile},${cell}]`);
    }
  }
  function opaque(data, most, step) {
    let n = 0;
    while (n < most && data[n * step + 3]) n += 1;
    return n;
  }

  // viz/live/core/printed.js
  function errorOfNumber(printed2, value) {
    if (printed2 === "−∞") return value === -Infinity ? 0 : NaN;
    if (printed2 === "0") return Math.abs(value);
    const [, sign2, bound] = /^(< |> −)(\d+(?:\.\d+)?)$/.exec(printed2) ?? [];
    const size = sign2 === "< " ? value : -value;
    if (sign2) return Math.max(0, -size, size - Number(bound));
    if (/^−?\d{1,3}(,\d{3})+(\.\d+)?$/.test(printed2))
      return errorOfNumber(printed2.replaceAll(",", ""), value);
    if (!/^−?\d+(\.\d+)?$/.test(printed2)) return NaN;
    const places = printed2.includes(".") ? printed2.length - printed2.indexOf(".") - 1 : 0;
    const read = Number(printed2.replace("−", "-"));
    return Math.max(0, Math.abs(read - value) - 0.5 * 10 ** -places);
  }
  var SIGNS = [
    ["⏎", "\n"],
    ["␍", "\r"],
    ["⇥", "	"],
    ["␣", " "],
    ["⍽", " "]
  ];
  var NOT_TEXT = /[\u200b\u2066-\u2069]/g;
  var NUMBERED = /(?:^| )#\d+$/;
  var READABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} \n\r\t\u00a0]*$/u;
  function saysText(label, text) {
    if (text === null || !READABLE.test(text) || /[⏎␍⇥␣⍽…]/u.test(text)) return true;
    const word2 = text.startsWith(" ") && text.trim() ? text.slice(1) : text;
    let read = label.replace(NOT_TEXT, "").replace(/^…(?=.)/u, "");
    for (const [sign2, meaning] of SIGNS) read = read.replaceAll(sign2, meaning);
    const isCut = read.endsWith("…") && word2.startsWith(read.slice(0, -1));
    return read === word2 || isCut || read.replace(NUMBERED, "") === word2;
  }
  function errorOfLabels(labels, texts) {
    const isRight = labels.length === texts.length;
    return isRight && labels.every((label, i) => saysText(label, texts[i])) ? 0 : NaN;
  }

  // viz/live/microscope/reading/overview.js
  var ROUNDING = 1e-5;
  var PIXEL = 1;
  var RISE = 4;
  var THIRD = 1 / 3;
  var BY_PLACE = { previous: THIRD, next: THIRD, first: THIRD, self: THIRD };
  var AT_LEAST = { ...BY_PLACE, same: THIRD, induction: THIRD, broad: 0.8 };
  async function readOverview(data, group, picture, palette, tally) {
    const { name, n_heads, n_layers, tiles } = group;
    const image = picture.querySelector("image");
    if (!image) return tally.hold(false, `${name}.tiles`);
    const expected = await independent(data.key, `${name}.tiles`);
    const pixels = await pixelsOf(image.getAttribute("href") ?? "");
    const [, rows, columns] = tiles.shape;
    const isWhole = expected.columns === rows * columns && expected.rows === n_layers * n_heads;
    tally.hold(isWhole, `${name}.tiles`);
    if (!isWhole) return;
    readTiles(tally, pixels, { values: expected.values, name, rows, columns, n_heads, palette });
    const [x, y, width, height] = ["x", "y", "width", "height"].map(
      (side) => Number(image.getAttribute(side))
    );
    const box = { x, y, width: width / n_heads, height: height / n_layers };
    readNames(tally, picture, box, name);
    await readBars(tally, picture, data.key, group, box);
    await readChips(tally, picture, data, group, box);
  }
  function readNames(tally, picture, box, name) {
    for (const node of picture.querySelectorAll(":scope > text")) {
      const [, axis, number] = /^([LH])(\d+)$/.exec(node.textContent ?? "") ?? [];
      const [x, y] = ["x", "y"].map((side) => Number(node.getAttribute(side)));
      const at = axis === "L" ? (y - RISE - box.y) / box.height : (x - box.x) / box.width;
      tally.hold(Math.floor(at) === Number(number), name);
    }
  }
  async function readBars(tally, picture, run, { name, n_layers, n_heads }, box) {
    const names = [`${name}.layer_sharpness`, `${name}.head_sharpness`];
    const [ofLayers, ofHeads] = await Promise.all(names.map((one) => independent(run, one)));
    const expected = [...ofLayers.values, ...ofHeads.values];
    const lengths = new Array(expected.length).fill(NaN);
    for (const bar of picture.querySelectorAll(":scope > .hl-bar")) {
      const of = (side) => Number(bar.getAttribute(side));
      const isRight = of("x") >= box.x + n_heads * box.width;
      const middle = isRight ? (of("y") + of("height") / 2 - box.y) / box.height : (of("x") + of("width") / 2 - box.x) / box.width;
      lengths[Math.floor(middle) + (isRight ? 0 : n_layers)] = of(isRight ? "width" : "height");
    }
    const unit = Math.max(...lengths) / Math.max(...expected);
    lengths.forEach((length, i) => {
      tally.add(Math.abs(length / unit - expected[i]), names[i < n_layers ? 0 : 1]);
    });
  }
  async function readChips(tally, picture, { key, streams, roles }, group, box) {
    const chips2 = Array.from(picture.querySelectorAll(".hl-chip"));
    if (!chips2.length) return;
    const hasIds = streams[group.queries].kind === "text";
    const all = await measuresOf(key, group, hasIds);
    const found = new Set(
      chips2.map((chip) => {
        const at = headOf(chip, group, box);
        const words = chip.textContent ?? "";
        const role = roles.find(({ chip: word2 }) => words.startsWith(word2))?.name ?? "";
        const address = `${group.name}.${role}[${Math.floor(at / group.n_heads)},${at % group.n_heads}]`;
        const number = chip.querySelector("[data-number]")?.textContent;
        tally.hold(isLargest(all, role, at), address);
        if (number) tally.add(errorOfNumber(number, all[role]?.[at] ?? NaN), address);
        return at;
      })
    );
    for (let at = 0; at < group.n_layers * group.n_heads; at++)
      if (!found.has(at) && hasClearRole(all, at)) tally.hold(false, group.name);
  }
  function headOf(chip, { n_heads }, box) {
    const [x, y] = placeOf(chip);
    const head = Math.floor((x - PIXEL - box.x) / box.width);
    return Math.floor((y + PIXEL - box.y) / box.height) * n_heads + head;
  }
  function placeOf(chip) {
    const box = chip.querySelector("rect");
    const of = (side) => Number(box?.getAttribute(side));
    return [of("x") + of("width"), of("y")];
  }
  async function measuresOf(run, { name, kind, queries, keys }, hasIds) {
    const isOfOne = kind === "self" && queries === keys;
    const names = Object.keys(AT_LEAST).filter(
      (one) => one === "broad" || isOfOne && (one in BY_PLACE || hasIds)
    );
    const arrays = await Promise.all(names.map((one) => independent(run, `${name}.${one}`)));
    return Object.fromEntries(names.map((one, i) => [one, arrays[i].values]));
  }
  function isLargest(all, role, at) {
    const value = all[role]?.[at] ?? NaN;
    const isReached = value >= leastOf(role) - ROUNDING;
    return isReached && reached(all, at, ROUNDING).every((name) => all[name][at] <= value + ROUNDING);
  }
  function hasClearRole(all, at) {
    return reached(all, at, ROUNDING).length > 0;
  }
  function reached(all, at, more) {
    return Object.keys(all).filter((name) => all[name][at] >= leastOf(name) + more);
  }
  function leastOf(role) {
    return (
      /** @type {Record<string, number>} */
      AT_LEAST[role] ?? Infinity
    );
  }

  // viz/live/microscope/tiling.js
  var GAP = 3;
  var MOST_TILE = 74;
  var LEAST_TILE = 6;
  var MOST_STRETCH = 3;
  var LABEL_ROOM = 22;
  function pitchOf(ratio, room) {
    const stretch = Math.min(Math.max(ratio, 1 / MOST_STRETCH), MOST_STRETCH);
    const x = Math.max(LEAST_TILE, Math.min(MOST_TILE + GAP, room));
    return { x, y: Math.max(LEAST_TILE, (x - GAP) * stretch + GAP) };
  }
  function spaced(n, pitch) {
    const every = Math.ceil(LABEL_ROOM / pitch);
    return Array.from({ length: n }, (_, i) => i).filter((i) => i % every === 0);
  }

  // viz/live/microscope/roles.js
  var CHIP = { letter: 5.7, pad: 5, height: 13, base: 10.5, fromTile: 34, withNumber: 72 };
  var MOST_NAMED = 3;
  function roleOf({ roles }, group, layer, head) {
    const role = group.roles[layer][head];
    const words = role && roles.find(({ name }) => name === role[0]);
    return words ? { words, value: role[1], n_queries: role[2] } : null;
  }
  function strongestPair({ streams }, { kind, queries, keys, strongest: strongest2 }, layer, head) {
    const [query, key, weight] = strongest2[layer][head];
    return {
      query: streams[queries].labels[query],
      key: streams[keys].labels[key],
      weight: weight ?? NaN,
      aside: kind === "self" && isInformative(query, key) ? ASIDE : ""
    };
  }
  function inWords2(data, group, layer, head) {
    const role = roleOf(data, group, layer, head);
    if (role) {
      const { words, value, n_queries } = role;
      const [name, at] = [`${group.name}.${words.name}`, `[${layer},${head}]`];
      const mean2 = traced(value, "role", name + at, 2);
      const over = traced(n_queries, "queries", `${name}_queries${at}`, 0);
      const queries = n_queries === 1 ? " query." : " queries.";
      return [`${words.says}, `, mean2, `${words.of} on average over `, over, queries];
    }
    if (data.streams[group.keys].labels.length < 2) return ["there is one token alone to attend to."];
    const { query, key, weight, aside } = strongestPair(data, group, layer, head);
    const [row, column] = group.strongest[layer][head];
    const address = `${group.sites[layer]}.pattern[${head},${row},${column}]`;
    const names = [html("bdi", null, query), " → ", html("bdi", null, key)];
    const number = traced(weight, "pair", address, 2);
    const pair = html("span", { "data-pair": `${row}-${column}` }, names, ", ", number);
    return ["no single role; its strongest pair is ", pair, `${aside}.`];
  }
  function says(data, group, layer, head) {
    const role = roleOf(data, group, layer, head);
    const does = role ? ` · ${role.words.text} ${digits(role.value, 2)}` : "";
    const { query, key, weight, aside } = strongestPair(data, group, layer, head);
    const pair = `strongest: ${query} → ${key} ${digits(weight, 3)}${aside}`;
    return `${headName(data, group, layer, head)}${does} · ${pair}`;
  }
  function sourceOf(data, group, layer, head) {
    const of = headName(data, group, layer, head);
    const role = roleOf(data, group, layer, head);
    if (role) {
      const { words, value } = role;
      const address2 = `${group.name}.${words.name}[${layer},${head}]`;
      return { address: address2, drawn: value, of: `${of} · ${words.text}` };
    }
    const [row, column, weight] = group.strongest[layer][head];
    const { query, key } = strongestPair(data, group, layer, head);
    const address = `${group.sites[layer]}.pattern[${head},${row},${column}]`;
    return { address, drawn: weight ?? NaN, of: `${of} · ${query} → ${key}` };
  }
  function headsOf({ n_layers, n_heads }) {
    return Array.from({ length: n_layers * n_heads }, (_, i) => ({
      layer: Math.floor(i / n_heads),
      head: i % n_heads
    }));
  }
  function rolesInWords(data, group) {
    const known = headsOf(group).flatMap(({ layer, head }) => {
      const role = roleOf(data, group, layer, head);
      return role ? [{ ...role, name: headName(data, group, layer, head) }] : [];
    });
    const parts = data.roles.flatMap(({ name, text }) => {
      const mine = known.filter(({ words }) => words.name === name);
      const top = mine.sort((a, b) => b.value - a.value).slice(0, MOST_NAMED);
      const heads = top.map((one) => `${one.name} ${digits(one.value, 2)}`).join(", ");
      return mine.length ? [`${text}: ${mine.length}, such as ${heads}. `] : [];
    });
    return parts.length ? `What heads do most on this sentence: ${parts.join("")}` : "";
  }
  function pairsInWords2(data, group) {
    const weight = ({ layer, head }) => group.strongest[layer][head][2] ?? 0;
    const top = headsOf(group).sort((a, b) => weight(b) - weight(a));
    const named = top.slice(0, MOST_NAMED).map(({ layer, head }) => says(data, group, layer, head));
    return `Strongest pairs: ${named.join("; ")}.`;
  }
  function chips(data, group, pitch, corner) {
    if (Math.min(pitch.x, pitch.y) < CHIP.fromTile) return [];
    return headsOf(group).flatMap(({ layer, head }) => {
      const role = roleOf(data, group, layer, head);
      if (!role) return [];
      const number = pitch.x < CHIP.withNumber ? "" : digits(role.value, 2);
      const words = `${role.words.chip} ${number}`.trim();
      const width = CHIP.letter * words.length + CHIP.pad;
      const address = `${group.name}.${role.words.name}[${layer},${head}]`;
      const from = { "data-number": "role", "data-address": address };
      const children = number ? [`${role.words.chip} `, svg("tspan", from, number)] : [role.words.chip];
      const [right, y] = [corner.x + head * pitch.x, corner.y + layer * pitch.y];
      const box = { x: right - width, y, width, height: CHIP.height };
      const place = { x: right - width / 2, y: y + CHIP.base, "text-anchor": "middle" };
      return svg("g", { class: "hl-chip" }, svg("rect", box), svg("text", place, children));
    });
  }

  // viz/live/microscope/overview.js
  var ALL_HEADS = "all heads";
  var MARGIN = { left: 30, top: 22, bars: 44 };
  var REST = "The stronger the colour, the larger the weight (its square root). A word on a map says what its head does most on this sentence. Bars: sharpness, the mean of each row’s maximum";
  var FIRST_ROW = ", in self-attention without the first row";
  var MOVES = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  var Overview = class {
    /** @type {OverviewData | undefined} */
    #data;
    /** @type {Palette} */
    #palette;
    /** @type {Chosen} */
    #chosen;
    #width = 0;
    /** @type {Grid[]} */
    #grids = [];
    #readOf = "";
    // what was read back last
    /**
     * @param {HTMLElement} host
     * @param {Lifetime} lifetime
     * @param {Actions} actions
     */
    constructor(host, lifetime, actions) {
      this.host = host;
      this.actions = actions;
      this.pictures = html("div");
      this.caption = html("p", { class: "hl-caption" });
      this.longest = html("p", { "aria-hidden": "true" });
      const said = html("div", { class: "hl-said" }, this.caption, this.longest);
      host.append(this.pictures, said);
      this.reader = new Reader(lifetime, ALL_HEADS);
      lifetime.watchSize(host, () => {
        if (this.#data) this.draw(this.#data, this.#chosen, this.#palette);
      });
    }
    /**
     * Draw the tiles of `data` with the chosen head framed.
     *
     * @param {OverviewData} data
     * @param {Partial<Chosen> & {layer: number, head: number}} chosen
     * @param {Palette} palette
     */
    draw(data, chosen, palette) {
      const width = this.host.clientWidth;
      const isSame = this.#data === data && this.#palette === palette && this.#width === width;
      this.#data = data;
      this.#palette = palette;
      this.#chosen = { attention: data.groups[0].name, ...chosen };
      this.#width = width;
      if (!width) return;
      if (!isSame) this.#build(data, palette, width);
      for (const grid of this.#grids) grid.frame(this.#chosen);
      this.rest();
    }
    /**
     * @param {OverviewData} data
     * @param {Palette} palette
     * @param {number} width
     */
    #build(data, palette, width) {
      const names = data.groups.map(({ name }) => name).join();
      if (names !== this.#grids.map(({ group }) => group.name).join()) {
        this.#grids = data.groups.map((group) => new Grid(this, group));
        const hasTitles = data.groups.length > 1;
        const parts = this.#grids.map(({ group, picture }) => [
          hasTitles ? html("h3", { class: "hl-grid-title" }, group.title) : null,
          picture
        ]);
        this.pictures.replaceChildren(...parts.flat().filter((part) => part !== null));
      }
      this.#grids.forEach((grid, i) => grid.build(data, data.groups[i], palette, width));
      const all = [this.#atRest(), ...this.#grids.flatMap((grid) => grid.sayings())];
      this.longest.textContent = all.reduce((a, b) => b.length > a.length ? b : a);
      this.#readSoon(data, palette);
    }
    /**
     * Another picture is there: what was said of the last one counts no more.
     *
     * @param {OverviewData} data
     * @param {Palette} palette
     */
    #readSoon(data, palette) {
      if (!data.has_independent) return this.reader.gone();
      const now = `${data.key} ${palette.background} ${this.#width}`;
      if (now !== this.#readOf) this.reader.withdraw();
      this.#readOf = now;
      const read = async (tally) => {
        for (const { group, picture } of this.#grids)
          await readOverview(data, group, picture, palette, tally);
      };
      this.reader.soon({ token: data.key, allowed: data.allowed_error, read });
    }
    /** Say what there is to see while nobody points at a head. */
    rest() {
      this.say(this.#atRest());
    }
    #atRest() {
      const hasSelf = this.#data?.groups.some(({ kind }) => kind === "self");
      return `${REST}${hasSelf ? FIRST_ROW : ""}.`;
    }
    /** @param {string} words */
    say(words) {
      this.caption.textContent = words;
    }
  };
  var Grid = class {
    /** @type {OverviewData} */
    data;
    /** The frame around the chosen head, and the one around that under the mouse. */
    #chosenFrame = svg("rect", { class: "hl-frame" });
    #hoverFrame = svg("rect", { class: "hl-frame hl-frame-hover", visibility: "hidden" });
    /** Pixels from one tile to the next. */
    #pitch = { x: 0, y: 0 };
    /** @type {Chosen} */
    #chosen;
    /**
     * @param {Overview} overview
     * @param {Group} group
     */
    constructor(overview, group) {
      this.overview = overview;
      this.group = group;
      this.picture = svg("svg", {
        class: "hl-overview",
        tabindex: 0,
        role: "application",
        "aria-roledescription": "map of heads"
      });
      this.picture.addEventListener("pointermove", (event) => this.#hover(event));
      this.picture.addEventListener("pointerleave", () => this.#rest());
      this.picture.addEventListener("click", (event) => this.#click(event));
      this.picture.addEventListener("keydown", (event) => this.#step(event));
    }
    /**
     * Draw the tiles of a group in a host of some width.
     *
     * @param {OverviewData} data
     * @param {Group} group
     * @param {Palette} palette
     * @param {number} hostWidth
     */
    build(data, group, palette, hostWidth) {
      this.data = data;
      this.group = group;
      const { n_layers, n_heads } = group;
      const [, rows, columns] = group.tiles.shape;
      const room = hostWidth - MARGIN.left - MARGIN.bars - 2;
      this.#pitch = pitchOf(rows / columns, room / n_heads);
      const [width, height] = [this.#pitch.x * n_heads, this.#pitch.y * n_layers];
      const box = [MARGIN.left + width + MARGIN.bars, MARGIN.top + height + MARGIN.bars];
      setAll(this.picture, { viewBox: `0 0 ${box[0]} ${box[1]}`, width: box[0], height: box[1] });
      const gaps = { x: GAP / (this.#pitch.x - GAP), y: GAP / (this.#pitch.y - GAP) };
      const isSmooth = columns > this.#pitch.x * devicePixelRatio;
      const image = svg("image", {
        href: atlas(group, data.tile_codes, palette, gaps),
        ...{ x: MARGIN.left, y: MARGIN.top, width, height },
        preserveAspectRatio: "none",
        style: `image-rendering:${isSmooth ? "auto" : "pixelated"}`
      });
      const frames = [this.#hoverFrame, this.#chosenFrame];
      const corner = { x: MARGIN.left + this.#pitch.x - GAP, y: MARGIN.top };
      const words = chips(data, group, this.#pitch, corner);
      this.picture.replaceChildren(image, ...this.#labels(), ...this.#bars(), ...words, ...frames);
      this.picture.setAttribute("aria-label", this.#alternative());
    }
    #labels() {
      const { n_layers, n_heads } = this.group;
      const { x: wide2, y: high } = this.#pitch;
      const text = (x, y, anchor, words) => svg("text", { x, y, "text-anchor": anchor }, words);
      const layers = spaced(n_layers, high).map(
        (i) => text(MARGIN.left - 6, MARGIN.top + (i + 0.5) * high + 4, "end", `L${i}`)
      );
      const heads = spaced(n_heads, wide2).map(
        (i) => text(MARGIN.left + (i + 0.5) * wide2, MARGIN.top - 7, "middle", `H${i}`)
      );
      return [...layers, ...heads];
    }
    /** Mean sharpness of each layer, right of its row, and of each head, below its column. */
    #bars() {
      const { n_layers, n_heads } = this.group;
      const { x: wide2, y: high } = this.#pitch;
      const [right, below] = [MARGIN.left + wide2 * n_heads + 4, MARGIN.top + high * n_layers + 4];
      const most = MARGIN.bars - 8;
      const layers = Array.from({ length: n_layers }, (_, i) => {
        const height = Math.min(high * 0.5, 14);
        const y = MARGIN.top + (i + 0.5) * high - height / 2;
        const width = most * this.#layerSharpness(i);
        return svg("rect", { class: "hl-bar", x: right, y, height, width });
      });
      const heads = Array.from({ length: n_heads }, (_, i) => {
        const width = Math.min(wide2 * 0.5, 14);
        const x = MARGIN.left + (i + 0.5) * wide2 - width / 2;
        const height = most * this.#headSharpness(i);
        return svg("rect", { class: "hl-bar", x, y: below, width, height });
      });
      return [...layers, ...heads];
    }
    /** All that can be said of heads here. */
    sayings() {
      return headsOf(this.group).map(({ layer, head }) => says(this.data, this.group, layer, head));
    }
    /** @param {number} layer */
    #layerSharpness(layer) {
      return mean(this.group.sharpness[layer].map((value) => value ?? 0));
    }
    /** @param {number} head */
    #headSharpness(head) {
      return mean(this.group.sharpness.map((layer) => layer[head] ?? 0));
    }
    /**
     * Frame the chosen head, if it is of this group.
     *
     * @param {Chosen} chosen
     */
    frame(chosen) {
      this.#chosen = chosen;
      const isMine = chosen.attention === this.group.name;
      this.#chosenFrame.setAttribute("visibility", isMine ? "visible" : "hidden");
      this.#place(this.#chosenFrame, chosen.layer, chosen.head);
      this.#hoverFrame.setAttribute("visibility", "hidden");
    }
    /**
     * @param {Element} node
     * @param {number} layer
     * @param {number} head
     */
    #place(node, layer, head) {
      const { x: width, y: height } = this.#pitch;
      const x = MARGIN.left + head * width - GAP / 2;
      setAll(node, { x, y: MARGIN.top + layer * height - GAP / 2, width, height });
    }
    /**
     * What a place on the picture is: a head, a whole layer or head number for a bar, or nothing.
     *
     * @param {MouseEvent} event
     * @returns {{layer?: number, head?: number}}
     */
    #at(event) {
      const box = this.picture.getBoundingClientRect();
      const shrunk = this.picture.viewBox.baseVal.width / box.width || 1;
      const x = (event.clientX - box.left) * shrunk - MARGIN.left;
      const y = (event.clientY - box.top) * shrunk - MARGIN.top;
      const [head, layer] = [Math.floor(x / this.#pitch.x), Math.floor(y / this.#pitch.y)];
      const isLayer = layer >= 0 && layer < this.group.n_layers;
      const isHead = head >= 0 && head < this.group.n_heads;
      if (isLayer && isHead) return { layer, head };
      if (isLayer && x > 0) return { layer };
      return isHead && y > 0 ? { head } : {};
    }
    /** @param {MouseEvent} event */
    #hover(event) {
      const { layer, head } = this.#at(event);
      const isTile = layer !== void 0 && head !== void 0;
      this.#hoverFrame.setAttribute("visibility", isTile ? "visible" : "hidden");
      if (isTile) {
        this.#place(this.#hoverFrame, layer, head);
        this.overview.say(says(this.data, this.group, layer, head));
        this.overview.actions.near?.({ attention: this.group.name, layer, head });
        this.#pointAt(sourceOf(this.data, this.group, layer, head));
      } else if (layer !== void 0) {
        const value = digits(this.#layerSharpness(layer), 2);
        this.overview.say(`L${layer}: mean sharpness of its heads ${value}. Click for the mean map.`);
        const address = `${this.group.name}.layer_sharpness[${layer}]`;
        this.#pointAt({ address, drawn: this.#layerSharpness(layer), of: `L${layer}` });
      } else if (head !== void 0) {
        const value = digits(this.#headSharpness(head), 2);
        this.overview.say(`H${head}: mean sharpness over layers ${value}. Click for the mean map.`);
        const address = `${this.group.name}.head_sharpness[${head}]`;
        this.#pointAt({ address, drawn: this.#headSharpness(head), of: `H${head}` });
      } else this.#rest();
    }
    /**
     * Who asks may hear where the number comes from that is said of what the mouse is on.
     *
     * @param {{address: string, drawn: number, of: string}} number
     */
    #pointAt(number) {
      if (!this.data.has_independent) return pointAway();
      point({ run: this.data.key, host: this.picture, ...number });
    }
    #rest() {
      this.#hoverFrame.setAttribute("visibility", "hidden");
      this.overview.rest();
    }
    /** @param {MouseEvent} event */
    #click(event) {
      const attention = this.group.name;
      const { layer, head } = this.#at(event);
      const { open: open3, openMean } = this.overview.actions;
      if (layer !== void 0 && head !== void 0) open3({ attention, layer, head });
      else if (layer !== void 0) openMean({ attention, layer }, "layer");
      else if (head !== void 0) openMean({ attention, head }, "head");
    }
    /** @param {KeyboardEvent} event */
    #step(event) {
      const move = MOVES[event.key];
      if (!move) return;
      event.preventDefault();
      const { name, n_layers, n_heads } = this.group;
      const isMine = this.#chosen.attention === name;
      const from = isMine ? this.#chosen : { layer: -move[0], head: -move[1] };
      const layer = Math.min(Math.max(from.layer + move[0], 0), n_layers - 1);
      const head = Math.min(Math.max(from.head + move[1], 0), n_heads - 1);
      this.overview.actions.open({ attention: name, layer, head });
      this.overview.say(says(this.data, this.group, layer, head));
    }
    #alternative() {
      const { n_layers, n_heads } = this.group;
      return `All ${n_layers} layers and ${n_heads} heads as small maps; arrow keys choose one. ${rolesInWords(this.data, this.group)}${pairsInWords2(this.data, this.group)}`;
    }
  };

  // viz/live/core/badge.js
  var COMPARED = "Read back from the page, and compared with an independent float64 run from the model’s files";
  function badge(kind = "hl-badge") {
    return html("output", { class: kind, "data-check": "" });
  }
  function withdraw(node, isOther) {
    node.dataset.check = "";
    if (!isOther) return;
    node.classList.remove("hl-bad");
    node.textContent = "comparing with an independent run …";
  }
  function showScreenCheck(node, { error, n, address }, allowed, of = "numbers") {
    const found = showCheck(node, error, allowed);
    const count = n.toLocaleString("en");
    node.title = error <= allowed || !address ? COMPARED : `${COMPARED}: off at ${address}`;
    node.textContent = error <= allowed ? `✓ ${count} ${of} verified (max error ${error ? error.toExponential(0) : 0})` : `✗ on screen, error ${found === null ? "not a number" : error.toExponential(0)}: not the model’s numbers`;
    return found;
  }
  function showCheck(node, error, allowed) {
    const passed = error <= allowed;
    const isNumber = !Number.isNaN(error);
    const shown2 = isNumber ? error.toExponential(0) : "not a number";
    node.classList.toggle("hl-bad", !passed);
    node.dataset.check = String(error);
    node.title = "";
    node.textContent = passed ? `✓ recomputed in your browser (max error ${shown2})` : `✗ recomputed in your browser, error ${shown2}: not the model’s numbers`;
    return isNumber ? error : null;
  }

  // viz/live/microscope/reading/truth.js
  function placeIn({ group }, title) {
    const named = /L(\d+) H(\d+)$/.exec(title);
    if (!named) return null;
    const [layer, head] = [Number(named[1]), Number(named[2])];
    return { layer, head, site: group.sites[layer] };
  }
  function rowsOf({ rows, columns, values }) {
    return Array.from(
      { length: rows },
      (_, i) => Array.from(values.subarray(i * columns, (i + 1) * columns))
    );
  }
  async function truthOf(scope, { run, address, mask, between: between2, isInWords }) {
    const key = run ?? scope.data.key;
    const streams = between2 ?? scope.between;
    const [weights, open3] = await Promise.all([address, mask].map((name) => independent(key, name)));
    const texts = await textsOf(scope, key);
    const truth = {
      address,
      weights: rowsOf(weights),
      open: rowsOf(open3).map((row) => row.map(Boolean)),
      ...texts
    };
    const [ofRows, ofColumns] = [streams.queries.words, streams.keys.words];
    return isInWords && ofRows && ofColumns ? inWords3(truth, ofRows, ofColumns) : truth;
  }
  async function truthOfHead(scope, { title, ...of }) {
    const place = placeIn(scope, title);
    if (!place) return null;
    const { site, head } = place;
    return truthOf(scope, {
      ...{ address: `${site}.pattern[${head}]`, mask: `${site}.mask[${head}]` },
      ...of
    });
  }
  async function textsOf({ data, group }, key) {
    const names = Object.keys(data.streams);
    const of = (name) => independentTexts(key, name === names[names.length - 1] ? "last" : "first");
    return { rows: await of(group.queries), columns: await of(group.keys) };
  }
  function inWords3({ address, weights, open: open3, rows, columns }, ofRows, ofColumns) {
    const [pieces, parts] = [membersOf(ofRows), membersOf(ofColumns)];
    const weight = (i, j) => {
      let sum = 0;
      for (const row of pieces[i]) for (const column of parts[j]) sum += weights[row][column];
      return sum / pieces[i].length;
    };
    return {
      address,
      weights: pieces.map((_, i) => parts.map((__, j) => weight(i, j))),
      open: pieces.map((mine) => parts.map((its) => mine.some((i) => its.some((j) => open3[i][j])))),
      rows: pieces.map((mine) => joined(mine, rows)),
      columns: parts.map((its) => joined(its, columns))
    };
  }
  function membersOf(groups) {
    const members = [];
    groups.forEach((group, i) => (members[group] ??= []).push(i));
    return members;
  }
  function joined(members, texts) {
    const parts = members.map((i) => texts[i]);
    return parts.every((text) => text !== null) ? parts.join("") : null;
  }
  function softmaxOf(scores, open3) {
    return scores.map((row, i) => {
      const top = row.reduce((most, x, j) => open3[i][j] && x > most ? x : most, -Infinity);
      const powers = row.map((x, j) => open3[i][j] ? Math.exp(x - top) : 0);
      const total = powers.reduce((sum, x) => sum + x, 0);
      return total ? powers.map((x) => x / total) : powers;
    });
  }
  function bitsOf(row) {
    return -row.reduce((sum, p) => p > 0 ? sum + p * Math.log2(p) : sum, 0);
  }
  function meanOf(values) {
    const all = Array.from(values);
    return all.reduce((sum, x) => sum + x, 0) / all.length;
  }

  // viz/live/microscope/reading/words.js
  var ROUNDING2 = 1e-5;
  async function readDoes(scope, does, tally) {
    const title = scope.title.textContent ?? "";
    const place = placeIn(scope, title);
    if (!place) return tally.hold(false, scope.group.name);
    const { data, group } = scope;
    readFrame(scope, place, tally);
    const all = await measuresOf(data.key, group, data.streams[group.queries].kind === "text");
    const at = place.layer * group.n_heads + place.head;
    if (does.querySelector("[data-pair]")) {
      tally.hold(!hasClearRole(all, at), group.name);
      return readPair(scope, does, tally, title);
    }
    const role = data.roles.find(({ says: says2 }) => does.textContent?.includes(`: ${says2}, `))?.name;
    if (!role) return;
    const address = `${group.name}.${role}`;
    const { values } = await independent(data.key, `${address}_queries`);
    tally.hold(isLargest(all, role, at), address);
    tally.add(errorOfNumber(printed(does, "role"), all[role]?.[at] ?? NaN), address);
    tally.add(errorOfNumber(printed(does, "queries"), values[at]), `${address}_queries`);
  }
  function readFrame({ overview, data, group }, { layer, head }, tally) {
    const pictures = Array.from(overview.host.querySelectorAll(".hl-overview"));
    const framed = pictures.flatMap((picture, i) => {
      const frame = picture.querySelector(".hl-frame:not(.hl-frame-hover):not([visibility=hidden])");
      const image = picture.querySelector("image");
      if (!frame || !image) return [];
      const [row, column] = placeOn(image, frame, data.groups[i]);
      return [`${i} ${row} ${column}`];
    });
    const isRight = framed.join() === `${data.groups.indexOf(group)} ${layer} ${head}`;
    if (pictures.length) tally.hold(isRight, `${group.name}.pattern[${head}]`);
  }
  function placeOn(image, frame, { n_layers, n_heads }) {
    const of = (node, side) => Number(node.getAttribute(side));
    const middle = (side, length) => (of(frame, side) + of(frame, length) / 2 - of(image, side)) / of(image, length);
    return [Math.floor(n_layers * middle("y", "height")), Math.floor(n_heads * middle("x", "width"))];
  }
  function printed(host, name) {
    return host.querySelector(`[data-number=${name}]`)?.textContent ?? "";
  }
  async function readPair(scope, does, tally, title) {
    const truth = await truthOfHead(scope, { title });
    const node = does.querySelector("[data-pair]");
    if (!truth || !node) return;
    const { address, weights, rows, columns } = truth;
    const [query, key] = (node.getAttribute("data-pair") ?? "").split("-").map(Number);
    const [from = "", to = ""] = Array.from(node.querySelectorAll("bdi"), (x) => x.textContent ?? "");
    const weight = weights[query]?.[key] ?? NaN;
    tally.hold(saysText(from, rows[query] ?? null) && saysText(to, columns[key] ?? null), address);
    tally.add(errorOfNumber(printed(node, "pair"), weight), address);
    const isSelf = scope.between.kind === "self";
    const most = (isAny) => Math.max(
      0,
      ...weights.map(
        (row, i) => row.reduce((top, p, j) => isAny || j && j !== i ? Math.max(top, p) : top, 0)
      )
    );
    tally.hold(weight >= (most(!isSelf) || most(true)) - ROUNDING2, address);
  }

  // viz/live/microscope/verdict.js
  var REST_MS2 = 120;
  var IDLE_MS2 = 400;
  var Verdict = class {
    #cancel = () => {
    };
    #reported = "";
    /** How often what is on screen has changed. */
    #round = 0;
    /** @param {Microscope} scope */
    constructor(scope) {
      this.scope = scope;
      this.node = badge();
    }
    /** Whether there is an independent run to compare with. */
    get #canRead() {
      const { data, isOffline } = this.scope;
      return data.has_independent && !isOffline;
    }
    /** Another head is loaded. */
    headChanged() {
      this.#round += 1;
      this.node.hidden = this.scope.settings.view === "summary" && !this.#canRead;
      if (this.#canRead) withdraw(this.node, true);
      else this.#say();
    }
    /**
     * What is on screen is no longer what was compared.
     *
     * @param {boolean} [isOther] whether all of it is another thing, not what the mouse is on
     */
    screenChanged(isOther = false) {
      this.#cancel();
      this.#round += 1;
      if (!this.#canRead) return;
      withdraw(this.node, isOther);
      this.#cancel = this.scope.lifetime.timeout(() => this.#compare(), REST_MS2);
    }
    /** Nothing is on screen. */
    clear() {
      this.#cancel();
      this.#round += 1;
      this.node.textContent = "";
    }
    /** All of a view is drawn: say what there is to say of it. */
    viewDrawn() {
      if (this.#canRead) this.screenChanged();
      else this.#say();
    }
    /** The browser's own check of the head. */
    #say() {
      const { data, loaded } = this.scope;
      this.#report(showCheck(this.node, loaded.error, data.allowed_error));
    }
    /** Read the screen back and compare; without an answer there is the browser's own check alone. */
    async #compare() {
      const round = this.#round;
      const { data, lifetime, loaded } = this.scope;
      await lifetime.rest(IDLE_MS2);
      if (round !== this.#round || this.scope.isBusy || lifetime.isOver) return;
      const found = await this.#read().catch(() => null);
      if (round !== this.#round || this.scope.isBusy || lifetime.isOver) return;
      if (!found) return this.#say();
      const both = { error: Math.max(loaded.error, found.error), n: found.n };
      this.#report(showScreenCheck(this.node, both, data.allowed_error), found.address);
    }
    /** @returns {Promise<Found>} */
    async #read() {
      const { data, view, settings, does } = this.scope;
      const tally = new Tally(data.allowed_error);
      await view?.read(tally);
      if (settings.view !== "summary") await readDoes(this.scope, does, tally);
      return tally.found;
    }
    /**
     * Tell Python once for each head, and where the verdict is another one: each report runs the page
     * again, which no movement of the mouse may cause.
     *
     * @param {number | null} error
     * @param {string} [address] the first array that is off
     */
    #report(error, address = "") {
      const { settings, data, group, conversation } = this.scope;
      const place = { key: data.key, site: group.sites[settings.layer], head: settings.head };
      const passed = error !== null && error <= data.allowed_error;
      const verdict = JSON.stringify([place, passed, passed || address]);
      if (verdict === this.#reported) return;
      this.#reported = verdict;
      conversation.report("checked", { ...place, error, address });
    }
  };

  // viz/live/core/figure.js
  var TICK_ROOM = 12;
  var MOST_STROKES = 48;
  var LETTER2 = 6.3;
  var MOST_LETTERS2 = 16;
  var STRETCH = 1.6;
  var ZOOMED_FROM = 40;
  var BAR = 32;
  function traces({ values, scale, hidden, blank, sides }, palette, barLength) {
    const isHidden = (i) => Boolean(hidden?.[i]);
    const isOut = (i) => isHidden(i) || Boolean(blank?.[i]);
    const shown2 = {
      type: "heatmap",
      z: cells(values, (value, i) => isOut(i) || !Number.isFinite(value) ? NaN : value),
      zmin: scale.low,
      zmax: scale.high,
      hoverinfo: "none",
      colorscale: plotlyScale(scale.signed ? palette.diverging : palette.sequential),
      colorbar: colorBar(scale, palette, barLength, sides ? BAR + 10 : 8)
    };
    const isBroken = (value, i) => !Number.isFinite(value) && !isHidden(i);
    const extra = [];
    if (hidden) extra.push(plain(values, (_, i) => isHidden(i), palette.masked));
    if (values.values.some(isBroken)) extra.push(plain(values, isBroken, palette.bad));
    return [shown2, ...extra];
  }
  function plain(values, test, color) {
    const z = cells(values, (value, i) => test(value, i) ? 1 : NaN);
    const colorscale = plotlyScale([color, color]);
    return { type: "heatmap", z, colorscale, showscale: false, hoverinfo: "none" };
  }
  function cells({ rows, columns, values }, change) {
    return Array.from(
      { length: rows },
      (_, row) => Float32Array.from({ length: columns }, (_2, column) => {
        const i = row * columns + column;
        return change(values[i], i);
      })
    );
  }
  function colorBar({ name, low, high }, palette, length, below) {
    return {
      title: { text: name, side: "top", font: { color: palette.muted, size: 12 } },
      orientation: "h",
      x: 0,
      xanchor: "left",
      y: 0,
      yanchor: "top",
      ypad: below,
      xpad: 0,
      thickness: 9,
      len: length,
      lenmode: "pixels",
      outlinewidth: 0,
      tickvals: [low, (low + high) / 2, high],
      tickformat: ".3~g",
      tickfont: { color: palette.muted, size: 12 }
    };
  }
  function layout(picture, palette, width, sizes) {
    const { values, hidden, blank, revision } = picture;
    const isOut = hidden && values.values.map((_, i) => Number(hidden[i] || blank?.[i] || 0));
    const { margin, size, height } = measures(picture, width, sizes);
    const transparent = "rgba(0,0,0,0)";
    return {
      width,
      height: margin.t + height + margin.b,
      autosize: false,
      hovermode: (
        /** @type {const} */
        false
      ),
      dragmode: sizes.drag ?? (values.columns > ZOOMED_FROM ? "zoom" : false),
      uirevision: revision,
      font: { family: palette.font, color: palette.text, size: 13 },
      paper_bgcolor: transparent,
      plot_bgcolor: transparent,
      margin,
      modebar: { bgcolor: transparent, color: palette.muted, activecolor: palette.accent },
      xaxis: {
        ...axisOf(picture.columnTitle, picture.columnLabels, size, palette),
        side: "top",
        tickangle: -50,
        range: [-0.5, values.columns - 0.5]
      },
      yaxis: {
        ...axisOf(picture.rowTitle, picture.rowLabels, height / values.rows, palette),
        range: [values.rows - 0.5, -0.5]
      },
      shapes: isOut ? [hatch(isOut, values.rows, values.columns, palette)] : []
    };
  }
  function measures({ values, rowLabels, columnLabels, sides }, width, sizes) {
    const beside = sides ? BAR + 8 : 0;
    const left = 30 + LETTER2 * longest(rowLabels);
    const room = Math.max(width - left - 10 - beside, 80);
    const size = Math.min(sizes.cell * 1.6, room / values.columns);
    const margin = {
      l: left,
      r: Math.max(width - left - size * values.columns, 8),
      t: 30 + 0.8 * LETTER2 * longest(columnLabels),
      b: 58 + beside,
      pad: 0,
      autoexpand: false
      // room made for the colour bar would take it from the cells
    };
    const square = size * values.rows;
    const free = (sizes.room ?? 0) - margin.t - margin.b;
    const height = sizes.room ? Math.min(Math.max(free, square / STRETCH), STRETCH * square) : Math.min(square, Math.max(sizes.most, 120));
    return { margin, size, height };
  }
  function axisOf(title, labels, pixels, palette) {
    return {
      showgrid: false,
      zeroline: false,
      tickfont: { color: palette.muted, size: 12 },
      ticks: "",
      automargin: false,
      title: { text: title, font: { color: palette.muted, size: 13 }, standoff: 4 },
      ...ticks(labels, pixels)
    };
  }
  function unnamed(frame) {
    const bare = { showticklabels: false, title: void 0 };
    return { ...frame, xaxis: { ...frame.xaxis, ...bare }, yaxis: { ...frame.yaxis, ...bare } };
  }
  function ticks(labels, pixels) {
    const step = Math.ceil(TICK_ROOM / pixels);
    const values = labels.map((_, i) => i).filter((i) => i % step === 0);
    return { tickmode: "array", tickvals: values, ticktext: values.map((i) => labels[i]) };
  }
  function longest(labels) {
    const lengths = labels.map((label) => label.replace(/&[#\w]+;/g, "x").length);
    return Math.min(MOST_LETTERS2, Math.max(1, ...lengths));
  }
  function span(axis, i, share) {
    const [start, end] = [i - share / 2, i + share / 2].map((at) => axis._offset + axis.c2p(at));
    return [start, end - start];
  }
  function isInside(axis, i) {
    const at = axis.c2p(i);
    return at >= 0 && at <= axis._length;
  }
  function hatch(hidden, rows, columns, palette) {
    const strokes = [];
    const step = Math.ceil((rows + columns) / (2 * MOST_STROKES));
    for (let total = 0; total < rows + columns - 1; total += step) {
      let start = null;
      const last2 = Math.max(0, total - columns + 1);
      for (let row = Math.min(total, rows - 1); row >= last2 - 1; row--) {
        const column = total - row;
        const isHidden = row >= last2 && hidden[row * columns + column];
        if (isHidden && !start) start = [column - 0.5, row + 0.5];
        if (!isHidden && start) {
          strokes.push(`M${start[0]},${start[1]}L${column - 0.5},${row + 0.5}`);
          start = null;
        }
      }
    }
    const line = { color: palette.hatch, width: 1 };
    return { type: "path", path: strokes.join("") || "M0,0", line, layer: "above" };
  }

  // viz/live/core/names.js
  var [ROW_DOWN, COLUMN_RIGHT] = [4, 3];
  function namesAt(names, { xaxis, yaxis }) {
    return Array.from(names.querySelectorAll("[class^=hl-tick-]"), (node) => {
      const isRow = node.classList.contains("hl-tick-row");
      const moved = /translate\(([\d.]+)/.exec(node.getAttribute("transform") ?? "")?.[1];
      const pixels = isRow ? Number(node.getAttribute("y")) - ROW_DOWN : Number(moved) - COLUMN_RIGHT;
      const axis = isRow ? yaxis : xaxis;
      const at = Math.round(axis.p2c(pixels - axis._offset));
      return { axis: isRow ? "row" : "column", at, label: node.textContent ?? "" };
    });
  }

  // viz/live/core/plotly.js
  var NO_CLOUD = { showSendToCloud: false, plotlyServerURL: "" };
  var page = (
    /** @type {{Plotly?: Plotly}} */
    globalThis
  );
  var loading;
  function loadPlotly() {
    loading ??= page.Plotly ? Promise.resolve(page.Plotly) : scriptOfPlotly();
    return loading;
  }
  function scriptOfPlotly() {
    const src = new URL("live/plotly.min.js", document.baseURI).href;
    const asked = document.querySelector("#plotly:not([data-over])");
    const script = asked ?? html("script", { id: "plotly", src });
    return new Promise((resolve, reject) => {
      const over = () => {
        script.remove();
        if (page.Plotly) return resolve(page.Plotly);
        loading = void 0;
        return reject(new Error("plotly.js did not load from the app; heat maps need it"));
      };
      script.addEventListener("load", over);
      script.addEventListener("error", over);
      if (!asked) document.head.append(script);
    });
  }

  // viz/live/core/wall.js
  function enlargement(element) {
    return element.getBoundingClientRect().width / element.offsetWidth || 1;
  }
  function roomOnWall(element) {
    const main = document.querySelector('[data-testid="stMain"]');
    if (!(main instanceof HTMLElement) || !document.querySelector(".hl-presenting")) return 0;
    const above = element.getBoundingClientRect().top - main.getBoundingClientRect().top;
    return main.clientHeight - above / enlargement(main) - main.scrollTop;
  }

  // viz/live/core/heatmap.js
  var UNESCAPED = (
    /** @type {Record<string, string>} */
    {
      "&amp;": "&",
      "&lt;": "<",
      "&gt;": ">",
      "&#36;": "$",
      "&#37;": "%"
    }
  );
  var CLICK_SLACK = 4;
  var HeatMap = class {
    /** What is drawn. @type {Picture | undefined} */
    picture;
    /** @type {Palette} */
    palette;
    /** @type {Frame} */
    #frame;
    #width = 0;
    #listens = false;
    /** What the names on screen depend on. @type {unknown[]} */
    #named = [];
    /** @type {[row: number | null, column: number, isPinned: boolean] | undefined} */
    #marked;
    /** @type {Promise<unknown>} */
    #drawing = Promise.resolve();
    /**
     * @param {HTMLElement} host
     * @param {Lifetime} lifetime
     * @param {Options} [options]
     */
    constructor(host, lifetime, options = {}) {
      const { cell = 34, most = 560, drag, over = () => {
      }, name } = options;
      this.host = host;
      this.lifetime = lifetime;
      this.over = over;
      this.name = name;
      this.sizes = { cell, most, drag };
      this.chart = /** @type {Chart} */
      /** @type {HTMLElement} */
      html("div", { class: "hl-chart" });
      this.guides = ["row", "column", "cell"].map(
        (kind) => html("div", { class: `hl-guide hl-guide-${kind}`, hidden: true })
      );
      this.sides = svg("svg", { class: "hl-sides", "aria-hidden": "true" });
      this.names = svg("svg", { class: "hl-sides hl-names", "aria-hidden": "true" });
      host.append(this.chart, this.names, this.sides, ...this.guides);
      this.#listen(options);
      lifetime.watchSize(host, () => this.#resized());
      lifetime.keep(() => this.#purge());
    }
    /** @param {Options} options */
    #listen({ point: point2, pick, leave }) {
      const { host } = this;
      if (point2) host.addEventListener("pointermove", (event) => this.#moved(event, point2));
      if (leave) host.addEventListener("pointerleave", leave);
      if (!pick) return;
      const pressed = (down) => {
        const released = (up) => this.#released(down, up, pick);
        this.lifetime.listen(window, "pointerup", released, { capture: true, once: true });
      };
      host.addEventListener("pointerdown", pressed, true);
    }
    /**
     * Draw a picture; the promise ends when it is on screen.
     *
     * @param {Picture} picture
     * @param {Palette} palette
     */
    async draw(picture, palette) {
      const Plotly = await loadPlotly();
      if (this.lifetime.isOver) return;
      this.picture = picture;
      this.palette = palette;
      this.#width = this.host.clientWidth;
      const sizes = { ...this.sizes, room: roomOnWall(this.host) };
      const frame = layout(picture, palette, this.#width, sizes);
      const barLength = Math.min(190, this.#width - frame.margin.l - frame.margin.r);
      this.#frame = frame;
      const data = traces(picture, palette, barLength);
      this.#drawing = Plotly.react(this.chart, data, unnamed(frame), this.#config(picture));
      await this.#drawing;
      if (this.lifetime.isOver) return;
      if (!this.#listens) this.chart.on("plotly_relayout", () => this.drawOverlays());
      this.#listens = true;
      this.drawOverlays();
    }
    /** @param {Picture} picture */
    #config({ values }) {
      const chosenElsewhere = this.sizes.drag === void 0 ? [] : ["zoom2d", "pan2d"];
      return {
        ...NO_CLOUD,
        displaylogo: false,
        displayModeBar: values.columns > ZOOMED_FROM ? "hover" : false,
        doubleClick: chosenElsewhere.length ? false : "reset+autosize",
        // cells may be clicked fast
        showTips: !chosenElsewhere.length,
        // Plotly's tip is that a double click zooms out
        modeBarButtonsToRemove: [
          ...["toImage", "select2d", "lasso2d", "autoScale2d"],
          ...chosenElsewhere
        ]
      };
    }
    /** Plotly must not be in the middle of a drawing when its chart is let go. */
    async #purge() {
      await this.#drawing.catch(() => {
      });
      if (this.chart._fullLayout) (await loadPlotly()).purge(this.chart);
    }
    /**
     * The values on screen, as Plotly worked them out to be drawn: row by row, NaN where masked.
     *
     * @returns {ArrayLike<number>[]}
     */
    get drawnCells() {
      return this.#calculated.map((row) => Float64Array.from(row, (value) => value ?? NaN));
    }
    /** @returns {(number | undefined)[][]} */
    get #calculated() {
      return this.chart.calcdata?.[0]?.[0]?.z ?? [];
    }
    /**
     * The value on screen in one cell; nothing where there is none, or before it is drawn.
     *
     * @param {number} row
     * @param {number} column
     */
    drawnAt(row, column) {
      return this.#calculated[row]?.[column];
    }
    /** The labels on screen, each with the row or the column that it stands at. */
    get drawnNames() {
      const drawn = this.chart._fullLayout;
      return drawn ? namesAt(this.names, drawn) : [];
    }
    drawOverlays() {
      const drawn = this.chart._fullLayout;
      if (!drawn || !this.picture) return;
      this.#drawNames(this.picture, drawn);
      this.#drawSides(this.picture, drawn);
      if (this.#marked) this.mark(...this.#marked);
      this.over();
    }
    /**
     * Labels and titles of the axes. Plotly takes 40 ms for 64 labels a side, each time; here they stay
     * until they change.
     *
     * @param {Picture} picture
     * @param {DrawnLayout} drawn
     */
    #drawNames({ rowLabels, columnLabels, rowTitle, columnTitle }, { xaxis, yaxis, width, height }) {
      const named = [rowLabels, columnLabels, columnTitle, `${xaxis.range}`, `${yaxis.range}`];
      named.push(String(width), String(height));
      if (this.#named.length && this.#named.every((value, i) => value === named[i])) return;
      this.#named = named;
      const [left, top] = [xaxis._offset, yaxis._offset];
      const rows = shownLabels(rowLabels, yaxis).map(({ label, at, i }) => {
        const place = { class: "hl-tick-row", x: left - 6, y: at + ROW_DOWN, "text-anchor": "end" };
        return svg("text", { ...place, ...this.#clicks("row", i) }, label);
      });
      const columns = shownLabels(columnLabels, xaxis).map(({ label, at, i }) => {
        const transform = `translate(${at + COLUMN_RIGHT} ${top - 6}) rotate(-50)`;
        const place = { class: "hl-tick-column", transform };
        return svg("text", { ...place, ...this.#clicks("column", i) }, label);
      });
      const turned = `translate(13 ${top + yaxis._length / 2}) rotate(-90)`;
      const title = { class: "hl-axis", "text-anchor": "middle" };
      setAll(this.names, { width, height });
      this.names.replaceChildren(
        ...rows,
        ...columns,
        svg("text", { ...title, x: left + xaxis._length / 2, y: 13 }, columnTitle),
        svg("text", { ...title, transform: turned }, rowTitle)
      );
    }
    /**
     * What makes a label a thing to click, where someone listens.
     *
     * @param {"row" | "column"} axis
     * @param {number} i
     */
    #clicks(axis, i) {
      return this.name && { "data-clicks": true, onclick: () => this.name?.(axis, i) };
    }
    /**
     * Bars beside the map, one per row and one per column; a click picks the row or column.
     *
     * @param {Picture} picture
     * @param {DrawnLayout} drawn
     */
    #drawSides({ sides }, { xaxis, yaxis, width, height }) {
      this.sides.replaceChildren();
      if (!sides) return;
      setAll(this.sides, { width, height });
      const [right, below] = [xaxis._offset + xaxis._length + 4, yaxis._offset + yaxis._length + 4];
      const bar = (box, tip, pick) => this.sides.append(
        svg("rect", { class: "hl-bar", ...box, onclick: pick }, svg("title", null, tip))
      );
      sides.rows.forEach(({ share, tip }, i) => {
        if (!isInside(yaxis, i)) return;
        const [y, thick] = span(yaxis, i, 0.8);
        const box = { x: right, y, height: thick, width: Math.max(1, BAR * share) };
        bar(box, tip, () => sides.pickRow(i));
      });
      sides.columns.forEach(({ share, tip }, j) => {
        if (!isInside(xaxis, j)) return;
        const [x, thick] = span(xaxis, j, 0.8);
        const box = { x, y: below, width: thick, height: Math.max(1, BAR * share) };
        bar(box, tip, () => sides.pickColumn(j));
      });
    }
    /**
     * Frame a cell, or nothing when row is null.
     *
     * @param {number | null} row
     * @param {number} column
     * @param {boolean} [isPinned]
     */
    mark(row, column, isPinned = false) {
      this.#marked = [row, column, isPinned];
      const drawn = this.chart._fullLayout;
      const box = row != null && this.boxOf(row, column);
      for (const guide of this.guides) guide.hidden = !box;
      if (!box || !drawn) return;
      const { xaxis, yaxis } = drawn;
      const { left, top, width, height } = box;
      putAt(this.guides[0], xaxis._offset, top, xaxis._length, height);
      putAt(this.guides[1], left, yaxis._offset, width, yaxis._length);
      putAt(this.guides[2], left, top, width, height);
      this.guides[2].classList.toggle("hl-pinned", isPinned);
    }
    /**
     * Where a cell is in the host, in pixels, or null when it is out of sight.
     *
     * @param {number} row
     * @param {number} column
     */
    boxOf(row, column) {
      const drawn = this.chart._fullLayout;
      if (!drawn || !this.picture) return null;
      const { xaxis, yaxis } = drawn;
      if (!isInside(yaxis, row) || !isInside(xaxis, column)) return null;
      const [[left, width], [top, height]] = [span(xaxis, column, 1), span(yaxis, row, 1)];
      return { left, top, width, height };
    }
    /**
     * The picture as SVG text, with Plotly's own labels.
     *
     * @returns {Promise<string>}
     */
    async svgText() {
      const Plotly = await loadPlotly();
      const drawn = this.chart._fullLayout;
      if (!drawn) throw new Error("it is not drawn yet");
      const { xaxis, yaxis, width, height } = drawn;
      const frame = {
        ...this.#frame,
        xaxis: { ...this.#frame.xaxis, range: xaxis.range },
        yaxis: { ...this.#frame.yaxis, range: yaxis.range }
      };
      const figure2 = { data: this.chart.data, layout: frame, config: NO_CLOUD };
      const address = await Plotly.toImage(figure2, { format: "svg", width, height });
      return decodeURIComponent(address.slice(address.indexOf(",") + 1));
    }
    /**
     * The cell under the mouse, or null.
     *
     * @param {{clientX: number, clientY: number}} event
     */
    cellAt(event) {
      const drawn = this.chart._fullLayout;
      if (!drawn || !this.picture) return null;
      const { xaxis, yaxis } = drawn;
      const box = this.chart.getBoundingClientRect();
      const enlarged = enlargement(this.chart);
      const x = (event.clientX - box.left) / enlarged - xaxis._offset;
      const y = (event.clientY - box.top) / enlarged - yaxis._offset;
      const [column, row] = [Math.round(xaxis.p2c(x)), Math.round(yaxis.p2c(y))];
      const { rows, columns } = this.picture.values;
      const exists = row >= 0 && column >= 0 && row < rows && column < columns;
      return exists && isInside(yaxis, row) && isInside(xaxis, column) ? { row, column } : null;
    }
    /**
     * @param {PointerEvent} event
     * @param {OnCell} point
     */
    #moved(event, point2) {
      const cell = this.cellAt(event);
      if (cell) point2(cell.row, cell.column);
    }
    /**
     * @param {PointerEvent} down
     * @param {PointerEvent} up
     * @param {OnCell} pick
     */
    #released(down, up, pick) {
      if (Math.hypot(up.clientX - down.clientX, up.clientY - down.clientY) > CLICK_SLACK) return;
      const cell = this.cellAt(up);
      if (cell) pick(cell.row, cell.column);
    }
    #resized() {
      const width = this.host.clientWidth;
      if (this.picture && Math.abs(width - this.#width) > 2 && width > 0)
        this.draw(this.picture, this.palette);
    }
  };
  function putAt(node, left, top, width, height) {
    node.style.cssText = `left:${left}px;top:${top}px;width:${width}px;height:${height}px`;
  }
  function shownLabels(labels, axis) {
    const [, pixels] = span(axis, 0, 1);
    return ticks(labels, pixels).tickvals.filter((i) => isInside(axis, i)).map((i) => ({ label: unescaped(labels[i]), at: axis._offset + axis.c2p(i), i }));
  }
  function unescaped(label) {
    return label.replace(/&[#\w]+;/g, (mark) => UNESCAPED[mark]);
  }

  // viz/live/microscope/reading/maps.js
  function readMap(tally, { drawnCells, drawnNames }, { address, cells: cells2, rows, columns }, blur = 1) {
    const isWhole = drawnCells.length === cells2.length;
    tally.hold(isWhole, address);
    if (!isWhole) return;
    cells2.forEach((row, i) => {
      const shown2 = drawnCells[i];
      tally.hold(shown2.length === row.length, address);
      row.forEach((value, j) => {
        const ofNothing = Number.isNaN(shown2[j]) ? 0 : NaN;
        const error = Number.isNaN(value) ? ofNothing : Math.abs(shown2[j] - value) / blur;
        tally.add(error, address);
      });
    });
    for (const { axis, at, label } of drawnNames)
      tally.hold(saysText(label, (axis === "row" ? rows : columns)[at] ?? null), address);
  }
  function drawnFrom({ weights, open: open3, ...rest }, isFirstOut) {
    const isOut = (i, j) => !open3[i][j] || isFirstOut && j === 0;
    const cells2 = weights.map((row, i) => row.map((p, j) => isOut(i, j) ? NaN : p));
    return { ...rest, cells: cells2 };
  }
  function isFirstHidden({ settings, between: between2 }) {
    return settings.hide_first && between2.kind === "self";
  }
  function readNumber(tally, host, name, { value, address, blur = 1 }) {
    const printed2 = host.querySelector(`[data-number=${name}]`)?.textContent ?? "";
    tally.add(errorOfNumber(printed2, value) / Math.max(1, Math.abs(value)) / blur, address);
  }
  var SPANS = [
    { pattern: /^(\w+) over all heads of L(\d+)\./, over: "layer" },
    { pattern: /^(\w+) over H(\d+) in all layers\./, over: "head" },
    { pattern: /^(\w+) over all heads of all layers()\./, over: "all" }
  ];
  function summaryIn(words, group) {
    for (const { pattern, over } of SPANS) {
      const [, how = "", index = ""] = pattern.exec(words) ?? [];
      const part = index && `[${index}]`;
      if (how)
        return {
          address: `${group}.${how.toLowerCase()}_${over}${part}`,
          mask: `${group}.open_${over}${part}`
        };
    }
    return null;
  }
  async function readSummary(scope, says2, heatMap, tally) {
    const named = summaryIn(says2.textContent ?? "", scope.group.name);
    if (!named) return tally.hold(false, scope.group.name);
    const truth = await truthOf(scope, { ...named, isInWords: scope.settings.words });
    readMap(tally, heatMap, drawnFrom(truth, isFirstHidden(scope)));
    readSums(tally, says2, truth);
    readPairs(tally, says2, truth);
  }
  function readSums(tally, says2, { weights, address }) {
    const sums = weights.map((row) => row.reduce((sum, p) => sum + p, 0)).filter((sum) => sum > 0);
    const [low, high] = [Math.min(...sums), Math.max(...sums)];
    if (says2.querySelector("[data-number=low]")) {
      readNumber(tally, says2, "low", { value: low, address });
      readNumber(tally, says2, "high", { value: high, address });
    } else if (/Rows sum to one\./.test(says2.textContent ?? ""))
      tally.add(Math.max(Math.abs(low - 1), Math.abs(high - 1)), address);
  }
  function readPairs(tally, says2, { weights, rows, columns, address }) {
    for (const node of says2.querySelectorAll("[data-pair]")) {
      const [query, key] = (node.getAttribute("data-pair") ?? "").split("-").map(Number);
      const [from = "", to = ""] = Array.from(
        node.querySelectorAll("bdi"),
        (x) => x.textContent ?? ""
      );
      tally.hold(saysText(from, rows[query] ?? null) && saysText(to, columns[key] ?? null), address);
      const printed2 = node.querySelector("[data-number]")?.textContent ?? "";
      tally.add(errorOfNumber(printed2, weights[query]?.[key] ?? NaN), address);
    }
  }
  async function readComparison(scope, { maps, says: says2, other }, tally) {
    const [first, second, third] = maps.map(({ title }) => title.textContent ?? "");
    const isInWords = scope.settings.words;
    const a = await truthOfHead(scope, { title: first, isInWords });
    const b = await truthOfHead(scope, {
      title: other ? first : second,
      ...other,
      isInWords
    });
    if (!a || !b) return tally.hold(false, scope.group.name);
    const isOut = isFirstHidden(scope);
    const delta = differenceOf(a, b, isOut);
    tally.hold(third === `${first} − ${second}` && first === scope.title.textContent, a.address);
    [drawnFrom(a, isOut), drawnFrom(b, isOut), delta].forEach(
      (expected, i) => readMap(tally, maps[i].heatMap, expected)
    );
    readNumber(tally, says2, "mean", { value: delta.mean, address: delta.address });
  }
  function differenceOf(a, b, isOut) {
    const n = Math.min(a.weights.length, b.weights.length);
    const m = Math.min(a.columns.length, b.columns.length);
    const [low, narrow] = [a.weights.length === n ? a : b, a.columns.length === m ? a : b];
    const sizes = [];
    const cells2 = Array.from(
      { length: n },
      (_, i) => Array.from({ length: m }, (__, j) => {
        if (!a.open[i][j] && !b.open[i][j]) return NaN;
        const delta = a.weights[i][j] - b.weights[i][j];
        sizes.push(Math.abs(delta));
        return isOut && j === 0 ? NaN : delta;
      })
    );
    const address = `${a.address} − ${b.address}`;
    return { address, cells: cells2, rows: low.rows, columns: narrow.columns, mean: meanOf(sizes) };
  }
  async function readChange(scope, { maps, says: says2, entropies }, tally) {
    const title = scope.title.textContent ?? "";
    const truth = await truthOfHead(scope, { title });
    const place = placeIn(scope, title);
    if (!truth || !place) return tally.hold(false, scope.group.name);
    const changed = await changedAs(scope, maps[1].title.textContent ?? "", truth, place);
    if (!changed) return tally.hold(false, truth.address);
    const isOut = isFirstHidden(scope);
    readMap(tally, maps[0].heatMap, drawnFrom(truth, isOut));
    readMap(tally, maps[1].heatMap, drawnFrom(changed.truth, isOut), changed.blur);
    const { address } = truth;
    const { blur } = changed;
    const [before, after] = [truth, changed.truth].map(({ weights }) => weights.map(bitsOf));
    readNumber(tally, says2, "before", { value: meanOf(before), address });
    readNumber(tally, says2, "after", { value: meanOf(after), address, blur });
    if (says2.querySelector("[data-number=leaked]")) {
      const value = 100 * leaked(truth, changed.truth);
      readNumber(tally, says2, "leaked", { value, address, blur: 100 * blur });
    }
    readBars2(tally, entropies, { before, after, open: changed.truth.open, address, blur });
  }
  async function changedAs({ data }, title, truth, { site, head }) {
    const array = async (name) => rowsOf(await independent(data.key, `${site}.${name}[${head}]`));
    const [scores, product, scaled] = await Promise.all(["scores", "product", "scaled"].map(array));
    const as = (new_scores, open3, blur) => ({
      truth: { ...truth, weights: softmaxOf(new_scores, open3), open: open3 },
      blur: Math.max(1, blur)
    });
    const tau = Number(/^temperature (\d\.\d)$/.exec(title)?.[1]);
    if (tau)
      return as(
        scores.map((row) => row.map((x) => x / tau)),
        truth.open,
        1 / tau
      );
    const change = data.changes.find(({ text }) => text === title)?.name;
    if (change === "mask")
      return as(
        scores,
        truth.open.map((row) => row.map(() => true)),
        1
      );
    if (change !== "scale") return null;
    const unscaled = scores.map((row, i) => row.map((x, j) => x - scaled[i][j] + product[i][j]));
    const largest = Math.max(...product.flat().map(Math.abs));
    const ofScaled = Math.max(...scaled.flat().map(Math.abs));
    return as(unscaled, truth.open, largest / (ofScaled || 1));
  }
  function leaked({ open: open3 }, { weights }) {
    let [sum, out] = [0, 0];
    weights.forEach(
      (row, i) => row.forEach((p, j) => {
        sum += p;
        if (!open3[i][j]) out += p;
      })
    );
    return out / (sum || 1);
  }
  function readBars2(tally, entropies, { before, after, open: open3, address, blur }) {
    const drawn = Array.from(
      entropies.querySelectorAll("path"),
      (path) => path.getAttribute("d") ?? ""
    );
    const [left, right] = drawn.slice(0, 2).map((d) => numbersAt(d, /v(-?[\d.e-]+)h/g).map((h) => -h));
    const even = numbersAt(drawn[2] ?? "", /[ML]-?[\d.e-]+ (-?[\d.e-]+)/g);
    const [base = 0] = numbersAt(drawn[0] ?? "", /M-?[\d.e-]+ (-?[\d.e-]+)/g);
    const most = open3.map((row) => Math.log2(Math.max(1, row.filter(Boolean).length)));
    const widest = most.indexOf(Math.max(...most));
    const bit = most[widest] ? (base - even[widest]) / most[widest] : 1;
    const error = (lengths, expected) => lengths?.length === expected.length ? Math.max(...lengths.map((length, i) => Math.abs(length / bit - expected[i]))) : NaN;
    tally.add(error(left, before), address, before.length);
    tally.add(error(right, after) / blur, address, after.length);
    tally.add(
      error(
        even.map((y) => base - y),
        most
      ),
      address,
      most.length
    );
  }
  function numbersAt(text, pattern) {
    return Array.from(text.matchAll(pattern), ([, number]) => Number(number));
  }

  // viz/live/microscope/view.js
  var View = class {
    /**
     * @param {Microscope} scope
     * @param {HTMLElement} host
     */
    constructor(scope, host) {
      this.scope = scope;
      this.host = host;
      this.lifetime = scope.lifetime.child();
    }
    /**
     * Draw the chosen head.
     *
     * @param {() => boolean} _isCurrent whether nothing newer has been asked for since
     * @returns {void | Promise<void>}
     */
    draw(_isCurrent) {
    }
    /**
     * Read back what it has drawn and compare it with the independent run.
     *
     * @param {Tally} _tally gets what is found
     * @returns {Promise<void>}
     */
    async read(_tally) {
    }
    /**
     * Where a weight of the chosen head comes from; null between words, which are made of several, and
     * where there is no independent run.
     *
     * @param {number} row
     * @param {number} column
     */
    weightAddress(row, column) {
      const { data, group, settings } = this.scope;
      const { layer, head, words } = settings;
      if (words || !data.has_independent) return null;
      return `${group.sites[layer]}.pattern[${head},${row},${column}]`;
    }
    /**
     * What is drawn has changed.
     *
     * @param {boolean} [isOther] whether all of it has, not what the mouse is on
     */
    changed(isOther = true) {
      this.scope.verdict.screenChanged(isOther);
    }
    /** Another view takes its place; it may come back. */
    leave() {
    }
    /** It does not come back. */
    destroy() {
      this.leave();
      this.lifetime.end();
    }
    /**
     * What it shows as numbers to save; null when there are none yet.
     *
     * @returns {Table | null}
     */
    table() {
      return null;
    }
    /**
     * What it shows as drawings to save.
     *
     * @returns {Drawing[] | Promise<Drawing[]>}
     */
    drawings() {
      return [];
    }
    /**
     * A pattern of this head as the options ask for it.
     *
     * @param {Matrix} pattern
     * @param {Numbers} mask
     */
    shown(pattern, mask) {
      return shownPattern(pattern, mask, this.scope.between, this.scope.settings);
    }
    /**
     * A pattern between tokens, whatever the options say of words.
     *
     * @param {Matrix} pattern
     * @param {Numbers} mask
     */
    shownInTokens(pattern, mask) {
      const options = { ...this.scope.settings, words: false };
      return shownPattern(pattern, mask, this.scope.between, options);
    }
  };

  // viz/live/microscope/views/compare.js
  var HEIGHT = 480;
  var CompareView = class extends View {
    /** This head, the other, and the difference. @type {Shown[] | null} */
    #sides = null;
    /** The other run that is shown, if it is one. @type {{run: string, between: Between} | null} */
    #other = null;
    /** Which of the other runs. */
    #run = 0;
    /**
     * @param {Microscope} scope
     * @param {HTMLElement} host
     */
    constructor(scope, host) {
      super(scope, host);
      const { against } = scope.data;
      this.against = radios(
        "hl-against",
        "Compare with",
        asRadios(against),
        scope.settings.against,
        (chosen) => scope.set({ against: chosen })
      );
      this.controls = html("div", { class: "hl-row" });
      this.reasons = html("p", { class: "hl-caption", "data-why": "" }, reasonsOf(against));
      this.reasons.hidden = !this.reasons.textContent;
      this.says = html("p", { class: "hl-caption", role: "status" });
      this.maps = [0, 1, 2].map(() => this.#makeMap());
      const sections = this.maps.map(
        ({ title, host: map }, i) => html("section", { class: i === 2 ? "hl-span" : null }, title, map)
      );
      const wide2 = html("div", { class: "hl-wide" });
      const row = html("div", { class: "hl-row" }, this.against, this.controls);
      wide2.append(row, this.reasons, this.says, html("div", { class: "hl-side" }, sections));
      host.append(wide2);
    }
    #makeMap() {
      const host = html("div", { class: "hl-map" });
      const heatMap = new HeatMap(host, this.lifetime, {
        point: (row, column) => this.#point(row, column),
        most: HEIGHT
      });
      return { title: html("h3"), host, heatMap };
    }
    /**
     * @override
     * @param {() => boolean} isCurrent
     */
    async draw(isCurrent) {
      check(this.against, this.#kind);
      this.#drawControls();
      const other = await this.#loadOther();
      if (!isCurrent()) return;
      this.#sides = null;
      for (const { host, title } of this.maps) host.hidden = title.hidden = !other;
      fill(this.says, this.scope.data.key, "Type a second sentence, then press Enter.");
      if (other) await this.#drawMaps(other);
    }
    /** What this head is compared with: what is chosen, as far as it can be. */
    get #kind() {
      const offered = this.scope.data.against.filter(({ why }) => why === null);
      const { against } = this.scope.settings;
      return (offered.find(({ name }) => name === against) ?? offered[0])?.name ?? against;
    }
    /**
     * The head or run to compare with, or null when there is none yet.
     *
     * @returns {Promise<Other | null>}
     */
    async #loadOther() {
      const { scope } = this;
      const { settings, data, group } = scope;
      this.#other = null;
      if (this.#kind === "head") {
        const [layer, head] = scope.other;
        const loaded2 = await scope.load(data, layer, head);
        return { loaded: loaded2, between: scope.between, name: headName(data, group, layer, head) };
      }
      const run = this.#otherRun();
      if (!run) return null;
      const loaded = await scope.load(run, settings.layer, settings.head);
      this.#other = { run: run.key, between: between(run.streams, group) };
      return { loaded, between: this.#other.between, name: run.name };
    }
    /** @returns {Run | undefined} */
    #otherRun() {
      const { runs } = this.scope.data;
      return runs[Math.min(this.#run, runs.length - 1)];
    }
    /** @param {Other} other */
    async #drawMaps(other) {
      const { loaded, palette, headName: name, settings } = this.scope;
      const first = this.shown(loaded.steps.weights, loaded.head.mask.values);
      const { head, steps: steps2 } = other.loaded;
      const second = shownPattern(steps2.weights, head.mask.values, other.between, settings);
      const third = differenceOf2(first, second);
      this.#sides = [first, second, third];
      const titles = [name, other.name, `${name} − ${other.name}`];
      const weights = sharedWeightScale([first, second]);
      const delta = third.values;
      const visible2 = Array.from(delta.values).filter((_, i) => !third.blank[i]);
      const scales = [weights, weights, signedScale("difference of weights", visible2)];
      const spoken = [
        pairsInWords(first),
        pairsInWords(second),
        pairsInWords({ ...third, values: mapped(delta, Math.abs) }, "Largest absolute differences")
      ];
      this.#summarise(first, second, third);
      for (const [i, map] of this.maps.entries()) {
        map.title.textContent = titles[i];
        pictured(map.host, `${titles[i]}: ${spoken[i]}`);
        await map.heatMap.draw({ ...this.#sides[i], scale: scales[i] }, palette);
      }
    }
    /**
     * @param {Shown} first
     * @param {Shown} second
     * @param {Shown} third
     */
    #summarise(first, second, { values: delta, hidden, blank }) {
      const open3 = Array.from(delta.values, Math.abs).filter((_, i) => !hidden[i]);
      const cut = cutInWords(first.values, second.values, delta);
      const labels = this.#kind === "head" ? "" : " Tokens are compared by position, not by word.";
      const left = blank.some(Boolean) ? ` ${FIRST_HIDDEN}` : "";
      fill(
        this.says,
        this.scope.data.key,
        "Mean absolute difference over cells not masked: ",
        traced(mean(open3), "mean"),
        `. Orange: more on the left; blue: more on the right.${cut}${labels}${left}`
      );
    }
    #drawControls() {
      if (this.#kind === "head") {
        const { name, n_layers, n_heads } = this.scope.group;
        const what = `${name} ${n_layers} × ${n_heads} heads`;
        fillOnce(this.controls, what, () => this.#headBoxes());
        this.controls.querySelectorAll("select").forEach((list, i) => {
          list.value = String(this.scope.other[i]);
        });
        return;
      }
      const { runs } = this.scope.data;
      const names = runs.map(({ name }) => name);
      fillOnce(this.controls, `runs ${names.join()}`, () => this.#runBoxes(names));
    }
    /**
     * Where another input is typed, and which of several runs is looked at.
     *
     * @param {string[]} names
     */
    #runBoxes(names) {
      const box = html("input", {
        type: "text",
        value: this.scope.settings.second,
        placeholder: "Type a second sentence",
        onchange: () => this.scope.set({ second: wellFormed(box.value) })
      });
      const label = html("span", null, "Second sentence");
      const field = html("label", { class: "hl-field hl-grow" }, label, box);
      if (names.length < 2) return [field];
      const options = names.map((name, i) => [i, name]);
      const pick = (i) => {
        this.#run = Number(i);
        this.scope.redraw();
      };
      return [field, select("Run", options, this.#run, pick)];
    }
    #headBoxes() {
      const { scope } = this;
      const { n_layers, n_heads } = scope.group;
      const names = (n, letter2) => Array.from({ length: n }, (_, i) => [i, `${letter2}${i}`]);
      const pick = (other) => scope.set({ other });
      return [
        select(
          "Compare with: layer",
          names(n_layers, "L"),
          scope.other[0],
          (layer) => pick([Number(layer), scope.other[1]])
        ),
        select(
          "Compare with: head",
          names(n_heads, "H"),
          scope.other[1],
          (head) => pick([scope.other[0], Number(head)])
        )
      ];
    }
    /**
     * @param {number} row
     * @param {number} column
     */
    #point(row, column) {
      if (!this.#sides) return;
      for (const map of this.maps) map.heatMap.mark(row, column);
      const [first, second] = this.#sides;
      const said = [first, second].map(
        (side) => row < side.values.rows && column < side.values.columns ? weightAt(side, row, column) : "–"
      );
      const pair = `${first.rows[row] ?? row} attends to ${first.columns[column] ?? column}`;
      this.scope.say(`${pair}: ${said.join(" against ")}`, false);
    }
    /**
     * @override
     * @param {Tally} tally
     */
    async read(tally) {
      const { maps, says: says2 } = this;
      if (this.#sides) await readComparison(this.scope, { maps, says: says2, other: this.#other }, tally);
    }
    /** @override */
    table() {
      return this.#sides ? patternTable(this.#sides[2]) : null;
    }
    /** @override */
    async drawings() {
      return this.#sides ? drawnMaps(this.maps) : [];
    }
  };
  function differenceOf2(first, second) {
    const values = difference(first.values, second.values);
    const { rows, columns } = values;
    const at = (side, what, i) => side[what][Math.floor(i / columns) * side.values.columns + i % columns];
    const inBoth = (what) => Uint8Array.from(values.values, (_, i) => at(first, what, i) & at(second, what, i));
    const low = first.values.rows === rows ? first : second;
    const narrow = first.values.columns === columns ? first : second;
    const labels = { rows: low.rows, rowLabels: low.rowLabels };
    const names = { columns: narrow.columns, columnLabels: narrow.columnLabels };
    const [hidden, blank] = [inBoth("hidden"), inBoth("blank")];
    return { ...first, ...labels, ...names, values, hidden, blank };
  }
  function cutInWords(a, b, delta) {
    if (a.rows === b.rows && a.columns === b.columns) return "";
    const isSquare = a.rows === a.columns && b.rows === b.columns;
    if (isSquare)
      return ` The sentences have ${a.rows} and ${b.rows} rows; the difference covers the first ${delta.rows}.`;
    const [x, y, z] = [a, b, delta].map(({ rows, columns }) => `${rows} × ${columns}`);
    return ` The maps have ${x} and ${y} cells; the difference covers the first ${z}.`;
  }
  function wellFormed(text) {
    return text.toWellFormed?.() ?? text;
  }

  // viz/live/microscope/reading/lines.js
  var STRENGTHS = 10;
  var ROUNDING3 = 1e-5;
  var LEAST_TOLD = 5e-3;
  var SLACK = 0.6;
  var RISE2 = 4;
  async function readLines(scope, { picture, says: says2 }, tally) {
    const { settings, between: between2, group } = scope;
    const title = scope.title.textContent ?? "";
    const truth = await truthOfHead(scope, { title, isInWords: settings.words });
    if (!truth) return tally.hold(false, group.name);
    const isFirstOut = settings.hide_first && between2.kind === "self";
    const left = open(truth, isFirstOut);
    const [queries, keys] = ["end", "start"].map((anchor) => labelsOf(picture, anchor));
    readLabels(tally, queries, truth.rows, truth.address);
    readLabels(tally, keys, truth.columns, truth.address);
    const focus = focusOf(queries, keys);
    readStrengths(tally, linesOf(picture, queries, keys), {
      truth,
      left,
      focus,
      mass: settings.mass
    });
    readNumbers(tally, { queries, keys }, { truth, left, focus });
    readCaption(tally, says2, { left, mass: settings.mass, address: truth.address });
  }
  function readCaption(tally, says2, { left, mass, address }) {
    const printed2 = (name) => Number(says2.querySelector(`[data-number=${name}]`)?.textContent);
    const must = left.flatMap((row) => leadingOf(row, mass));
    const least = must.filter((isIn) => isIn === true).length;
    const most = must.filter((isIn) => isIn !== false).length;
    const n = printed2("lines");
    tally.hold(n >= least && n <= most, address);
    tally.hold(printed2("mass") === Math.round(100 * mass), address);
  }
  function open({ weights, open: isOpen }, isFirstOut) {
    return weights.map(
      (row, i) => row.map((p, j) => isOpen[i][j] && !(isFirstOut && j === 0) ? p : 0)
    );
  }
  function labelsOf(picture, anchor) {
    return Array.from(picture.querySelectorAll(`text[text-anchor=${anchor}]`), (node) => {
      const number = node.querySelector("tspan")?.textContent ?? "";
      const whole = node.textContent ?? "";
      return {
        y: Number(node.getAttribute("y")) - RISE2,
        label: number ? whole.slice(0, -number.length).trimEnd() : whole,
        number,
        isStrong: node.classList.contains("hl-strong")
      };
    });
  }
  function readLabels(tally, labels, texts, address) {
    tally.hold(labels.length === texts.length, address);
    labels.forEach(({ label }, i) => tally.hold(saysText(label, texts[i] ?? null), address));
  }
  function focusOf(queries, keys) {
    const [query, key] = [queries, keys].map((side) => side.findIndex(({ isStrong }) => isStrong));
    return { query, key };
  }
  function linesOf(picture, queries, keys) {
    const at = (side, y) => {
      const step = side.length > 1 ? side[1].y - side[0].y : 1;
      const i = Math.round((y - side[0].y) / step);
      return Math.abs((side[i]?.y ?? NaN) - y) <= SLACK ? i : -1;
    };
    return Array.from(picture.querySelectorAll("path")).flatMap((path) => {
      const strength = STRENGTHS * Number(path.getAttribute("stroke-opacity")) ** 2;
      const [low, high] = [strength - 0.5, strength + 0.5].map((tenth) => tenth / STRENGTHS);
      const ends = (path.getAttribute("d") ?? "").matchAll(/M\S+ (\S+?)L\S+? ([^M]+)/g);
      return Array.from(ends, ([, from, to]) => ({
        ...{ from: at(queries, Number(from)), to: at(keys, Number(to)) },
        ...{ low, high }
      }));
    });
  }
  function readStrengths(tally, lines, { truth, left, focus, mass }) {
    const { address } = truth;
    const drawn = left.map(() => /* @__PURE__ */ new Set());
    for (const { from, to, low, high } of lines) {
      const weight = left[from]?.[to] ?? NaN;
      const isTop = high > 1 - ROUNDING3;
      tally.add(Math.max(0, low - weight, isTop ? 0 : weight - high), address);
      drawn[from]?.add(to);
    }
    left.forEach((row, i) => {
      const isShown = focus.query < 0 || focus.query === i;
      const must = leadingOf(row, mass);
      row.forEach((_, j) => {
        const isOf = isShown && (focus.key < 0 || focus.key === j);
        const isDrawn = drawn[i].has(j);
        if (isDrawn ? !isOf || must[j] === false : isOf && must[j] === true)
          tally.hold(false, address);
      });
    });
  }
  function leadingOf(row, mass) {
    const order = row.map((_, j) => j).sort((a, b) => row[b] - row[a]);
    const wanted = mass * row.reduce((sum, p) => sum + p, 0);
    const before = [0];
    for (const j of order) before.push(before[before.length - 1] + row[j]);
    const found = row.map(() => null);
    let [above, below] = [0, 0];
    order.forEach((j) => {
      while (row[order[above]] > row[j] + ROUNDING3) above += 1;
      while (below < order.length && row[order[below]] >= row[j] - ROUNDING3) below += 1;
      const [least, most] = [before[above], before[below] - row[j]];
      if (row[j] <= 0 || above > 0 && least >= wanted + ROUNDING3) found[j] = false;
      else if (row[j] > ROUNDING3 && (below === 1 || most < wanted - ROUNDING3)) found[j] = true;
    });
    return found;
  }
  function readNumbers(tally, { queries, keys }, { truth: { address }, left, focus }) {
    const read = (labels, weightOf) => labels.forEach(({ number }, i) => {
      const weight = weightOf(i);
      if (number) tally.add(errorOfNumber(number, weight), address);
      else if (weight >= LEAST_TOLD + ROUNDING3) tally.hold(false, address);
    });
    read(keys, (j) => focus.query < 0 ? 0 : left[focus.query][j]);
    read(queries, (i) => focus.key < 0 ? 0 : left[i][focus.key]);
  }

  // viz/live/microscope/views/lines.js
  var MOST_WIDTH = 640;
  var LABEL_ROOM2 = { least: 110, share: 0.27 };
  var GAP2 = 8;
  var STEPS = { usual: 22, small: 15 };
  var MANY = 120;
  var LEAST_TOLD2 = 5e-3;
  var STRENGTHS2 = 10;
  var LinesView = class extends View {
    /** @type {Shown} */
    #shown;
    /** The token under the mouse. @type {Focus | null} */
    #focus = null;
    #cancelFrame = () => {
    };
    /** The pixels of the host when it was last drawn. */
    #room = 0;
    /**
     * @param {Microscope} scope
     * @param {HTMLElement} host
     */
    constructor(scope, host) {
      super(scope, host);
      this.tokens = html("div");
      this.says = html("p", { class: "hl-caption" });
      this.picture = svg("svg", { class: "hl-lines", role: "img" });
      this.lifetime.watchSize(host, () => {
        if (this.#shown && host.clientWidth && host.clientWidth !== this.#room) this.#redraw();
      });
      const mass = slider(
        "Cumulative attention shown",
        {
          bounds: scope.data.bounds.mass,
          value: scope.settings.mass,
          show: (x) => `${Math.round(100 * x)} %`
        },
        (share) => {
          scope.setQuietly({ mass: share });
          this.#redraw();
          this.changed();
        }
      );
      const frame = { class: "hl-scroll", tabindex: 0, role: "group", "aria-label": "Lines" };
      const wide2 = html("div", { class: "hl-wide" });
      const controls = html("div", { class: "hl-row" }, this.tokens, mass);
      wide2.append(controls, this.says, html("div", frame, this.picture));
      host.append(wide2);
    }
    /** @override */
    draw() {
      const { head, steps: steps2 } = this.scope.loaded;
      this.#shown = this.shown(steps2.weights, head.mask.values);
      const options = this.#shown.rows.map((label, i) => [i, `${i}: ${label}`]);
      options.unshift(["", "all"]);
      fillOnce(this.tokens, options.join(), () => [
        select(
          "Lines of",
          options,
          "",
          (at) => this.scope.set({ token: at === "" ? null : Number(at) })
        )
      ]);
      const list = this.tokens.querySelector("select");
      if (list) list.value = String(this.#chosen()?.at ?? "");
      this.#redraw();
    }
    #redraw() {
      const { settings, palette } = this.scope;
      const { rows, columns } = this.#shown;
      const step = rows.length > MANY ? STEPS.small : STEPS.usual;
      const y = (i) => 22 + i * step;
      const token = this.#focus ?? this.#chosen();
      const kept2 = this.#keptKeys(settings.mass);
      this.#room = this.host.clientWidth;
      const width = Math.min(MOST_WIDTH, this.#room);
      const sides = sidesOf(width);
      const ends = {
        from: sides.query + GAP2,
        to: sides.key - GAP2,
        y: (i) => y(i) - 4
      };
      const paths = linePaths(kept2, this.#shown.values, token, ends);
      const line = { fill: "none", stroke: palette.accent, "stroke-width": 1.6 };
      const height = y(Math.max(rows.length, columns.length)) + 4;
      setAll(this.picture, { viewBox: `0 0 ${width} ${height}`, width, height });
      this.picture.replaceChildren(
        ...paths.map(({ d, opacity }) => svg("path", { d, ...line, "stroke-opacity": opacity })),
        ...this.#words(rows, "query", token, { x: sides.query, y }),
        ...this.#words(columns, "key", token, { x: sides.key, y })
      );
      const lines = kept2.reduce((sum, keys) => sum + keys.length, 0);
      const isFirstHidden2 = this.#shown.blank.some(Boolean);
      const left = isFirstHidden2 ? " on all but the first token, which is hidden by choice" : "";
      fill(
        this.says,
        this.scope.data.key,
        "Queries left, keys right. For each query the fewest keys that hold ",
        traced(Math.round(100 * settings.mass), "mass", null, 0),
        ` % of its weight${left}: `,
        traced(lines, "lines", null, 0),
        " lines. Point at a token to see only its own."
      );
      const words = `Lines of ${this.scope.headName}. ${pairsInWords(this.#shown)}`;
      this.picture.setAttribute("aria-label", words);
    }
    /**
     * The keys of each query that hold a share of its weight, of what is left where the first token is
     * hidden.
     *
     * @param {number} mass
     */
    #keptKeys(mass) {
      const { values, hidden, blank } = this.#shown;
      return Array.from({ length: values.rows }, (_, i) => {
        const row = rowOf(values, i);
        const isOut = (j) => hidden[i * values.columns + j] || blank[i * values.columns + j];
        const open3 = row.map((p, j) => isOut(j) ? 0 : p);
        return leading(open3, mass);
      });
    }
    /**
     * The labels of one side.
     *
     * @param {string[]} labels
     * @param {"query" | "key"} side
     * @param {Focus | null} token
     * @param {{x: number, y: (i: number) => number}} at where they end or begin, and of each the height
     */
    #words(labels, side, token, { x, y }) {
      const place = { x, "text-anchor": side === "query" ? "end" : "start" };
      return labels.map((label, at) => {
        const isFocus = token && token.side === side && token.at === at;
        const look = {
          onpointerenter: () => this.#look({ side, at }),
          onpointerleave: () => this.#look(null)
        };
        const attributes = { ...place, y: y(at), class: isFocus ? "hl-strong" : null, ...look };
        return svg("text", attributes, clipped(label), this.#weightOf(token, side, at));
      });
    }
    /**
     * The token chosen in the list, on the side of the queries.
     *
     * @returns {Focus | null}
     */
    #chosen() {
      const { token } = this.scope.settings;
      if (token == null) return null;
      return { side: "query", at: Math.min(token, this.#shown.rows.length - 1) };
    }
    /**
     * The weight between the token in focus and one of the other side, where there is one.
     *
     * @param {Focus | null} token
     * @param {"query" | "key"} side
     * @param {number} i
     * @returns {(Node | string)[]}
     */
    #weightOf(token, side, i) {
      if (!token || token.side === side) return [];
      const { values, hidden, blank } = this.#shown;
      const [row, column] = side === "key" ? [token.at, i] : [i, token.at];
      const at = row * values.columns + column;
      if (hidden[at] || blank[at] || values.values[at] < LEAST_TOLD2) return [];
      const from = { "data-number": "weight", "data-address": this.weightAddress(row, column) };
      return ["  ", svg("tspan", from, digits(values.values[at], 2))];
    }
    /** @param {Focus | null} focus */
    #look(focus) {
      this.#focus = focus;
      this.#cancelFrame();
      this.#cancelFrame = this.lifetime.frame(() => {
        this.#redraw();
        this.changed(false);
      });
    }
    /**
     * @override
     * @param {Tally} tally
     */
    read(tally) {
      return readLines(this.scope, this, tally);
    }
    /** @override */
    table() {
      return patternTable(this.#shown);
    }
    /**
     * @override
     * @returns {Drawing[]}
     */
    drawings() {
      return [{ caption: this.says.textContent ?? "", drawing: this.picture }];
    }
  };
  function linePaths(kept2, values, token, { from, to, y }) {
    const strengths = Array.from({ length: STRENGTHS2 }, () => "");
    kept2.forEach(
      (keys, i) => keys.forEach((j) => {
        if (token && token.at !== (token.side === "query" ? i : j)) return;
        const weight = values.values[i * values.columns + j];
        const strength = Math.min(STRENGTHS2 - 1, Math.floor(weight * STRENGTHS2));
        strengths[strength] += `M${from} ${y(i)}L${to} ${y(j)}`;
      })
    );
    return strengths.map((d, i) => ({ d, opacity: Math.max(0.06, Math.sqrt((i + 0.5) / STRENGTHS2)) })).filter(({ d }) => d);
  }
  function sidesOf(width) {
    const room = Math.max(LABEL_ROOM2.least, LABEL_ROOM2.share * width);
    return { query: room, key: width - room };
  }

  // viz/live/core/keyboard.js
  var PAGE = 10;
  var MOVES2 = {
    ArrowLeft: (row, column) => [row, column - 1],
    ArrowRight: (row, column) => [row, column + 1],
    ArrowUp: (row, column) => [row - 1, column],
    ArrowDown: (row, column) => [row + 1, column],
    Home: (row) => [row, 0],
    End: (row, _column, last2) => [row, last2],
    PageUp: (row, column) => [row - PAGE, column],
    PageDown: (row, column) => [row + PAGE, column]
  };
  function cellAfter(key, [row, column], size) {
    const to = MOVES2[key]?.(row, column, size.columns - 1);
    return to ? within(to, size) : null;
  }
  function within([row, column], { rows, columns }) {
    return [Math.min(Math.max(row, 0), rows - 1), Math.min(Math.max(column, 0), columns - 1)];
  }

  // viz/live/microscope/formulas.js
  var letter = (text) => math("mi", null, text);
  var sign = (text) => math("mo", null, text);
  var sub = (base, index) => math("msub", null, letter(base), letter(index));
  var valueOf = ({ head, steps: steps2, query, key }, step) => steps2[step].values[query * head.k.rows + key];
  var TERMS = [
    {
      step: "weights",
      symbols: () => [math("mtext", null, "softmax"), sign("(")],
      number: () => "exp("
    },
    {
      step: "product",
      symbols: () => [sub("q", "i"), sign("·"), sub("k", "j")],
      number: (cell) => operand(valueOf(cell, "product"))
    },
    {
      step: "scaled",
      symbols: (head) => isUsualScale(head) ? [sign("/"), math("msqrt", null, math("mn", null, String(head.q.columns)))] : [sign("×"), math("mn", null, scaleText(head))],
      number: ({ head }) => isUsualScale(head) ? `/ ${digits(Math.sqrt(head.q.columns))}` : `× ${scaleText(head)}`
    },
    {
      step: "biased",
      symbols: () => [sign("+"), sub("b", "ij")],
      number: ({ head, query, key }) => added(head.bias?.values[query * head.k.rows + key] ?? 0),
      isLeftOut: ({ bias }) => !bias
    },
    {
      step: "masked",
      symbols: () => [sign("+"), sub("m", "ij")],
      number: ({ head, query, key }) => head.mask.values[query * head.k.rows + key] ? "+ 0" : "− ∞"
    },
    {
      step: "weights",
      symbols: () => [sign(")"), sign("="), sub("p", "ij")],
      number: (cell) => `${normaliser(cell)}) ${equals(valueOf(cell, "weights"))}`
    },
    {
      step: "output",
      symbols: () => [
        ...[sub("z", "id"), sign("="), math("munder", null, sign("∑"), letter("j"))],
        ...[sub("p", "ij"), sub("v", "jd")]
      ],
      number: shareOfOutput
    }
  ];
  var Formula = class {
    /** The number below each term. @type {[Term, Element][]} */
    #numbers = [];
    /** Every part of a term, symbols and number, with the step it belongs to. @type {Element[]} */
    #parts = [];
    /** @type {Element | undefined} */
    #math;
    constructor() {
      const look = { class: "hl-formula", tabindex: 0, role: "group" };
      this.node = html("div", { ...look, "aria-label": "The formula with this cell’s numbers" });
    }
    /**
     * Write the formula of a head.
     *
     * @param {HeadArrays} head
     */
    open(head) {
      const terms = TERMS.filter(({ isLeftOut }) => !isLeftOut?.(head));
      const part = ({ step }, children) => math("mtd", { "data-of": step }, children);
      const symbols = terms.map((term) => part(term, term.symbols(head)));
      this.#numbers = terms.map((term) => [term, math("mtext", { "data-value": term.step })]);
      const numbers = this.#numbers.map(([term, number]) => part(term, [number]));
      this.#parts = [...symbols, ...numbers];
      const table = math("mtable", null, math("mtr", null, symbols), math("mtr", null, numbers));
      this.#math = math("math", null, table);
      this.node.replaceChildren(this.#math);
    }
    /**
     * Fill in a cell's numbers and light a stage's term.
     *
     * @param {StepName} stage
     * @param {Cell} cell
     */
    show(stage, cell) {
      this.#math?.setAttribute("data-stage", stage);
      for (const [term, node] of this.#numbers) node.textContent = term.number(cell);
      for (const part of this.#parts)
        part.classList.toggle("hl-now", part.getAttribute("data-of") === stage);
    }
  };
  function normaliser({ head, steps: steps2, query }) {
    if (!rowOf(head.mask, query).some(Boolean)) return "";
    return added(-logSumExp(rowOf(steps2.masked, query)));
  }
  function shareOfOutput(cell) {
    const { head, steps: steps2, query, key, dimension } = cell;
    const value = rowOf(head.v, key)[dimension];
    const factor = value < 0 ? `(${operand(value)})` : operand(value);
    const z = operand(rowOf(steps2.output, query)[dimension]);
    return `${z} = … + ${operand(valueOf(cell, "weights"))} · ${factor} + … (d = ${dimension})`;
  }
  function added(value) {
    return `${value < 0 ? "−" : "+"} ${operand(Math.abs(value))}`;
  }
  function scaleText(head) {
    return String(Number(scaleOf(head).toPrecision(4)));
  }

  // viz/live/microscope/operands.js
  var WIDTH = 400;
  var STRIP = 16;
  var BARS = 46;
  var CAPTIONS = {
    query: "query q",
    key: "key k",
    products: "q × k, number by number; their sum is q·k",
    row: "softmax over the row; this cell marked",
    flow: "weight × value v: what flows from this key",
    given: "weight × value in this dimension, key by key; their sum is its z"
  };
  var Operands = class {
    /** @type {Opened} */
    #opened;
    /** @type {Palette} */
    #palette;
    /** Colours of signed numbers. @type {ReturnType<typeof ramp>} */
    #signed;
    /** How far the numbers of q and k, and those of v, reach. */
    #vectorReach = 1;
    #valueReach = 1;
    /** @type {ReturnType<typeof makeParts>} */
    #parts;
    /** @type {Map<StepName, HTMLElement>} */
    #values = /* @__PURE__ */ new Map();
    /** @type {AddressOf} */
    #addressOf = () => null;
    /**
     * @param {HTMLElement} host
     * @param {(words: string, isAloud: boolean) => void} say
     */
    constructor(host, say) {
      this.host = host;
      this.say = say;
      this.title = html("h3", { class: "hl-cell-title" });
      this.numbers = html("dl", { class: "hl-numbers" });
      this.maskTerm = html("dt", { "data-term": "masked" }, "mask");
      this.outputTerm = html("dt", { "data-term": "output" });
    }
    /**
     * Lay out the panel for a head.
     *
     * @param {Opened} opened
     * @param {Palette} palette
     * @param {AddressOf} [addressOf] where a number of a step comes from
     */
    open(opened, palette, addressOf = () => null) {
      const { head } = opened;
      this.#addressOf = addressOf;
      this.#opened = opened;
      this.#palette = palette;
      this.#signed = ramp(palette.diverging);
      this.#vectorReach = Math.max(reach(head.q.values), reach(head.k.values));
      this.#valueReach = reach(head.v.values);
      this.#parts = makeParts(head);
      this.numbers.replaceChildren(...this.#terms().map((term) => this.#numberOf(...term)));
      const { query, key, products: products2, row, flow, given } = this.#parts;
      this.host.replaceChildren(
        this.title,
        ...[figure("query", query), figure("key", key), figure("products", products2)],
        this.numbers,
        ...[figure("row", row), figure("flow", flow), figure("given", given)]
      );
    }
    /** @returns {[StepName, Element][]} */
    #terms() {
      const { head } = this.#opened;
      const usual = `÷ √${head.q.columns}`;
      const term = (name, text) => [name, html("dt", { "data-term": name }, text)];
      return [
        term("product", "q·k"),
        term("scaled", isUsualScale(head) ? usual : `× ${scaleText(head)}`),
        term("biased", head.bias ? "+ bias" : "+ bias (none)"),
        ["masked", this.maskTerm],
        term("weights", "softmax"),
        ["output", this.outputTerm]
      ];
    }
    /**
     * @param {StepName} name
     * @param {Element} term
     */
    #numberOf(name, term) {
      const value = html("dd", { "data-number": name });
      this.#values.set(name, value);
      return html("div", { "data-step": name }, term, value);
    }
    /**
     * Show the numbers of one cell.
     *
     * @param {number} query
     * @param {number} key
     * @param {{isPinned: boolean, stage: StepName, dimension: number}} how `dimension` is the one of z
     *   to spell out
     */
    show(query, key, { isPinned, stage, dimension }) {
      const { head, steps: steps2, queries, keys } = this.#opened;
      const at = query * head.k.rows + key;
      this.host.dataset.stage = stage;
      this.#paint(query, key, dimension);
      for (const [name, node] of this.#values) {
        const value = name === "output" ? rowOf(steps2.output, query)[dimension] : steps2[name].values[at];
        node.textContent = digits(value);
        const address = this.#addressOf(name, query, name === "output" ? dimension : key);
        if (address) node.setAttribute("data-address", address);
        else node.removeAttribute("data-address");
        node.parentElement?.classList.toggle("hl-now", name === stage);
      }
      this.numbers.dataset.of = `${queries.labels[query]} → ${keys.labels[key]}`;
      this.outputTerm.textContent = `z[${dimension}]`;
      this.maskTerm.textContent = head.mask.values[at] ? "mask: open" : "mask: hidden";
      this.title.replaceChildren(
        html("bdi", null, queries.labels[query]),
        " → ",
        html("bdi", null, keys.labels[key]),
        html("small", null, `query ${query}, key ${key}${isPinned ? ", pinned" : ""}`)
      );
      this.#describe(query, key, at, isPinned);
    }
    /**
     * @param {number} query
     * @param {number} key
     * @param {number} dimension
     */
    #paint(query, key, dimension) {
      const { head, steps: steps2 } = this.#opened;
      const parts = this.#parts;
      const palette = this.#palette;
      const [q, k, v] = [rowOf(head.q, query), rowOf(head.k, key), rowOf(head.v, key)];
      const weights = rowOf(steps2.weights, query);
      const within2 = (x, most) => colorAt(this.#signed, x, -most, most);
      parts.query.paint(q, (x) => within2(x, this.#vectorReach));
      parts.key.paint(k, (x) => within2(x, this.#vectorReach));
      const products2 = Float64Array.from(q, (x, i) => x * k[i]);
      parts.products.paint(products2, palette);
      parts.row.paint(weights, palette, key);
      parts.flow.paint(v, (x) => within2(weights[key] * x, this.#valueReach));
      const given = Float64Array.from(weights, (p, j) => p * rowOf(head.v, j)[dimension]);
      parts.given.paint(given, palette, key);
    }
    /**
     * @param {number} query
     * @param {number} key
     * @param {number} at
     * @param {boolean} isPinned
     */
    #describe(query, key, at, isPinned) {
      const { head, queries, keys } = this.#opened;
      const { product, scaled, weights } = this.#opened.steps;
      const numbers = [product, scaled, weights].map(({ values }) => digits(values[at]));
      const masked2 = head.mask.values[at] ? "" : "masked, ";
      this.say(
        `${queries.labels[query]} attends to ${keys.labels[key]}: q·k ${numbers[0]}, scaled ${numbers[1]}, ${masked2}weight ${numbers[2]}`,
        isPinned
      );
    }
    /**
     * The panel's drawings in sight, each with its caption, for export.
     *
     * @returns {Drawing[]}
     */
    drawings() {
      const figures = Object.entries(CAPTIONS).map(([name, caption]) => ({
        caption,
        drawing: this.#parts[
          /** @type {keyof typeof CAPTIONS} */
          name
        ].node
      }));
      return figures.filter(({ drawing }) => drawing.getBoundingClientRect().height > 0);
    }
  };
  function makeParts({ q, k }) {
    return {
      query: new Strip(q.columns),
      key: new Strip(q.columns),
      products: new Bars(q.columns, true),
      row: new Bars(k.rows, false),
      flow: new Strip(q.columns),
      given: new Bars(k.rows, true)
    };
  }
  function figure(name, { node }) {
    return html("figure", { "data-part": name }, html("figcaption", null, CAPTIONS[name]), node);
  }
  function wide(height, ...children) {
    const look = { viewBox: `0 0 ${WIDTH} ${height}`, preserveAspectRatio: "none", height };
    return svg("svg", { ...look, "aria-hidden": "true" }, children);
  }
  var Strip = class {
    /** @param {number} size */
    constructor(size) {
      const width = WIDTH / size;
      this.cells = Array.from(
        { length: size },
        (_, i) => svg("rect", { x: i * width, y: 0, width: width + 0.3, height: STRIP })
      );
      this.node = wide(STRIP, ...this.cells);
    }
    /**
     * @param {Numbers} values
     * @param {(value: number) => string} color
     */
    paint(values, color) {
      this.cells.forEach((cell, i) => cell.setAttribute("fill", color(values[i])));
    }
  };
  var Bars = class {
    /**
     * @param {number} size how many
     * @param {boolean} signed
     */
    constructor(size, signed) {
      this.size = size;
      this.signed = signed;
      this.base = signed ? BARS / 2 : BARS;
      this.paths = { up: svg("path"), down: svg("path"), marked: svg("path") };
      const { base } = this;
      this.line = svg("line", { x1: 0, x2: WIDTH, y1: base, y2: base, "stroke-width": 1 });
      this.node = wide(BARS, ...Object.values(this.paths), this.line);
    }
    /**
     * @param {Numbers} values
     * @param {Palette} palette
     * @param {number} [marked] the bar to mark
     */
    paint(values, palette, marked = -1) {
      const drawn = this.#draw(values, marked);
      const high = palette.diverging.at(-1) ?? palette.accent;
      const [low] = palette.diverging;
      const fills = this.signed ? { up: high, down: low, marked: palette.frame } : { up: palette.muted, down: low, marked: palette.accent };
      for (
        const kind of
        /** @type {const} */
        ["up", "down", "marked"]
      ) {
        this.paths[kind].setAttribute("d", drawn[kind]);
        this.paths[kind].setAttribute("fill", fills[kind]);
      }
      this.line.setAttribute("stroke", palette.line);
    }
    /**
     * @param {Numbers} values
     * @param {number} marked
     */
    #draw(values, marked) {
      const drawn = { up: "", down: "", marked: "" };
      const most = this.signed ? reach(values) : 1;
      const room = this.signed ? BARS / 2 - 2 : BARS - 2;
      const width = WIDTH / this.size;
      for (let i = 0; i < this.size; i++) {
        const height = values[i] / most * room;
        const kind = i === marked ? "marked" : height < 0 ? "down" : "up";
        const least = i === marked && Math.abs(height) < 1.5 ? 1.5 : height;
        const x = i * width + width * 0.1;
        drawn[kind] += `M${x.toFixed(2)} ${this.base}v${(-least).toFixed(2)}h${(width * 0.8).toFixed(2)}V${this.base}z`;
      }
      return drawn;
    }
  };

  // viz/live/microscope/proof.js
  var ARRAYS = {
    product: "product",
    scaled: "scaled",
    biased: "scores",
    masked: "scores",
    weights: "pattern",
    output: "z"
  };
  function addressesOf({ data, group, settings }) {
    const [site, { head }] = [group.sites[settings.layer], settings];
    if (!data.has_independent) return () => null;
    return (step, row, column) => `${site}.${ARRAYS[step]}[${head},${row},${column}]`;
  }
  function pointAt(scope, { step, row, column, drawn }) {
    const address = addressesOf(scope)(step, row, column);
    if (!address) return pointAway();
    const { queries, keys } = scope.between;
    const place = step === "output" ? `dimension ${column}` : keys.labels[column];
    const of = `${queries.labels[row]} → ${place}`;
    point({ run: scope.data.key, address, drawn, of, host: scope.root });
  }
  async function errorOnScreen(key, sites, screen) {
    const named = /L(\d+) H(\d+)$/.exec(screen.title);
    if (!named) return { error: NaN, n: 0 };
    const [layer, head] = [Number(named[1]), Number(named[2])];
    const array = (name) => independent(key, `${sites[layer]}.${name}[${head}]`);
    const names = ["mask", ...new Set(Object.values(ARRAYS))];
    const found = await Promise.all(names.map(array));
    const arrays = Object.fromEntries(names.map((name, i) => [name, found[i]]));
    const ofCells = errorOfCells(arrays, screen);
    const ofNumbers = errorOfNumbers(arrays, screen.panel);
    const ofNames = errorOfNames(screen);
    const all = [ofCells, ofNumbers, ofNames];
    return {
      error: Math.max(...all.map(({ error }) => error)),
      n: all.reduce((sum, { n }) => sum + n, 0)
    };
  }
  function errorOfNames({ stage, names, panel, texts }) {
    const ofTokens = names.filter(({ axis }) => axis === "row" || stage !== "output");
    const labels = ofTokens.map(({ label }) => label);
    const ofPanel = Array.from(
      panel.querySelectorAll("h3 bdi"),
      ({ textContent }) => textContent ?? ""
    );
    const all = [...labels, ...ofPanel];
    const [query, key] = placeOf2(panel) ?? [];
    const expected = [
      ...ofTokens.map(({ axis, at }) => (axis === "row" ? texts.rows : texts.columns)[at]),
      ...query === void 0 ? [] : [texts.rows[query], texts.columns[key]]
    ];
    return {
      error: errorOfLabels(
        all,
        expected.map((text) => text ?? null)
      ),
      n: all.length
    };
  }
  function placeOf2(panel) {
    const said = panel.querySelector("h3 small")?.textContent ?? "";
    const place = /query (\d+), key (\d+)/.exec(said);
    return place && [Number(place[1]), Number(place[2])];
  }
  function errorOfCells(arrays, { stage, cells: cells2, isFirstHidden: isFirstHidden2 }) {
    const expected = arrays[ARRAYS[stage]];
    const isMasked = stage === "masked" || stage === "weights";
    const isWhole = cells2.length === expected.rows;
    let error = isWhole ? 0 : NaN;
    let n = 0;
    for (let i = 0; isWhole && i < expected.rows; i++) {
      rowOf(expected, i).forEach((value, j) => {
        const isHidden = isMasked && !arrays.mask.values[i * expected.columns + j];
        const isLeftOut = stage === "weights" && isFirstHidden2 && j === 0;
        const shown2 = cells2[i][j];
        const ofHidden = Number.isNaN(shown2) ? 0 : NaN;
        error = Math.max(error, isHidden || isLeftOut ? ofHidden : relative(shown2, value));
        n += 1;
      });
    }
    return { error, n };
  }
  function relative(shown2, value) {
    return Math.abs(shown2 - value) / Math.max(1, Math.abs(value));
  }
  function errorOfNumbers(arrays, panel) {
    const place = placeOf2(panel);
    const dimension = /z\[(\d+)\]/.exec(panel.querySelector("[data-term=output]")?.textContent ?? "");
    const nodes = Array.from(panel.querySelectorAll("dd[data-number]"));
    if (!place || !dimension || !nodes.length) return { error: NaN, n: 0 };
    const [query, key] = place;
    const isOpen = arrays.mask.values[query * arrays.mask.columns + key];
    const errors = nodes.map((node) => {
      const name = (
        /** @type {StepName} */
        node.getAttribute("data-number")
      );
      const row = rowOf(arrays[ARRAYS[name]], query);
      const value = name === "output" ? row[Number(dimension[1])] : row[key];
      const expected = name === "masked" && !isOpen ? -Infinity : value;
      const error = errorOfNumber(node.textContent ?? "", expected);
      return error / Math.max(1, Math.abs(value));
    });
    const mask = isOpen ? "mask: open" : "mask: hidden";
    const isSaid = panel.querySelector("[data-term=masked]")?.textContent === mask;
    return { error: isSaid ? Math.max(...errors) : NaN, n: errors.length + 1 };
  }

  // viz/live/microscope/reading/steps.js
  var LEAST = 1;
  async function readSteps(scope, { heatMap, panel }, tally) {
    const { settings, between: between2, data, group } = scope;
    const { drawnCells: cells2, drawnNames: names } = heatMap;
    const isFirstHidden2 = settings.hide_first && between2.kind === "self";
    const title = scope.title.textContent ?? "";
    const texts = await textsOf(scope, data.key);
    const screen = { title, stage: settings.stage, cells: cells2, names, panel, isFirstHidden: isFirstHidden2, texts };
    const { error, n } = await errorOnScreen(data.key, group.sites, screen);
    tally.add(error, group.sites[settings.layer], n);
    if (settings.stage === "weights") await readSides(scope, heatMap, title, tally);
  }
  async function readSides(scope, { sides, chart }, title, tally) {
    const truth = await truthOfHead(scope, { title });
    const drawn = chart._fullLayout;
    if (!truth || !drawn) return;
    const { weights, address } = truth;
    const { xaxis, yaxis } = drawn;
    const right = xaxis._offset + xaxis._length;
    const bits = weights.map(bitsOf);
    const received = weights[0].map((_, j) => weights.reduce((sum, row) => sum + row[j], 0));
    const found = Array.from(sides.querySelectorAll("rect"), (bar) => {
      const [x, y, width, height] = ["x", "y", "width", "height"].map(
        (side) => Number(bar.getAttribute(side))
      );
      const isRow = x >= right;
      const at = isRow ? Math.round(yaxis.p2c(y + height / 2 - yaxis._offset)) : Math.round(xaxis.p2c(x + width / 2 - xaxis._offset));
      const printed2 = /.*(?:entropy|received) ([\d.]+|< [\d.]+)/s.exec(bar.textContent ?? "")?.[1];
      const value = (isRow ? bits : received)[at] ?? NaN;
      tally.add(errorOfNumber(printed2 ?? "", value) / Math.max(1, value), address);
      return { isRow, value, length: isRow ? width : height };
    });
    for (const isRow of [true, false]) {
      const mine = found.filter((bar) => bar.isRow === isRow);
      const top = mine.reduce((a, b) => b.value > a.value ? b : a, mine[0]);
      for (const { value, length } of mine) {
        const wanted = top.value ? top.length * value / top.value : LEAST;
        tally.add(Math.abs(length - Math.max(LEAST, wanted)) / top.length, address);
      }
    }
  }

  // viz/live/microscope/views/map.js
  var LONG = 28;
  var HEIGHTS = { usual: 560, long: 660 };
  var PLAY_MS = 2e3;
  var BARS2 = "Bars: right, row entropy; below, total attention received.";
  var CITED = "Formula: Vaswani et al. 2017, eq. 1.";
  var PLAY = "▶ Play";
  var STOP = "■ Stop";
  var MapView = class extends View {
    /** The dimension of z to spell out. */
    #dimension = 0;
    /** The cell in view. @type {[number, number]} */
    #at = [0, 0];
    /** What the panel is laid out for. @type {[LoadedHead, Palette] | null} */
    #openFor = null;
    /** @type {(() => void) | null} */
    #stopPlaying = null;
    /**
     * @param {Microscope} scope
     * @param {HTMLElement} host
     */
    constructor(scope, host) {
      super(scope, host);
      this.stages = html("div");
      this.playButton = button(PLAY, () => this.play());
      this.says = html("p", { class: "hl-caption hl-says" });
      this.map = html("div", { class: "hl-map" });
      this.legend = html("p", { class: "hl-caption" });
      this.formula = new Formula();
      this.panel = html("div", { class: "hl-operands hl-cell-panel" });
      const label = { class: "hl-row hl-stages" };
      const controls = html("div", label, this.stages, this.playButton, this.says);
      const main = html("div", { class: "hl-main" }, this.map, this.legend);
      host.append(controls, this.formula.node, main);
      this.heatMap = new HeatMap(this.map, this.lifetime, {
        point: (row, column) => this.#point(row, column),
        pick: (row, column) => this.#pick(row, column),
        leave: () => this.#rest()
      });
      this.operands = new Operands(this.panel, (words, isAloud) => scope.say(words, isAloud));
      this.map.addEventListener("keydown", (event) => this.#key(event));
    }
    /** @override */
    async draw() {
      const { settings, loaded, palette, between: between2 } = this.scope;
      this.#makeRoom();
      const stage = this.#drawStages(loaded.head);
      this.says.textContent = stage.says;
      this.#dimension = Math.min(this.#dimension, loaded.head.q.columns - 1);
      if (this.#openFor?.[0] !== loaded || this.#openFor[1] !== palette) {
        this.operands.open({ ...loaded, ...between2 }, palette, addressesOf(this.scope));
        this.formula.open(loaded.head);
      }
      this.#openFor = [loaded, palette];
      const picture = this.#picture(settings.stage);
      const hidden = picture.blank?.some(Boolean) ? FIRST_HIDDEN : "";
      const bars = picture.sides ? BARS2 : "";
      this.legend.textContent = [bars, hidden, CITED].filter(Boolean).join(" ");
      const pairs = pairsInWords(this.#weights());
      focusable(
        this.map,
        `${stage.text} of ${this.scope.headName}. ${pairs} Arrow keys move the cell, Enter pins and unpins it.`
      );
      await this.heatMap.draw(picture, palette);
      this.#rest();
    }
    /**
     * The buttons of the stages, the chosen one checked.
     *
     * @param {HeadArrays} head
     * @returns {Stage} the chosen one
     */
    #drawStages(head) {
      const stages = this.scope.data.stages.map((stage) => worded(stage, head));
      fillOnce(this.stages, JSON.stringify([stages, Boolean(head.bias)]), () => {
        const options = stages.map(({ name, text, says: says2 }) => {
          const disabled = !hasStep(name, head);
          return { value: name, text, title: says2, disabled };
        });
        const pick = (stage) => this.scope.set({ stage: (
          /** @type {StepName} */
          stage
        ) });
        return [radios("hl-stage", "Stage", options, "", pick)];
      });
      check(this.stages, this.scope.settings.stage);
      return stages.find(({ name }) => name === this.scope.settings.stage) ?? stages[0];
    }
    /** The weights between tokens: stages know no words. */
    #weights() {
      const { head, steps: steps2 } = this.scope.loaded;
      return this.shownInTokens(steps2.weights, head.mask.values);
    }
    /**
     * @param {StepName} stage
     * @returns {Picture}
     */
    #picture(stage) {
      const { between: between2, loaded } = this.scope;
      const { head, steps: steps2 } = loaded;
      if (stage === "weights") {
        const shown2 = this.#weights();
        return { ...shown2, scale: weightScale(shown2), sides: this.#sides(shown2) };
      }
      const values = steps2[stage];
      const { rowTitle, columnTitle } = between2;
      const labels = { rowLabels: between2.queries.axis, columnLabels: between2.keys.axis };
      if (stage === "output") {
        const dimensions = Array.from({ length: values.columns }, (_, i) => String(i));
        const columns = { columnLabels: dimensions, columnTitle: "dimension of z" };
        const scale2 = signedScale("z", values.values);
        return { values, ...labels, rowTitle, ...columns, scale: scale2, hidden: null };
      }
      const isMasked = stage === "masked";
      const hidden = isMasked ? Uint8Array.from(head.mask.values, (x) => x ? 0 : 1) : null;
      const scale = signedScale(stage === "product" ? "q·k" : "score", values.values);
      return { values, ...labels, rowTitle, columnTitle, scale, hidden };
    }
    /**
     * Bars beside the weights: how widely each query's row spreads, what each key receives.
     *
     * @param {Shown} shown
     * @returns {Sides}
     */
    #sides({ values, rows, columns }) {
      const entropies = rowEntropies(values);
      const most = Math.log2(values.columns) || 1;
      const received = columnSums(values);
      const top = Math.max(...received);
      const strongestQuery = (key) => argmax(rows.map((_, i) => rowOf(values, i)[key]));
      return {
        rows: Array.from(entropies, (bits, i) => ({
          share: bits / most,
          tip: `${rows[i]}: row entropy ${digits(bits, 2)} bits; click for its largest weight`
        })),
        columns: Array.from(received, (sum, j) => ({
          share: sum / top,
          tip: `${columns[j]}: total attention received ${digits(sum, 2)}; click for the query that attends to it most`
        })),
        pickRow: (i) => this.#pick(i, argmax(rowOf(values, i))),
        pickColumn: (j) => this.#pick(strongestQuery(j), j)
      };
    }
    // --- cells --------------------------------------------------------------------------------------
    get #isOutput() {
      return this.scope.settings.stage === "output";
    }
    /**
     * The mouse is over a cell: show it unless one is pinned.
     *
     * @param {number} row
     * @param {number} column
     */
    #point(row, column) {
      if (this.#isOutput) this.#dimension = column;
      if (!this.scope.settings.cell) this.#show(row, this.#keyOf(row, column));
      else if (this.#isOutput) this.#rest();
    }
    /**
     * The key a place stands for; in z, whose columns are dimensions, the one already in view.
     *
     * @param {number} row
     * @param {number} column
     */
    #keyOf(row, column) {
      if (!this.#isOutput) return column;
      const { head, steps: steps2 } = this.scope.loaded;
      const [, key] = this.scope.cell();
      const isOpen = head.mask.values[row * head.mask.columns + key];
      return isOpen ? key : argmax(rowOf(steps2.weights, row));
    }
    /**
     * Pin a cell, or unpin it.
     *
     * @param {number} row
     * @param {number} column
     */
    #pick(row, column) {
      const { cell: pinned } = this.scope.settings;
      const cell = [row, this.#keyOf(row, column)];
      const isAgain = pinned && pinned[0] === cell[0] && pinned[1] === cell[1];
      if (isAgain) this.scope.looked = cell;
      this.scope.setQuietly({ cell: isAgain ? null : cell });
      this.#rest();
      this.map.focus({ preventScroll: true });
    }
    #rest() {
      this.#show(...this.scope.cell());
    }
    /**
     * @param {number} query
     * @param {number} key
     */
    #show(query, key) {
      const { settings, loaded } = this.scope;
      const { stage } = settings;
      const isPinned = Boolean(settings.cell);
      const dimension = this.#dimension;
      this.#at = [query, key];
      this.heatMap.mark(query, this.#isOutput ? dimension : key, isPinned);
      this.operands.show(query, key, { isPinned, stage, dimension });
      this.formula.show(stage, { ...loaded, query, key, dimension });
      this.changed(false);
      const column = this.#isOutput ? dimension : key;
      const drawn = this.heatMap.drawnAt(query, column);
      pointAt(this.scope, { step: stage, row: query, column, drawn });
    }
    /**
     * @override
     * @param {Tally} tally
     */
    read(tally) {
      return readSteps(this.scope, this, tally);
    }
    /** @param {KeyboardEvent} event */
    #key(event) {
      const [query, key] = this.#at;
      const column = this.#isOutput ? this.#dimension : key;
      const size = this.heatMap.picture?.values ?? { rows: 1, columns: 1 };
      const to = cellAfter(event.key, [query, column], size);
      if (event.key === "Enter" || event.key === " ") this.#pick(query, column);
      else if (event.key === "Escape") this.scope.setQuietly({ cell: null });
      else if (to) this.#moveTo(to);
      else return;
      event.preventDefault();
      if (!to) this.#rest();
    }
    /**
     * Arrow keys carry a pinned cell along; else they only look.
     *
     * @param {[number, number]} place
     */
    #moveTo([row, column]) {
      if (this.#isOutput) this.#dimension = column;
      const cell = [row, this.#isOutput ? this.#at[1] : column];
      if (this.scope.settings.cell) this.scope.setQuietly({ cell });
      else this.scope.looked = cell;
      this.#show(...cell);
      this.scope.say(this.scope.said, true);
    }
    // --- play ---------------------------------------------------------------------------------------
    /** Go through all stages, or stop. */
    play() {
      if (this.#stopPlaying) return this.#stop();
      const { head } = this.scope.loaded;
      const stages = this.scope.data.stages.filter(({ name }) => hasStep(name, head));
      this.playButton.textContent = STOP;
      this.scope.set({ stage: stages[0].name });
      let at = 0;
      this.#stopPlaying = this.lifetime.interval(() => {
        at += 1;
        if (at >= stages.length) this.#stop();
        else this.scope.set({ stage: stages[at].name });
      }, PLAY_MS);
    }
    #stop() {
      this.#stopPlaying?.();
      this.#stopPlaying = null;
      this.playButton.textContent = PLAY;
    }
    /** @override */
    leave() {
      this.#stop();
      this.panel.remove();
    }
    /** A long sentence gets the width for its map; the numbers then stand below the overview. */
    #makeRoom() {
      const { between: between2, isWide, slot } = this.scope;
      const isLong = isWide && between2.keys.labels.length > LONG;
      this.host.classList.toggle("hl-long", isLong);
      this.heatMap.sizes.most = isLong ? HEIGHTS.long : HEIGHTS.usual;
      const place = isLong ? slot : this.host;
      if (this.panel.parentElement !== place) place.append(this.panel);
    }
    // --- to save ------------------------------------------------------------------------------------
    /**
     * @override
     * @returns {Table | null}
     */
    table() {
      const { picture } = this.heatMap;
      if (!picture) return null;
      const { queries, keys } = this.scope.between;
      const corner = `${picture.rowTitle} \\ ${picture.columnTitle}`;
      const columns = this.#isOutput ? null : keys.labels;
      return { values: picture.values, rows: queries.labels, columns, corner };
    }
    /**
     * @override
     * @returns {Promise<Drawing[]>}
     */
    async drawings() {
      const caption = `${this.says.textContent} ${this.scope.said}.`;
      return [{ caption, drawing: await this.heatMap.svgText() }, ...this.operands.drawings()];
    }
  };
  function hasStep(name, head) {
    return name !== "biased" || Boolean(head.bias);
  }
  function emptyInWords({ mask }) {
    const rows = Array.from({ length: mask.rows }, (_, i) => rowOf(mask, i));
    const n = rows.filter((row) => !row.some(Boolean)).length;
    return n ? ` Of ${n} ${n === 1 ? "row" : "rows"} that may attend to nothing, zeros.` : "";
  }
  function worded(stage, head) {
    if (stage.name === "biased" && !head.bias)
      return { ...stage, says: "This model adds nothing to its scores." };
    if (stage.name === "masked" && head.mask.values.every(Boolean))
      return { ...stage, says: "Nothing is masked here." };
    if (stage.name === "weights") return { ...stage, says: stage.says + emptyInWords(head) };
    if (stage.name !== "scaled" || isUsualScale(head)) return stage;
    const scale = scaleText(head);
    const says2 = scale === "1" ? "Not scaled: times 1." : `Multiplied by the model’s scale, ${scale}.`;
    return { ...stage, text: `× ${scale}`, says: says2 };
  }

  // viz/live/microscope/reading/sentence.js
  var STRONG = 0.05;
  var ROUNDING4 = 1e-5;
  var LEVELS2 = 255;
  var CHOSEN = 2;
  async function readSentence(scope, parts, tally) {
    const { settings, between: between2, palette, group } = scope;
    const title = scope.title.textContent ?? "";
    const truth = await truthOfHead(scope, { title, isInWords: settings.words });
    if (!truth) return tally.hold(false, group.name);
    const { address, weights, open: open3, rows, columns } = truth;
    const [ofRow, ofColumn] = parts.map(({ picture }) => wordsOf(picture));
    const [key, query] = [ofRow, ofColumn].map(chosenIn);
    const isThere = Boolean(weights[query]) && key >= 0 && key < columns.length;
    tally.hold(
      isThere && ofRow.length === columns.length && ofColumn.length === rows.length,
      address
    );
    if (Number.isNaN(tally.error)) return;
    const isFirstOut = settings.hide_first && between2.kind === "self";
    const named = parts.map(({ title: node }) => node.querySelector("bdi")?.textContent ?? "");
    tally.hold(saysText(named[0], rows[query]) && saysText(named[1], columns[key]), address);
    const [first, second] = parts.map(({ title: node }) => largestIn(node));
    const row = {
      ...{ words: ofRow, largest: first, texts: columns },
      weights: weights[query].map((p, j) => open3[query][j] ? p : 0),
      open: open3[query],
      isOut: columns.map((_, j) => isFirstOut && j === 0)
    };
    const column = {
      ...{ words: ofColumn, largest: second, texts: rows },
      weights: weights.map((from, i) => open3[i][key] ? from[key] : 0),
      open: open3.map((from) => from[key]),
      isOut: rows.map(() => isFirstOut && key === 0)
    };
    const high = Math.max(0, ...seen(row), ...seen(column)) || 1;
    const shades = new Shades(palette.sequential);
    for (const line of [row, column]) readLine(tally, line, { shades, high, address });
  }
  function seen({ weights, isOut }) {
    return weights.filter((_, i) => !isOut[i]);
  }
  function wordsOf(picture) {
    return Array.from(picture.querySelectorAll(".hl-word"), (node) => ({
      box: (
        /** @type {SVGRectElement} */
        node.querySelector("rect")
      ),
      texts: Array.from(node.querySelectorAll("text"), ({ textContent }) => textContent ?? ""),
      isHatched: node.querySelector("path") !== null
    }));
  }
  function chosenIn(words) {
    return words.findIndex(({ box }) => Number(box.getAttribute("stroke-width")) > CHOSEN);
  }
  function largestIn(title) {
    return title.querySelector("[data-number=largest]")?.textContent ?? "";
  }
  function readLine(tally, line, { shades, high, address }) {
    const { words, largest, weights, open: open3, isOut, texts } = line;
    words.forEach(({ box, texts: [label = "", number = ""], isHatched }, i) => {
      const level = isOut[i] ? 0 : LEVELS2 * weights[i] / high;
      const [red, green, blue] = channels(box.getAttribute("fill") ?? "");
      const off = shades.errorOf(red, green, blue, level);
      tally.add(off / LEVELS2 * high, address);
      tally.hold(box.hasAttribute("stroke-dasharray") !== open3[i], address);
      tally.hold(isHatched === isOut[i] && saysText(label, texts[i]), address);
      const isMissing = !number && !isOut[i] && weights[i] >= STRONG + ROUNDING4;
      tally.add(number ? errorOfNumber(number, weights[i]) : isMissing ? NaN : 0, address);
    });
    const all = seen(line);
    if (all.length) tally.add(errorOfNumber(largest, Math.max(...all)), address);
  }

  // viz/live/microscope/views/sentence.js
  var LEAST_WIDTH2 = 300;
  var LEAST_WORD = 24;
  var BOX = 32;
  var LINE = 52;
  var GAP3 = 4;
  var HATCH = 8;
  var STRONG2 = 0.05;
  var FONT = "15px system-ui, sans-serif";
  var SAYS = "Click a word to choose it. The shade is the weight, one scale for both lines; dashed words are masked. Numbers at the three largest and wherever it is at least 0.05.";
  var SentenceView = class extends View {
    /** @type {Shown} */
    #shown;
    /** The query whose row is shown. */
    #token = 0;
    /** In cross-attention, the key whose column is shown; else that of the token. */
    #key = 0;
    /**
     * @param {Microscope} scope
     * @param {HTMLElement} host
     */
    constructor(scope, host) {
      super(scope, host);
      this.says = html("p", { class: "hl-caption" });
      this.tokens = html("div", { class: "hl-row" });
      this.parts = [0, 1].map(() => ({
        title: html("h3", { class: "hl-cell-title" }),
        picture: svg("svg", { class: "hl-sentence", role: "img" })
      }));
      const wide2 = html("div", { class: "hl-wide" });
      wide2.append(this.tokens, this.says);
      for (const { title, picture } of this.parts) wide2.append(title, picture);
      host.append(wide2);
    }
    /** @override */
    draw() {
      const { head, steps: steps2 } = this.scope.loaded;
      this.#shown = this.shown(steps2.weights, head.mask.values);
      const { kind, rows, values } = this.#shown;
      this.#token = this.#chosen(rows.length - 1);
      this.#key = kind === "self" ? this.#token : argmax(rowOf(values, this.#token));
      const options = rows.map((label, i) => [i, `${i}: ${label}`]);
      fillOnce(this.tokens, options.join(), () => [
        select("Token", options, this.#token, (at) => this.scope.set({ token: Number(at) }))
      ]);
      const list = this.tokens.querySelector("select");
      if (list) list.value = String(this.#token);
      this.says.textContent = SAYS + (this.#shown.blank.some(Boolean) ? ` ${FIRST_HIDDEN}` : "");
      this.#paint();
    }
    /**
     * The chosen token, else the query of the cell in view.
     *
     * @param {number} last
     */
    #chosen(last2) {
      const { settings, between: between2 } = this.scope;
      if (settings.token != null) return Math.min(settings.token, last2);
      const [query] = this.scope.cell();
      const itsWord = settings.words ? between2.queries.words?.[query] : void 0;
      return Math.min(itsWord ?? query, last2);
    }
    #paint() {
      const { kind, values, rows, columns, hidden, blank } = this.#shown;
      const [token, key] = [this.#token, this.#key];
      const isMasked = (i, j) => Boolean(hidden[i * values.columns + j]);
      const isBlank = (i, j) => Boolean(blank[i * values.columns + j]);
      const weight = (i, j) => isMasked(i, j) ? 0 : values.values[i * values.columns + j];
      const row = Float64Array.from(columns, (_, j) => weight(token, j));
      const column = Float64Array.from(rows, (_, i) => weight(i, key));
      const isSelf = kind === "self";
      const choose = (i) => this.scope.set({ token: i });
      const chooseKey = (j) => {
        this.#key = j;
        this.#paint();
        this.changed();
      };
      const ofRow = {
        ...{ labels: columns, weights: row, chosen: isSelf ? token : key },
        isMasked: (j) => isMasked(token, j),
        isBlank: (j) => isBlank(token, j),
        pick: isSelf ? choose : chooseKey,
        addressOf: (j) => this.weightAddress(token, j)
      };
      const ofColumn = {
        ...{ labels: rows, weights: column, chosen: token, pick: choose },
        isMasked: (i) => isMasked(i, key),
        isBlank: (i) => isBlank(i, key),
        addressOf: (i) => this.weightAddress(i, key)
      };
      const high = Math.max(0, ...visible(ofRow), ...visible(ofColumn)) || 1;
      this.#title(0, [html("bdi", null, rows[token]), " attends to: its row"], ofRow);
      const ofKey = ["What attends to ", html("bdi", null, columns[key]), ": its column"];
      this.#title(1, ofKey, ofColumn);
      this.#draw(0, ofRow, high);
      this.#draw(1, ofColumn, high);
      this.#describe(0, `${rows[token]} attends to`, ofRow);
      this.#describe(1, `What attends to ${columns[key]}`, ofColumn);
    }
    /**
     * @param {number} part
     * @param {(Node | string)[]} words
     * @param {Shades} shades
     */
    #title(part, words, shades) {
      const most = Math.max(...visible(shades));
      const isHidden = most === -Infinity;
      const address = shades.addressOf(strongest(shades)[0] ?? 0);
      const said = isHidden ? ["hidden by choice"] : [`largest${asideOf(shades)} `, traced(most, "largest", address, 3)];
      const largest = html("small", null, said);
      this.parts[part].title.replaceChildren(...words, largest);
    }
    /**
     * Words in lines as wide as the page, each in the shade of its weight.
     *
     * @param {number} part
     * @param {Shades} shades
     * @param {number} high the weight of the strongest shade
     */
    #draw(part, shades, high) {
      const { palette } = this.scope;
      const { picture } = this.parts[part];
      const { labels, weights, isMasked, isBlank, chosen, pick, addressOf } = shades;
      const table = ramp(palette.sequential);
      const top = strongest(shades);
      const width = Math.max(LEAST_WIDTH2, (picture.parentElement?.clientWidth ?? 0) - 4);
      const { boxes, height } = placed(labels, width);
      const nodes = boxes.map((box, i) => {
        const color = colorAt(table, isBlank(i) ? 0 : weights[i], 0, high);
        const isStrong = weights[i] >= STRONG2 || top.includes(i) && weights[i] > 0;
        const isOut = isBlank(i);
        const number = isStrong && !isOut ? digits(weights[i], weights[i] < 0.01 ? 3 : 2) : null;
        const marks = { isOut, isMasked: isMasked(i), isChosen: i === chosen };
        const look = { color, number, address: addressOf(i), ...marks };
        return svg(
          "g",
          { class: "hl-word", "data-of": labels[i], onclick: () => pick(i) },
          word(box, look, palette)
        );
      });
      setAll(picture, { viewBox: `0 0 ${width} ${height}`, width, height });
      picture.replaceChildren(...nodes);
    }
    /**
     * @param {number} part
     * @param {string} words
     * @param {Shades} shades
     */
    #describe(part, words, shades) {
      const { labels, weights, isMasked } = shades;
      const named = strongest(shades).map(
        (i) => `${labels[i]} ${isMasked(i) ? "masked" : digits(weights[i], 3)}`
      );
      const said = named.length ? named.join("; ") : "hidden by choice";
      this.parts[part].picture.setAttribute("aria-label", `${words}${asideOf(shades)}: ${said}.`);
    }
    /**
     * @override
     * @param {Tally} tally
     */
    read(tally) {
      return readSentence(this.scope, this.parts, tally);
    }
    /** @override */
    table() {
      return patternTable(this.#shown);
    }
    /**
     * @override
     * @returns {Drawing[]}
     */
    drawings() {
      return this.parts.map(({ title, picture }) => ({
        caption: title.textContent ?? "",
        drawing: picture
      }));
    }
  };
  function strongest({ weights, isBlank }) {
    const order = Array.from(weights.keys()).filter((i) => !isBlank(i));
    return order.sort((a, b) => weights[b] - weights[a]).slice(0, WEIGHT_PAIRS);
  }
  function visible({ weights, isBlank }) {
    return Array.from(weights).filter((_, i) => !isBlank(i));
  }
  function asideOf({ weights, isBlank }) {
    const n = Array.from(weights).filter((_, i) => isBlank(i)).length;
    return n && n < weights.length ? FIRST_ASIDE : "";
  }
  function placed(labels, width) {
    let [x, y] = [2, 4];
    const boxes = labels.map((label) => {
      const text = clipped(label);
      const wide2 = Math.max(LEAST_WORD, 10 + textWidth(text));
      if (x + wide2 > width) [x, y] = [2, y + LINE];
      const box = { x, y, width: wide2, text };
      x += wide2 + GAP3;
      return box;
    });
    return { boxes, height: y + LINE };
  }
  function word({ x, y, width, text }, look, palette) {
    const { color, number, address, isMasked, isOut, isChosen } = look;
    const from = { "data-number": "weight", "data-address": address };
    const middle = { x: x + width / 2, "text-anchor": "middle" };
    const line = isChosen ? { stroke: palette.frame, "stroke-width": 2.5 } : { stroke: palette.line, "stroke-width": 1 };
    const dashes = { "stroke-dasharray": isMasked ? "3 3" : null };
    const small = { class: "hl-small", fill: palette.muted };
    return [
      svg("rect", { x, y, width, height: BOX, rx: 4, fill: color, ...line, ...dashes }),
      isOut ? svg("path", { d: hatchOf(x, y, width), stroke: palette.hatch }) : null,
      svg("text", { ...middle, y: y + 21, fill: inkOn(color) }, text),
      number && svg("text", { ...middle, y: y + 44, ...small, ...from }, number)
    ];
  }
  function hatchOf(x, y, width) {
    let path = "";
    for (let at = HATCH - BOX; at < width; at += HATCH) {
      const [left, right] = [Math.max(at, 0), Math.min(at + BOX, width)];
      path += `M${x + left} ${y + BOX - left + at}L${x + right} ${y + BOX - right + at}`;
    }
    return path;
  }
  var ruler = null;
  function textWidth(text) {
    ruler ??= html("canvas").getContext("2d");
    if (!ruler) return 0;
    ruler.font = FONT;
    return ruler.measureText(text).width;
  }

  // viz/live/microscope/views/summary.js
  var SLACK2 = 1e-4;
  var SummaryView = class extends View {
    /** @type {Shown | null} */
    #shown = null;
    /**
     * @param {Microscope} scope
     * @param {HTMLElement} host
     */
    constructor(scope, host) {
      super(scope, host);
      this.controls = html("div", { class: "hl-row" });
      this.says = html("p", { class: "hl-caption" });
      this.map = html("div", { class: "hl-map" });
      host.append(html("div", { class: "hl-wide" }, this.controls, this.says, this.map));
      this.heatMap = new HeatMap(this.map, this.lifetime, {
        point: (row, column) => this.#point(row, column)
      });
    }
    /**
     * @override
     * @param {() => boolean} isCurrent
     */
    async draw(isCurrent) {
      const { palette } = this.scope;
      this.#drawControls();
      const name = this.#name();
      const { pattern, mask } = await this.scope.loadSummary();
      if (!isCurrent()) return;
      const shown2 = this.shown(pattern, mask.values);
      this.#shown = shown2;
      const hidden = shown2.blank.some(Boolean) ? ` ${FIRST_HIDDEN}` : "";
      const pairs = pairsTraced(shown2, (row, column) => this.#addressOf(row, column));
      const said = [`${name}. `, ...rowSumsInWords(shown2.values), " ", ...pairs, hidden];
      fill(this.says, this.scope.data.key, ...said);
      pictured(this.map, `${name}. ${pairsInWords(shown2)}`);
      await this.heatMap.draw({ ...shown2, scale: weightScale(shown2) }, palette);
    }
    #drawControls() {
      const { how, over } = this.scope.settings;
      const hows = this.scope.data.how.map(({ name, text }) => [name, text]);
      const spans = this.#spans();
      fillOnce(this.controls, [this.scope.group.name, ...spans].join(), () => [
        select("Summary", hows, how, (value) => this.scope.set({ how: value })),
        select(
          "Over",
          spans,
          over,
          (value) => this.scope.set({ over: (
            /** @type {"layer" | "head" | "all"} */
            value
          ) })
        )
      ]);
      const lists = this.controls.querySelectorAll("select");
      [how, over].forEach((value, i) => {
        lists[i].value = value;
      });
    }
    /**
     * What can be summarised over.
     *
     * @returns {["layer" | "head" | "all", string][]}
     */
    #spans() {
      const { layer, head } = this.scope.settings;
      return [
        ["layer", `all heads of L${layer}`],
        ["head", `H${head} in all layers`],
        ["all", "all heads of all layers"]
      ];
    }
    /**
     * Where a cell comes from; null between words, and where there is no independent run.
     *
     * @param {number} row
     * @param {number} column
     */
    #addressOf(row, column) {
      const { how, over, layer, head, words } = this.scope.settings;
      if (words || !this.scope.data.has_independent) return null;
      const index = { layer: `${layer},`, head: `${head},`, all: "" }[over];
      return `${this.scope.group.name}.${how}_${over}[${index}${row},${column}]`;
    }
    /** What the map shows: Mean over all heads of L2. */
    #name() {
      const { how, over } = this.scope.settings;
      const howText = this.scope.data.how.find(({ name }) => name === how)?.text ?? how;
      const span2 = this.#spans().find(([value]) => value === over);
      return `${howText[0].toUpperCase()}${howText.slice(1)} over ${span2?.[1]}`;
    }
    /**
     * @param {number} row
     * @param {number} column
     */
    #point(row, column) {
      if (!this.#shown) return;
      this.heatMap.mark(row, column);
      const { rows, columns } = this.#shown;
      const weight = weightAt(this.#shown, row, column);
      this.scope.say(`${rows[row]} attends to ${columns[column]}: ${weight}`, false);
    }
    /**
     * @override
     * @param {Tally} tally
     */
    read(tally) {
      return readSummary(this.scope, this.says, this.heatMap, tally);
    }
    /** @override */
    table() {
      return this.#shown ? patternTable(this.#shown) : null;
    }
    /** @override */
    async drawings() {
      if (!this.#shown) return [];
      return [{ caption: this.says.textContent ?? "", drawing: await this.heatMap.svgText() }];
    }
  };
  function rowSumsInWords(values) {
    const sums = Array.from(
      { length: values.rows },
      (_, i) => rowOf(values, i).reduce((sum, p) => sum + p, 0)
    );
    const open3 = sums.filter((sum) => sum > 0);
    const [low, high] = [Math.min(...open3), Math.max(...open3)];
    const n = sums.length - open3.length;
    const empty = n ? ` ${n} may attend to nothing and ${n === 1 ? "is" : "are"} zero.` : "";
    if (!open3.length) return ["All rows are zero."];
    const isOne = Math.abs(low - 1) < SLACK2 && Math.abs(high - 1) < SLACK2;
    if (isOne) return ["Rows sum to one.", empty];
    const [least, most] = [traced(low, "low", null, 2), traced(high, "high", null, 2)];
    return ["Rows sum to ", least, " to ", most, ".", empty];
  }

  // viz/live/microscope/views/whatif.js
  var HEIGHT2 = 480;
  var CHART = { width: 900, height: 120, base: 118, most: 112 };
  var TITLES = ["original", "modified"];
  var WhatIfView = class extends View {
    /** The original and the modified pattern. @type {Shown[]} */
    #sides = [];
    /**
     * @param {Microscope} scope
     * @param {HTMLElement} host
     */
    constructor(scope, host) {
      super(scope, host);
      const { changes: changes2, bounds } = scope.data;
      this.change = radios(
        "hl-change",
        "Change",
        asRadios(changes2),
        scope.settings.change,
        (change) => scope.set({ change })
      );
      const show = (x) => x.toFixed(1);
      this.heat = slider(
        "Temperature",
        { bounds: bounds.tau, value: scope.settings.tau, show },
        (tau) => {
          scope.setQuietly({ tau });
          this.changed();
          this.draw().then(() => this.changed());
        }
      );
      this.says = html("p", { class: "hl-caption", role: "status" });
      this.maps = TITLES.map((title) => this.#makeMap(title));
      const look = { role: "img", preserveAspectRatio: "none" };
      this.entropies = svg("svg", { class: "hl-entropies", ...look });
      setAll(this.entropies, { viewBox: `0 0 ${CHART.width} ${CHART.height}` });
      host.append(this.#layout(reasonsOf(changes2)));
    }
    /** @param {string} title */
    #makeMap(title) {
      const host = html("div", { class: "hl-map" });
      const heatMap = new HeatMap(host, this.lifetime, {
        point: (row, column) => this.#point(row, column),
        most: HEIGHT2
      });
      return { title: html("h3", null, title), host, heatMap };
    }
    /** @param {string} reasons why some changes cannot be made */
    #layout(reasons) {
      const sections = this.maps.map(({ title, host }) => html("section", null, title, host));
      const legend = "Entropy of each row in bits: left bar original, right bar modified. 0 is one key alone; the line is a row spread evenly.";
      const wide2 = html("div", { class: "hl-wide" });
      wide2.append(html("div", { class: "hl-row" }, this.change, this.heat));
      if (reasons) wide2.append(html("p", { class: "hl-caption", "data-why": "" }, reasons));
      wide2.append(
        this.says,
        html("div", { class: "hl-side" }, sections),
        html("p", { class: "hl-caption" }, legend),
        this.entropies
      );
      return wide2;
    }
    /** @override */
    async draw() {
      const { settings, loaded, palette, data } = this.scope;
      const { head, steps: original } = loaded;
      const { change, tau } = settings;
      check(this.change, change);
      this.heat.hidden = change !== "temperature";
      const modified = steps(head, changesOf(change, tau));
      const mask = head.mask.values;
      const open3 = change === "mask" ? mapped(head.mask, () => 1).values : mask;
      this.#sides = [
        this.shownInTokens(original.weights, mask),
        this.shownInTokens(modified.weights, open3)
      ];
      const text = data.changes.find(({ name }) => name === change)?.text ?? TITLES[1];
      this.maps[1].title.textContent = change === "temperature" ? `temperature ${tau.toFixed(1)}` : text;
      const scale = sharedWeightScale(this.#sides);
      for (const [i, map] of this.maps.entries()) {
        pictured(map.host, `${map.title.textContent}: ${pairsInWords(this.#sides[i])}`);
        await map.heatMap.draw({ ...this.#sides[i], scale }, palette);
      }
      this.#summarise(original.weights, modified.weights, mask);
    }
    /**
     * @param {Matrix} before
     * @param {Matrix} after
     * @param {Numbers} mask
     */
    #summarise(before, after, mask) {
      const entropies = [before, after].map(rowEntropies);
      const { data, group, settings } = this.scope;
      const { layer, head, change } = settings;
      const address = data.has_independent ? `${group.sites[layer]}.mean_entropy[${head}]` : null;
      const was = traced(mean(entropies[0]), "before", address, 3);
      const is = traced(mean(entropies[1]), "after", null, 3);
      const share = traced(100 * leakedShare(after, mask), "leaked", null, 1);
      const leak = change === "mask" ? [" ", share, " % of the attention goes to cells the mask forbids."] : [];
      const left = this.#sides[0].blank.some(Boolean) ? ` ${FIRST_HIDDEN}` : "";
      const said = ["Mean row entropy: ", was, " bits original, ", is, " modified.", ...leak, left];
      fill(this.says, data.key, ...said);
      this.#drawEntropies(entropies[0], entropies[1], after.columns);
    }
    /**
     * @param {Float64Array} before
     * @param {Float64Array} after
     * @param {number} columns
     */
    #drawEntropies(before, after, columns) {
      const { palette, between: between2 } = this.scope;
      const { base, most } = CHART;
      const high = Math.log2(columns) || 1;
      const width = CHART.width / before.length;
      const bars = (values, shift) => Array.from(
        values,
        (bits, i) => `M${(i + shift) * width} ${base}v${-most * bits / high}h${width * 0.36}V${base}z`
      ).join("");
      const even = Array.from(before, (_, i) => {
        const y = base - most * Math.log2(this.#openKeys(i)) / high;
        return `${i ? "L" : "M"}${(i + 0.5) * width} ${y}`;
      });
      const line = { fill: "none", stroke: palette.frame, "stroke-width": 1.5 };
      this.entropies.replaceChildren(
        svg("path", { d: bars(before, 0.12), fill: palette.muted }),
        svg("path", { d: bars(after, 0.52), fill: palette.accent }),
        svg("path", { d: even.join(""), ...line, "vector-effect": "non-scaling-stroke" })
      );
      const widest = argmax(Array.from(before, (bits, i) => Math.abs(after[i] - bits)));
      const [was, is] = [before, after].map((rows) => digits(rows[widest], 2));
      this.entropies.setAttribute(
        "aria-label",
        `Entropy by row. Largest change at ${between2.queries.labels[widest]}: ${was} to ${is} bits.`
      );
    }
    /**
     * How many keys a query of the modified side may attend to; at least one.
     *
     * @param {number} row
     */
    #openKeys(row) {
      const { allowed, values } = this.#sides[1];
      const mine = allowed.subarray(row * values.columns, (row + 1) * values.columns);
      return Math.max(
        1,
        mine.reduce((n, x) => n + (x ? 1 : 0), 0)
      );
    }
    /**
     * @param {number} row
     * @param {number} column
     */
    #point(row, column) {
      for (const map of this.maps) map.heatMap.mark(row, column);
      const [original] = this.#sides;
      if (!original) return;
      const [a, b] = this.#sides.map((side) => weightAt(side, row, column));
      const pair = `${original.rows[row]} attends to ${original.columns[column]}`;
      this.scope.say(`${pair}: ${a} original, ${b} modified`, false);
    }
    /**
     * @override
     * @param {Tally} tally
     */
    read(tally) {
      return readChange(this.scope, this, tally);
    }
    /** @override */
    table() {
      return patternTable(this.#sides[1]);
    }
    /** @override */
    async drawings() {
      const maps = await drawnMaps(this.maps);
      return [...maps, { caption: this.says.textContent ?? "", drawing: this.entropies }];
    }
  };
  function changesOf(change, tau) {
    if (change === "temperature") return { temperature: tau };
    return change === "mask" ? { mask: false } : { scale: false };
  }

  // viz/live/microscope/microscope.js
  var VIEWS = {
    map: MapView,
    lines: LinesView,
    sentence: SentenceView,
    whatif: WhatIfView,
    compare: CompareView,
    summary: SummaryView
  };
  var WIDE = 980;
  var Microscope = class extends Instrument {
    /** The head on screen. @type {LoadedHead} */
    loaded;
    /** The cell last looked at. @type {[number, number] | null} */
    looked = null;
    /** What was last said of a cell; read aloud when moved to by keyboard. */
    said = "";
    /** @type {Map<string, View>} */
    #views = /* @__PURE__ */ new Map();
    /** Views that settings from outside have outdated, but that may still be on screen. @type {View[]} */
    #retired = [];
    /** @type {View | undefined} */
    #view;
    #drawing = 0;
    /** What is drawn. @type {unknown[] | null} */
    #onScreen = null;
    /** @type {{key: string, group: string, layer: number, head: number} | null} */
    #shownHead = null;
    /**
     * @param {HTMLElement} root
     * @param {Receiver} [receiver]
     * @param {{library?: Source, isOffline?: boolean}} [place]
     */
    constructor(root, receiver = {}, { library = new Library(), isOffline = false } = {}) {
      super(root, receiver);
      this.library = library;
      this.isOffline = isOffline;
      this.alert = html("p", { class: "hl-error", role: "alert", hidden: true });
      this.spoken = html("p", { class: "hl-hidden", "aria-live": "polite" });
      this.title = html("h2", { class: "hl-title" });
      this.does = html("p", { class: "hl-does" });
      this.verdict = new Verdict(this);
      this.stage = html("div", { class: "hl-stage" });
      this.slot = html("div");
      this.controls = new Controls(this);
      const heads = html("section", { class: "hl-panel hl-heads", "aria-label": "All heads" });
      this.overview = this.#makeOverview(heads);
      heads.append(this.slot);
      const label = { class: "hl-panel hl-instrument", "aria-label": "One head" };
      const instrument = html("section", label);
      instrument.append(
        html(
          "div",
          { class: "hl-row hl-head-row" },
          this.title,
          this.verdict.node,
          this.controls.options
        ),
        this.does,
        this.controls.tabs,
        this.controls.reasons,
        this.stage,
        exportMenu(this)
      );
      const grid = html("div", { class: "hl-grid" }, heads, instrument);
      this.root.replaceChildren(this.alert, this.spoken, grid);
    }
    /** @param {HTMLElement} host */
    #makeOverview(host) {
      return new Overview(host, this.lifetime, {
        open: (chosen) => this.set({ ...chosen, ...this.settings.view === "summary" ? { view: "map" } : {} }),
        near: ({ attention, layer, head }) => {
          const site = groupOf(this.data, attention).sites[layer];
          this.library.fetch(headAddress(this.data.key, site, head)).catch(() => {
          });
        },
        openMean: (chosen, over) => {
          const { attention, layer, head } = this.settle({ ...this.settings, ...chosen });
          this.set({ attention, layer, head, view: "summary", how: "mean", over });
        }
      });
    }
    // --- what is chosen -----------------------------------------------------------------------------
    /**
     * @override
     * @param {MicroscopeData} data
     */
    receive(data) {
      if (data.key !== this.data?.key) this.looked = null;
      for (const [address, arrays] of Object.entries(data.arrays)) this.library.put(address, arrays);
      super.receive(data);
    }
    /**
     * A head and a view that exist here.
     *
     * @override
     * @param {MicroscopeSettings} settings
     */
    settle(settings) {
      const { data } = this;
      const group = groupOf(data, settings.attention);
      const offered = data.views.filter(({ why }) => why === null).map(({ name }) => name);
      return {
        ...settings,
        attention: group.name,
        layer: Math.min(settings.layer, group.n_layers - 1),
        head: Math.min(settings.head, group.n_heads - 1),
        view: offered.includes(settings.view) ? settings.view : offered[0]
      };
    }
    /**
     * @override
     * @param {boolean} _isNew
     * @param {boolean} hasMoved
     */
    update(_isNew, hasMoved) {
      this.controls.offer(this.data);
      if (hasMoved) this.#retireViews();
      if (same(this.#wanted(), this.#onScreen) && !this.isBusy) return;
      this.redraw();
    }
    /** What the drawing depends on. */
    #wanted() {
      const { data, settings, palette } = this;
      return [data.key, data.runs.map(({ key }) => key), settings, palette.background];
    }
    /** Controls take their values when they are made, so other settings need other controls. */
    #retireViews() {
      for (const view of this.#views.values()) view.leave();
      this.#retired.push(...this.#views.values());
      this.#views.clear();
    }
    /** The group of the chosen head. @returns {Group} */
    get group() {
      return groupOf(this.data, this.settings.attention);
    }
    /** The streams the chosen head is between. */
    get between() {
      return between(this.data.streams, this.group);
    }
    get headName() {
      return headName(this.data, this.group, this.settings.layer, this.settings.head);
    }
    get isWide() {
      return this.root.clientWidth >= WIDE;
    }
    /** The view on screen, if there is one. */
    get view() {
      return this.#view;
    }
    get isBusy() {
      return this.root.hasAttribute("aria-busy");
    }
    /**
     * The pinned cell, else the one last looked at, else the strongest pair of the head.
     *
     * @returns {[number, number]}
     */
    cell() {
      const { settings, looked, group } = this;
      const { queries, keys } = this.between;
      const [query, key] = settings.cell ?? looked ?? group.strongest[settings.layer][settings.head];
      return [Math.min(query, queries.labels.length - 1), Math.min(key, keys.labels.length - 1)];
    }
    // --- what is drawn ------------------------------------------------------------------------------
    /**
     * Draw what is chosen. The title and the check change with the numbers, never before them.
     *
     * @override
     */
    async redraw() {
      const { settings, data, palette } = this;
      const drawing = ++this.#drawing;
      this.root.setAttribute("aria-busy", "true");
      this.overview.draw(data, settings, palette);
      check(this.controls.tabs, settings.view);
      this.controls.draw();
      try {
        const loaded = await this.load(data, settings.layer, settings.head);
        if (!this.#isCurrent(drawing)) return;
        this.#showHead(loaded);
        await this.#showView(drawing);
        if (this.#isCurrent(drawing)) this.#drawn();
      } catch (error) {
        if (this.#isCurrent(drawing)) this.#failed(error);
      }
    }
    /**
     * Whether nothing newer has been asked for since a drawing began, and there is still a page.
     *
     * @param {number} drawing
     */
    #isCurrent(drawing) {
      return drawing === this.#drawing && !this.lifetime.isOver;
    }
    /**
     * One head of the chosen kind of attention, of this run or another.
     *
     * @param {{key: string}} run
     * @param {number} layer
     * @param {number} head
     */
    load({ key }, layer, head) {
      return loadHead(this.library, key, this.group.sites[layer], head);
    }
    /** The pattern of many heads, and the cells that any of them may attend to. */
    loadSummary() {
      const { how, over, layer, head } = this.settings;
      const index = { layer, head, all: 0 }[over];
      const address = summaryAddress(this.data.key, this.group.name, how, over, index);
      return this.library.fetch(address);
    }
    /** The head to compare with: the chosen one, else the next of this layer, else of the next layer. */
    get other() {
      const { layer, head, other } = this.settings;
      const { n_layers, n_heads } = this.group;
      if (other) return [Math.min(other[0], n_layers - 1), Math.min(other[1], n_heads - 1)];
      return n_heads > 1 ? [layer, (head + 1) % n_heads] : [(layer + 1) % n_layers, head];
    }
    /** @param {LoadedHead} loaded */
    #showHead(loaded) {
      const { attention = "", layer, head, view } = this.settings;
      this.loaded = loaded;
      this.#shownHead = { key: this.data.key, group: attention, layer, head };
      this.title.textContent = view === "summary" ? "Aggregate" : this.headName;
      const input = this.between.queries.kind === "text" ? "sentence" : "input";
      const does = inWords2(this.data, this.group, layer, head);
      const says2 = view === "summary" ? [] : [`On this ${input}: `, ...does];
      fill(this.does, this.data.key, ...says2);
      this.verdict.headChanged();
    }
    /**
     * Draw the chosen view. One that comes in another's place is drawn out of sight first and then takes
     * it at once, so that nothing below moves twice.
     *
     * @param {number} drawing
     */
    async #showView(drawing) {
      for (const retired of this.#retired.splice(0)) {
        retired.destroy();
        retired.host.remove();
      }
      const view = this.#viewOf(this.settings.view);
      this.#view = view;
      if (view.host.parentElement !== this.stage) {
        view.host.classList.add("hl-coming");
        this.stage.append(view.host);
      }
      await view.draw(() => this.#isCurrent(drawing));
      if (!this.#isCurrent(drawing)) return;
      for (const other of this.#views.values()) if (other !== view) other.leave();
      view.host.classList.remove("hl-coming");
      if (this.stage.childElementCount > 1) this.stage.replaceChildren(view.host);
    }
    /**
     * A view by its name, made when it is first wanted.
     *
     * @param {string} name
     */
    #viewOf(name) {
      const known = this.#views.get(name);
      if (known) return known;
      const view = new VIEWS[name](this, html("div", { class: `hl-view hl-view-${name}` }));
      this.#views.set(name, view);
      return view;
    }
    #drawn() {
      const { view, stage } = this.settings;
      this.complain(null);
      this.root.removeAttribute("aria-busy");
      this.#onScreen = this.#wanted();
      this.verdict.viewDrawn();
      this.root.dataset.drawn = `${this.data.key} ${this.headName} ${view} ${stage}`;
    }
    // --- what is said -------------------------------------------------------------------------------
    /**
     * Say what is missing; a head that is not here gives way to the one that was.
     *
     * @param {unknown} error
     */
    #failed(error) {
      const drawn = this.#onScreen;
      this.#onScreen = null;
      const { attention, layer, head } = this.settings;
      const again = this.isOffline ? void 0 : () => this.set({ attention, layer, head });
      this.complain(error instanceof Error ? error.message : String(error), again);
      this.root.removeAttribute("aria-busy");
      if (!(error instanceof MissingArrays)) return console.warn(error);
      if (error.isLost && !this.isOffline) this.receiver.lost?.(this.data.key);
      if (this.#shownHead?.key !== this.data.key) return this.#clear();
      this.#goBackTo(this.#shownHead, drawn);
    }
    /**
     * Have the settings name the head that is still on screen.
     *
     * @param {{group: string, layer: number, head: number}} shown
     * @param {unknown[] | null} drawn what was drawn last
     */
    #goBackTo({ group, layer, head }, drawn) {
      const { settings } = this;
      if (group === settings.attention && layer === settings.layer && head === settings.head) return;
      this.setQuietly({ attention: group, layer, head });
      this.overview.draw(this.data, this.settings, this.palette);
      if (same(this.#wanted(), drawn)) this.#onScreen = drawn;
    }
    /** Nothing of this sentence is here: show nothing rather than another's numbers. */
    #clear() {
      this.title.textContent = "";
      this.does.textContent = "";
      this.verdict.clear();
      this.stage.replaceChildren();
      this.root.dataset.drawn = "";
    }
    /**
     * Show a line of trouble, or take it away.
     *
     * @param {string | null} text
     * @param {() => void} [again] what to try
     */
    complain(text, again) {
      this.alert.hidden = !text;
      this.alert.replaceChildren(text ?? "");
      if (!again) return;
      const press = { type: "button", class: "hl-button", onclick: again };
      this.alert.append(" ", html("button", press, "Try again"));
    }
    /**
     * Words for the pinned cell and for moves by keyboard; what the mouse passes is kept unsaid.
     *
     * @param {string} words
     * @param {boolean} isAloud
     */
    say(words, isAloud) {
      this.said = words;
      if (isAloud && this.spoken.textContent !== words) this.spoken.textContent = words;
    }
  };

  // viz/live/offline/offline.js
  function open2(root, { data, arrays }) {
    const background = preferredBackground(data.themes);
    root.style.setProperty("--st-background-color", background);
    document.body.style.background = background;
    const scope = new Microscope(root, {}, { library: new PackedLibrary(arrays), isOffline: true });
    const [first] = data.groups;
    document.title = `Headlight: ${data.streams[first.queries].labels.join(" ")}`;
    scope.receive({ ...data, has_independent: false });
    return scope;
  }
  function preferredBackground({ light, dark }) {
    const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
    return (isDark ? dark : light).background;
  }
  return __toCommonJS(offline_exports);
})();
