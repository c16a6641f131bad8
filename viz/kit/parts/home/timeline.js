// The forward pass as a line of stages. `at` counts them: 3.5 is half-way through the fourth.

export const TOKENS = 0;
export const EMBED = 1;
export const LAYERS = 2; // the first of them

// Milliseconds of a stage: when it plays for the first time, and for each token after that.
/** @type {Record<string, [number, number]>} */
const MS = {
  tokens: [900, 0],
  embed: [1100, 160],
  layer: [560, 100],
  next: [1100, 300],
  draw: [1500, 460],
  fly: [800, 440],
};

export class Timeline {
  at = 0;
  isPlaying = false;
  isFirst = true; // whether it plays slowly, all rows at once

  /** @param {number} n_layers */
  constructor(n_layers) {
    const layers = Array.from({ length: n_layers }, () => MS.layer);
    this.stages = [MS.tokens, MS.embed, ...layers, MS.next, MS.draw, MS.fly];
    this.NEXT = LAYERS + n_layers;
    this.DRAW = this.NEXT + 1;
    this.FLY = this.DRAW + 1;
    this.END = this.FLY + 1;
  }

  /**
   * A pass that is over: what is shown while something is looked at.
   *
   * @param {number} n_layers
   */
  static over(n_layers) {
    const time = new Timeline(n_layers);
    time.at = time.DRAW;
    return time;
  }

  /**
   * How much of a stage is over, 0 to 1.
   *
   * @param {number} stage
   */
  done(stage) {
    return Math.min(Math.max(this.at - stage, 0), 1);
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
      const stage = Math.floor(this.at);
      const duration = this.stages[stage][this.isFirst ? 0 : 1];
      const rest = (stage + 1 - this.at) * duration;
      this.at = rest <= left ? stage + 1 : this.at + left / duration;
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
