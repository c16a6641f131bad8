// When the distribution beside the text is read back: once it rests, and where a run has been of it.

import * as screen from "../core/screen.js";
import { readDistribution } from "./proof.js";

/** @import { Lifetime } from "../core/lifetime.js" */
/** @import { SamplerSettings } from "../core/sampling.js" */
/** @import { Distribution } from "./distribution.js" */
/** @import { WriterData } from "./wire.js" */

const DISTRIBUTION = "next token"; // what it is called among the figures
const REST_MS = 150; // after the last thing drawn: a check is never in the way of the hand

/**
 * The run that has what comes before the shown token: the prompt's, or one of the whole text without
 * the tokens that the context had dropped.
 *
 * @param {WriterData} data
 */
export function runBefore({ run, runs, shown, n_prompt, steps }) {
  if (shown.at <= n_prompt) return { run, row: shown.at - 1 };
  const n_dropped = (steps[shown.at - n_prompt] ?? steps[steps.length - 1])?.n_dropped ?? 0;
  const own = runs.find((one) => one.n_dropped === n_dropped);
  return { run: own?.run ?? "", row: shown.at - 1 - n_dropped };
}

export class Verdict {
  #cancel = () => {};
  /** What is on screen. @type {object} */
  #shown = {};

  /** @param {Lifetime} lifetime */
  constructor(lifetime) {
    this.lifetime = lifetime;
    lifetime.keep(() => screen.isGone(DISTRIBUTION, this));
  }

  /**
   * Another distribution, or other sliders: what was said counts no more.
   *
   * @param {WriterData} data
   * @param {Distribution} distribution
   * @param {SamplerSettings} sampling what it was filtered by
   */
  soon(data, distribution, sampling) {
    this.#cancel();
    screen.isGone(DISTRIBUTION, this);
    const { shown, running, allowed_error } = data;
    const now = { distribution, shown, sampling, ...runBefore(data) };
    this.#shown = now;
    if (!now.run || running || shown.at < 1) return;
    screen.changes(DISTRIBUTION, this);
    this.#cancel = this.lifetime.timeout(async () => {
      const found = await readDistribution(now, allowed_error).catch(() => null);
      if (this.#shown !== now || this.lifetime.isOver) return;
      if (found) screen.wasRead({ figure: DISTRIBUTION, token: shown.key, ...found }, this);
      else screen.isGone(DISTRIBUTION, this);
    }, REST_MS);
  }
}
