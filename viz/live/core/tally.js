// What reading something back has found so far: the largest error, of how many values, and where the
// first of those stands that are too far off.

/** @typedef {{error: number, n: number, address: string}} Found */

export class Tally {
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
}
