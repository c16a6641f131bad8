// Everything that travels between Python and JavaScript, written once. Names are those of JSON:
// snake_case. Only types: nothing is loaded from here. What one instrument alone is sent stands in
// its own folder; a test compares all of it with what Python sends.

/**
 * The colours of one theme, as #rrggbb, its font, and the law for the colours of weights.
 *
 * @typedef {object} Palette
 * @property {string} background
 * @property {string} surface
 * @property {string} text
 * @property {string} muted
 * @property {string} line
 * @property {string} accent
 * @property {string} frame
 * @property {string} good
 * @property {string} bad
 * @property {string} masked
 * @property {string} hatch
 * @property {string} by_system
 * @property {string} by_user
 * @property {string} by_assistant
 * @property {string} by_template
 * @property {string[]} sequential from nothing to the largest
 * @property {string[]} diverging symmetric about its middle
 * @property {string[]} series
 * @property {boolean} small_weights whether weights are coloured by their square root
 * @property {string} font
 */

/**
 * One row of tokens or patches. The labels are plain text; `axis` and `word_axis` are the same,
 * short, and escaped for Plotly. Without words (patches, or a source without text) the last four
 * are null.
 *
 * @typedef {object} Stream
 * @property {"text" | "patches"} kind
 * @property {string[]} labels
 * @property {string[]} axis
 * @property {Looks} looks
 * @property {number[] | null} words the word each token belongs to, from 0
 * @property {string[] | null} word_labels
 * @property {string[] | null} word_axis
 * @property {Looks} word_looks
 */

/**
 * Who wrote each token, and whether it is special: "user", "template special", or "" for text of no
 * chat; null where nothing of it is known.
 *
 * @typedef {string[] | null} Looks
 */

/**
 * Where a number may lie.
 *
 * @typedef {object} Bounds
 * @property {number} low
 * @property {number} high
 * @property {number} step
 */

/**
 * How the next token is drawn; `top_k` null keeps all. `order` names the steps, the first one first.
 *
 * @typedef {object} SamplerSettings
 * @property {number} temperature
 * @property {number | null} top_k
 * @property {number} top_p
 * @property {number} min_p
 * @property {StepName[]} order
 */

/** @typedef {"temperature" | "top_k" | "top_p" | "min_p"} StepName */

/** Where the sliders end; that of top-k at the vocabulary's size. @typedef {Record<Exclude<StepName, "top_k">, Bounds>} SliderBounds */

/**
 * One of several things to choose from.
 *
 * @typedef {object} Option
 * @property {string} name as in settings and in the URL
 * @property {string} text as on screen
 * @property {string | null} why why it cannot be chosen here; null when it can
 */

/**
 * What Python says of every part with choices.
 *
 * @typedef {object} InstrumentData
 * @property {string} key new when the numbers are
 * @property {Record<string, any>} settings as Python has them; each instrument narrows these
 */

/**
 * What a part sends: the settings changed here that Python has not acknowledged.
 *
 * @typedef {object} Message
 * @property {number} turn
 * @property {Record<string, unknown>} changes
 */

/**
 * A head whose weights, computed in the browser, are not the run's: key of the run, address of the
 * layer's attention, head, and the largest difference.
 *
 * @typedef {[key: string, site: string, head: number, error: number]} Differing
 */

/**
 * Where a part on a page of Streamlit sends to; what is missing is not sent.
 *
 * @typedef {object} Receiver
 * @property {(message: Message) => void} [send]
 * @property {(key: string) => void} [lost] the arrays of a key are gone: run it again
 * @property {(heads: Differing[]) => void} [differs] all that did so far
 */

export {};
