// Heads of a group: how one is spelled and called.

/** @import { Group } from "./wire.js" */

/**
 * A head, or what stands for it: the mean over its layer or over all layers.
 *
 * @typedef {object} Chosen
 * @property {Group} group
 * @property {number} layer
 * @property {number} head
 * @property {"head" | "layer" | "all"} over
 */

/**
 * How a head is spelled in settings.
 *
 * @param {Group} group
 * @param {number} layer
 * @param {number} head
 */
export function spelled({ name }, layer, head) {
  return `${name}.${layer}.${head}`;
}

/**
 * What heads are called.
 *
 * @param {Chosen} chosen
 */
export function called({ group, layer, head, over }) {
  if (over === "head") return `${group.title} L${layer} H${head}`;
  return over === "layer"
    ? `${group.title} L${layer}, mean of ${group.n_heads} heads`
    : `${group.title}, mean of ${group.n_layers * group.n_heads} heads`;
}
