// A figure made in Python. Streamlit's own chart is taken off the page and put on again for every
// change; this one is drawn again in its place.

import { same } from "../conversation.js";
import { Lifetime } from "../lifetime.js";
import { Plot } from "../marks/plot.js";

/** @import { Model } from "../model.js" */

export default {
  /** @param {{model: Model, el: HTMLElement, signal: AbortSignal}} place */
  render({ model, el, signal }) {
    const plot = new Plot(el, new Lifetime(signal), (picked) => {
      if (model.get("spec").is_clickable) model.choose({ picked });
    });
    el.classList.add("hl-figure");
    plot.chart.role = "figure";
    /** @type {unknown[]} */
    let shown = [];
    const show = () => {
      const { figure, height, alt, name, image_format: format, is_clickable } = model.get("spec");
      plot.chart.ariaLabel = alt;
      el.toggleAttribute("data-clicks", is_clickable);
      el.style.minHeight = `${height}px`; // a file has no other height for it
      if (!same(shown, [figure, name, format]))
        plot.draw({ ...JSON.parse(figure), height }, { format, filename: name, scale: 2 });
      shown = [figure, name, format];
    };
    model.on("told", show, signal);
    show();
    return plot;
  },
};
