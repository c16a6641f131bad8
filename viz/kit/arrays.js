// Arrays in the browser: bytes, base64, and what is deflated.

const MOST_ARGUMENTS = 32_768; // a call takes
const LINE_BREAK = 10; // as a byte

/** Why an array is not here, in words for a person. */
export class MissingArrays extends Error {}

/**
 * Bytes of a base64 string.
 *
 * @param {string} base64
 */
export function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i); // `from` takes 20 × as long
  return bytes;
}

/**
 * What Python deflated; an error in words where a browser cannot.
 *
 * @param {BlobPart} bytes
 */
export async function inflated(bytes) {
  if (!("DecompressionStream" in globalThis))
    throw new MissingArrays("This browser is too old to unpack it; one of 2023 or later can.");
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer().catch(() => {
    throw new MissingArrays("It is damaged; run the cell again, or save the file again.");
  });
}

/**
 * Bytes as `inflated` takes them, in base64.
 *
 * @param {BlobPart} bytes
 */
export async function deflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate"));
  return base64Of(await new Response(stream).arrayBuffer());
}

/** @param {ArrayBuffer} buffer */
function base64Of(buffer) {
  const bytes = new Uint8Array(buffer);
  const pieces = [];
  for (let i = 0; i < bytes.length; i += MOST_ARGUMENTS)
    pieces.push(String.fromCharCode(...bytes.subarray(i, i + MOST_ARGUMENTS)));
  return btoa(pieces.join(""));
}

/** @typedef {{values: Float64Array | Float32Array | Uint8Array | Int32Array, shape: number[]}} Decoded */

/**
 * The numbers of arrays by their names.
 *
 * @template {string} Name
 * @param {Record<Name, Decoded>} arrays
 */
export function valuesOf(arrays) {
  const pairs = Object.entries(arrays).map(([name, { values }]) => [name, values]);
  return /** @type {Record<Name, Decoded["values"]>} */ (Object.fromEntries(pairs));
}

/**
 * The rows of a table.
 *
 * @param {Decoded} table
 */
export function rowsOf({ values, shape: [n, size] }) {
  return Array.from({ length: n }, (_, i) => [...values.subarray(i * size, (i + 1) * size)]);
}

/** @type {Record<string, {new (bytes: ArrayBuffer): Decoded["values"], BYTES_PER_ELEMENT: number}>} */
const KINDS = { f8: Float64Array, f4: Float32Array, u1: Uint8Array, i4: Int32Array };

/**
 * Bytes as numbers, little-endian, row by row.
 *
 * @param {ArrayBuffer} bytes
 * @param {string} dtype numpy's name without the byte order
 * @param {number[]} shape
 * @returns {Decoded}
 */
export function decoded(bytes, dtype, shape) {
  const Kind = KINDS[dtype];
  const size = shape.reduce((a, b) => a * b, Kind.BYTES_PER_ELEMENT);
  if (bytes.byteLength !== size)
    throw new MissingArrays(`${bytes.byteLength} bytes came instead of ${size}.`);
  return { values: new Kind(bytes), shape };
}

/**
 * An answer of Python's: a line of JSON, then the bytes of the arrays that it names.
 *
 * @param {ArrayBuffer} bytes
 * @returns {Record<string, any> & {arrays: Record<string, Decoded>}}
 */
export function answerOf(bytes) {
  let end = new Uint8Array(bytes).indexOf(LINE_BREAK);
  const { arrays, ...said } = JSON.parse(new TextDecoder().decode(bytes.slice(0, end)));
  end += 1;
  for (const [name, { dtype, shape, n_bytes }] of Object.entries(arrays)) {
    arrays[name] = decoded(bytes.slice(end, end + n_bytes), dtype, shape);
    end += n_bytes;
  }
  return { ...said, arrays };
}
