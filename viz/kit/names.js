// What a head is called, as model/names.py has it.

/**
 * A head by its layer and number: L2 H4.
 *
 * @param {number} layer
 * @param {number} head
 */
export function headName(layer, head) {
  return `L${layer} H${head}`;
}
