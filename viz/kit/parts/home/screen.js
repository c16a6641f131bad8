// What is on screen of Home, frame by frame: sizes, colours, the canvas, and all that stands on it.

import { dressed } from "../../colors.js";
import { html, wordsIn } from "../../dom.js";
import { roomOnWall } from "../../wall.js";
import { captioned } from "./caption.js";
import { drawFlow } from "./flow.js";
import { goalOf } from "./goals.js";
import { HEADER, clamp, frontAt, layout, rowsOf } from "./layout.js";
import { picturesOf } from "./pictures.js";
import { Fades, eased } from "./timeline.js";

/** @import { Palette } from "../../wire.js" */
/** @import { Home } from "../home.js" */
/** @import { Flow } from "./layout.js" */
/** @import { Run } from "./numbers.js" */
/** @import { Pictures } from "./pictures.js" */
/** @import { Scene } from "./scene.js" */

const NARROW = 820; // pixels of the room, and below
const FLOW_WHEN_NARROW = 760; // in a box that scrolls
const FOOT = 84; // pixels: axis and caption
const BELOW = FOOT + 80; // and the beginning of what was found
const LEGEND = 22; // a line more of the caption, beside the legend of a chat
const HEIGHT = { least: 400, leastOnWall: 300, most: 860 };
const ROW = 15; // the lowest row of two texts
const FADE_MS = 150;
const SLOWEST_FRAME = 100;

/**
 * What the rows of several texts need at least.
 *
 * @param {{from: number, to: number}[]} bands
 */
function leastHeight(bands) {
  if (bands.length < 2) return 0;
  return bands.length * (HEADER + ROW * Math.max(...bands.map(({ from, to }) => to - from)));
}

export class Screen {
  /** @type {Flow | undefined} */
  flow;
  /** @type {Palette} */
  palette;
  /** @type {Pictures} */
  #pictures;
  #fades = new Fades();
  /** What there is to lay out. @type {import("./layout.js").Shape} */
  #shape;
  #last = 0; // when the last frame was
  #isAwaited = false; // a frame
  #isStale = true; // what is drawn
  #isAtPositions = false; // the hand
  /** What the canvas holds, by names. @type {ReturnType<typeof drawFlow> | undefined} */
  drawn;

  /** @param {Home} home whose it is */
  constructor(home) {
    const { heads, tokens, axis, pager } = home;
    this.home = home;
    this.canvas = html("canvas", { "aria-hidden": "true" });
    this.context = /** @type {CanvasRenderingContext2D} */ (
      this.canvas.getContext("2d", { alpha: false }) // no blending: faster
    );
    const point = (/** @type {boolean} */ isOn) => () => {
      this.#isAtPositions = isOn;
      this.soon();
    };
    // Over what positions add: a way to the page about it.
    this.positions = html("a", {
      class: "hl-home-positions",
      ...{ onpointerenter: point(true), onpointerleave: point(false) },
      ...{ onfocus: point(true), onblur: point(false) },
    });
    const drawn = [this.canvas, heads.node, this.positions, tokens.node, pager.node];
    this.box = html("div", { class: "hl-home-flow" }, drawn);
    this.node = html("div", { class: "hl-home-scroller" }, this.box, axis.node);
  }

