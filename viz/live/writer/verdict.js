// When the distribution beside the text is read back: once it rests, and where a run has been of it.

import * as screen from "../core/screen.js";
import { readDistribution } from "./proof.js";

/** @import { Lifetime } from "../core/lifetime.js" */
/** @import { SamplerSettings } from "../core/sampling.js" */
/** @import { Distribution } from "./distribution.js" */
/** @import { WriterData } from "./wire.js" */

const DISTRIBUTION = "next token"; // what it is called among the figures
const REST_MS = 150; // after the last thing drawn: a check is never in the way of the hand

export class Verdict {
  #cancel = () => {};
  /** What is on screen. @type {object} */
  #shown = {};

  /** @param {Lifetime} lifetime */
  constructor(lifetime) {
    this.lifetime = lifetime;
    lifetime.keep(() => screen.isGone(DISTRIBUTION));
  }

  /**
   * Another distribution, or other sliders: what was said counts no more. Only what comes in the
   * prompt or after it has a run of its own.
   *
   * @param {WriterData} data
   * @param {Distribution} distribution
   * @param {SamplerSettings} sampling what it was filtered by
   */
  soon({ run, shown, n_prompt, running, allowed_error }, distribution, sampling) {
    this.#cancel();
    screen.isGone(DISTRIBUTION);
    const now = { distribution, shown, sampling, run };
    this.#shown = now;
    if (!run || running || shown.at < 1 || shown.at > n_prompt) return;
    screen.changes(DISTRIBUTION);
    this.#cancel = this.lifetime.timeout(async () => {
      const found = await readDistribution(now, allowed_error).catch(() => null);
      if (this.#shown !== now || this.lifetime.isOver) return;
      if (found) screen.wasRead({ figure: DISTRIBUTION, token: shown.key, ...found });
      else screen.isGone(DISTRIBUTION);
    }, REST_MS);
  }
}
