// The forward pass as a line of stages. `at` counts them: 3.5 is half-way through the fourth.

/** @typedef {"tokens" | "embed" | "column" | "next" | "draw" | "fly"} Kind */
/** @typedef {{kind: Kind, band: number, column: number}} Stage of which band and column, or −1 */

export const TOKENS = 0;

// Milliseconds of a stage: when it plays for the first time, and for each token after that.
/** @type {Record<Kind, [number, number]>} */
const MS = {
  tokens: [900, 0],
  embed: [1100, 160],
  column: [560, 100],
  next: [1100, 300],
  draw: [1500, 460],
  fly: [800, 440],
};
const MOST = 12; // columns that take as long each; of more, all together as long as these

/**
 * @param {Kind} kind
 * @param {number} [band]
 * @param {number} [column]
 * @returns {Stage}
 */
function stage(kind, band = -1, column = -1) {
  return { kind, band, column };
}

export class Timeline {
  at = 0;
  isPlaying = false;
  isFirst = true; // whether it plays slowly, all rows at once

  /** @param {number[]} bands of each column, in the order of the forward pass */
  constructor(bands) {
    const columns = bands.flatMap((band, column) => {
      const isNew = band !== bands[column - 1];
      return [...(isNew ? [stage("embed", band)] : []), stage("column", band, column)];
    });
    this.stages = [stage("tokens"), ...columns, stage("next"), stage("draw"), stage("fly")];
    this.NEXT = this.stages.length - 3;
    this.DRAW = this.NEXT + 1;
    this.FLY = this.DRAW + 1;
    this.END = this.FLY + 1;
    this.AGAIN = this.stages.findLastIndex(({ kind }) => kind === "embed"); // for each new token
  }

  /** A pass that is over: what is shown while something is looked at. */
  over() {
    const columns = this.stages.filter((x) => x.kind === "column");
    const time = new Timeline(columns.map(({ band }) => band));
    time.at = time.DRAW;
    return time;
  }

  /** What happens now. */
  get stage() {
    return this.stages[Math.min(Math.floor(this.at), this.stages.length - 1)];
  }

  /** The column that is at work, or else the next one, or the last. */
  get column() {
    const passed = this.stages.slice(0, Math.floor(this.at)).filter((x) => x.kind === "column");
    const n = this.stages.filter((x) => x.kind === "column").length;
    return Math.min(passed.length, n - 1);
  }

  /**
   * How much of a stage is over, 0 to 1.
   *
   * @param {number} place
   */
  done(place) {
    return Math.min(Math.max(this.at - place, 0), 1);
  }

  /**
   * How much of a band's embedding is over.
   *
   * @param {number} band
   */
  embedded(band) {
    return this.done(this.stages.findIndex((x) => x.kind === "embed" && x.band === band));
  }

  /**
   * Milliseconds of a stage.
   *
   * @param {Kind} kind
   */
  duration(kind) {
    const columns = this.stages.filter((x) => x.kind === "column").length;
    const share = kind === "column" ? Math.min(1, MOST / columns) : 1;
    return MS[kind][this.isFirst ? 0 : 1] * share;
  }

  /**
   * Go on by some milliseconds, not beyond `until`.
   *
   * @param {number} ms
   * @param {number} until
   */
  advance(ms, until) {
    let left = ms;
    while (left > 0 && this.at < until) {
      const place = Math.floor(this.at);
      const duration = this.duration(this.stages[place].kind);
      const rest = (place + 1 - this.at) * duration;
      this.at = rest <= left ? place + 1 : this.at + left / duration;
      left -= rest;
    }
    this.at = Math.min(this.at, until);
  }
}

/** How far all steps back behind what is looked at, 0 to 1: not at once. */
export class Fades {
  now = { dim: 0, veil: 0 }; // behind a row, and behind a head

  /**
   * @param {boolean} isLooking
   * @param {boolean} isFocused on a head
   * @param {number} step of a whole fade
   * @returns {boolean} whether something still fades
   */
  follow(isLooking, isFocused, step) {
    const { dim, veil } = this.now;
    /** @type {(value: number, isOn: boolean) => number} */
    const moved = (value, isOn) => Math.min(Math.max(value + (isOn ? step : -step), 0), 1);
    this.now = { dim: moved(dim, isLooking), veil: moved(veil, isFocused) };
    return this.now.dim !== dim || this.now.veil !== veil;
  }
}

/**
 * Slow at both ends.
 *
 * @param {number} t
 */
export function eased(t) {
  return t < 0.5 ? 4 * t ** 3 : 1 - (2 - 2 * t) ** 3 / 2;
}

/**
 * The part of a movement for one of several things that start one after the other.
 *
 * @param {number} t
 * @param {number} i
 * @param {number} n
 * @param {number} [share] how long each moves
 */
export function staggered(t, i, n, share = 0.5) {
  const from = n > 1 ? (i / (n - 1)) * (1 - share) : 0;
  return eased(Math.min(Math.max((t - from) / share, 0), 1));
}