  /** @param {Flow} flow @param {string} waves where it leads */
  #placePositions({ positions }, waves) {
    this.positions.hidden = !positions;
    // Where no page is about it, it is nothing but a place to point at.
    for (const [name, value] of [
      ["href", waves],
      ["aria-label", "Positional encoding"],
    ])
      if (waves) this.positions.setAttribute(name, value);
      else this.positions.removeAttribute(name);
    const { x = 0, width = 0 } = positions ?? {};
    Object.assign(this.positions.style, { left: `${x}px`, width: `${width}px` });
  }

  dress() {
    const { model, el, run, foot } = this.home;
    const { light, dark } = model.get("themes");
    this.palette = dressed(el, { light, dark });
    foot.showScale(this.palette);
    if (run) this.#pictures = picturesOf(run, this.palette);
    this.soon();
  }

  resize() {
    const { run, el, next, tokens } = this.home;
    const room = this.node.clientWidth; // a file has a margin around it
    if (!run || !room) return;
    const isNarrow = room <= NARROW;
    const width = isNarrow ? FLOW_WHEN_NARROW : room;
    const onWall = roomOnWall(el);
    const scrolled = el.closest('[data-testid="stMain"]')?.scrollTop ?? 0;
    const above = el.getBoundingClientRect().top + scrolled;
    const foot = run.spec.looks ? LEGEND : 0;
    const free = (onWall ? onWall - FOOT : innerHeight - above - BELOW) - foot;
    const least = onWall ? HEIGHT.leastOnWall : HEIGHT.least;
    const fits = clamp(Math.round(free), least, HEIGHT.most);
    const height = Math.max(fits, leastHeight(run.spec.bands));
    const { columns, side, has_positions: hasPositions } = run.spec;
    const hasLast = run.spec.has_stream && goalOf(run.spec).gives !== null;
    const sight = 0;
    this.#shape = { columns, side, hasPositions, hasLast, width, height, isNarrow, sight };
    this.flow = this.#laidOut();
    const ratio = Math.min(devicePixelRatio, 2);
    Object.assign(this.canvas, { width: width * ratio, height: height * ratio });
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    for (const { style } of [this.canvas, this.box])
      Object.assign(style, { width: `${width}px`, height: `${height}px` });
    this.#placePositions(this.flow, run.spec.waves);
    next.place(this.flow);
    tokens.build(run, this.flow, this.#pictures.image);
    this.#isStale = true;
    this.#frame(performance.now()); // at once: a canvas of another size is black
  }

  #laidOut() {
    const { axis, pager } = this.home;
    const flow = layout({ ...this.#shape, sight: pager.sight });
    axis.place(flow);
    pager.show(flow, this.#shape.columns.length);
    return flow;
  }

  /** Bring the layers into sight that something is shown of. */
  turn() {
    if (this.flow && !this.home.pager.isThere) this.flow = this.#laidOut();
  }

  /** Draw before the next frame is painted. */
  soon() {
    this.#isStale = true;
    this.#await();
  }

  #await() {
    if (this.#isAwaited || this.home.lifetime.isOver) return;
    this.#isAwaited = true;
    this.home.lifetime.frame(() => this.#frame(performance.now()));
  }

  /** @param {number} now */
  #frame(now) {
    this.#isAwaited = false;
    const ms = this.#last ? Math.min(now - this.#last, SLOWEST_FRAME) : 0;
    this.#last = now;
    const { home } = this;
    const { film } = home;
    if (!home.run || !this.flow) return;
    const isMoving = () => film.time.isPlaying && !home.isLooking;
    const { at } = film.time;
    if (isMoving()) film.advance(ms);
    this.turn();
    const step = film.isStill ? 1 : ms / FADE_MS;
    const isFading = this.#fades.follow(home.isLooking, home.focus !== null, step);
    // While a film waits for Python nothing moves: what draws it again wants the same processors.
    const isOther = this.#isStale || isFading || film.time.at !== at || !isMoving();
    this.#isStale = false;
    if (isOther) this.#draw(this.#scene(home.run, this.flow));
    if (isMoving() || isFading) this.#await();
  }

  /**
   * @param {Run} run
   * @param {Flow} flow
   * @returns {Scene}
   */
  #scene(run, flow) {
    const { context } = this;
    const { query, focus, film, chance, answering, isLooking, pointed, model } = this.home;
    const time = isLooking ? film.time.over() : film.time;
    const flight = isLooking ? null : film.flight;
    const grows = flight && goalOf(run.spec).canWrite;
    const size = run.n + (grows ? eased(time.done(time.FLY)) : 0);
    return {
      ...{ context, flow, run, query, focus, size, time, flight, isGrown: film.isGrown },
      ...{ palette: this.palette, pictures: this.#pictures, ...this.#fades.now },
      rows: rowsOf(flow, run.spec.bands, size),
      fronts: flow.fronts.map((stops) => frontAt(stops, time.at)),
      chance: chance?.query === answering ? chance : null,
      drawn: query === run.asked ? film.drawn : null,
      isLeftOut: (key) => run.sink.isOne && key === run.sink.row && !model.get("state").sink,
      pointed,
    };
  }

  /** @param {Scene} scene */
  #draw(scene) {
    const { time, run, flow, query, flight } = scene;
    const { tokens, next, axis, film, focus, isLooking, answering, el } = this.home;
    this.drawn = drawFlow(scene);
    if (film.isFilled) this.#fill(run);
    const from = focus ? run.queryIn(query, focus.column) : query;
    const isTinted = isLooking || (flow.picture && time.at >= time.NEXT);
    tokens.show(run, from, isTinted ? run.row(from, focus) : null, this.palette);
    tokens.place(scene);
    const shown = eased(time.done(time.NEXT)) * (flight ? 1 - time.done(time.FLY) : 1);
    const isOther = isLooking || answering !== run.asked;
    next.show(scene, (place) => this.home.label(place), isOther ? 1 : shown);
    axis.mark(flow, time);
    const { band } = time.stage;
    if (!flow.next && time.isPlaying && band >= 0)
      this.node.scrollTo({ left: scene.fronts[band] - 0.7 * el.clientWidth });
    this.#speak(scene);
  }

  /** What is on screen, by names. */
  read() {
    const { tokens, next, foot, large, pager, axis } = this.home;
    const { title, gives, legend, bars, generate } = next;
    const edges = Array.from(foot.edges.children, ({ textContent }) => textContent);
    const { says, sink } = foot;
    const words = {
      title,
      gives,
      legend,
      generate,
      says,
      sink,
      stage: axis.node,
      left: next.left,
      layers: pager.says,
    };
    return {
      roles: foot.roles.read(),
      ...{ ...this.drawn, ...wordsIn(words), tokens: tokens.read(), next: bars.read() },
      ...{ edges, large: large.read(), canGoOn: !generate.disabled },
      waves: this.positions.getAttribute("href"),
    };
  }

  /** @param {Run} run with what the model says in each hidden place */
  #fill(run) {
    const { tokens, lifetime } = this.home;
    for (const [row, , id] of run.spec.hidden) {
      const best = run.following.known.get(row)?.ids[0];
      if (best !== undefined) tokens.fill(row, this.home.word(best), best === id);
      else run.following.after(row).then((found) => found && !lifetime.isOver && this.soon());
    }
  }

  /** @param {Scene} scene */
  #speak(scene) {
    const { isLooking, film, foot, next, el, model } = this.home;
    const { left, time, isFilled } = film;
    const label = (/** @type {number} */ place) => this.home.label(place);
    const words = captioned({
      ...scene,
      label,
      isLooking,
      isFilled,
      isAtPositions: this.#isAtPositions,
    });
    const isPlaying = time.isPlaying && !isLooking;
    foot.show(words, isPlaying);
    foot.hides.checked = !model.get("state").sink;
    next.enable(left > 1, scene.run.canGoOn);
    const drawn = `${scene.run.spec.key} home ${isPlaying ? "plays" : "rests"}`;
    if (el.dataset.drawn !== drawn) el.dataset.drawn = drawn; // it is watched
  }
}
