// How arrays reach the browser: base64 as Plotly writes it, and safetensors for one head at a time.

import { matrix } from "./maths.js";

/** @import { Matrix } from "./maths.js" */

const KEPT_HEADS = 24;
/** @type {Record<string, new (buffer: ArrayBuffer) => Float64Array | Float32Array | Uint8Array>} */
const SAFETENSORS = { F64: Float64Array, F32: Float32Array, U8: Uint8Array };
const MOST_ARGUMENTS = 32_768; // a call takes

/**
 * The matrices at one address, by name; of a head they are `HeadArrays`.
 *
 * @typedef {Record<string, Matrix>} Matrices
 */

/**
 * What a file of arrays holds: its matrices, and of a head the stages of its record.
 *
 * @typedef {{matrices: Matrices, stages: string[]}} Contents
 * @typedef {Contents & {buffer: ArrayBuffer}} Entry
 */

/**
 * Where matrices come from: the app, or the file that holds them.
 *
 * @typedef {object} Source
 * @property {(address: string) => Promise<Contents>} fetch
 * @property {(address: string, base64: string) => void} put
 * @property {() => Promise<Record<string, string>>} packed
 */

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
    throw new Error("This browser is too old to unpack it; one of 2023 or later can.");
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer().catch(() => {
    throw new Error("It is damaged; run the cell again, or save the file again.");
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

/**
 * The float32 numbers of a packed array.
 *
 * @param {{bdata: string}} packed
 */
export function floatsOf({ bdata }) {
  return new Float32Array(bytesOf(bdata).buffer);
}

/**
 * Named matrices of a safetensors file: 8 bytes of length, a JSON header, the data.
 *
 * @param {ArrayBuffer} buffer
 * @returns {Contents}
 */
export function decodeSafetensors(buffer) {
  const length = Number(new DataView(buffer).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  const stages = header.__metadata__?.stages.split(",") ?? [];
  delete header.__metadata__;
  /** @type {Matrices} */
  const matrices = {};
  for (const [name, { dtype, shape, data_offsets }] of Object.entries(header)) {
    const [start, end] = data_offsets;
    const bytes = buffer.slice(8 + length + start, 8 + length + end);
    matrices[name] = matrix(shape[0], shape[1], new SAFETENSORS[dtype](bytes));
  }
  return { matrices, stages };
}

/** Why a head is not here, in words for a person; `isLost` when the server has let go of the run. */
export class MissingArrays extends Error {
  /**
   * @param {string} message
   * @param {boolean} [isLost]
   */
  constructor(message, isLost = false) {
    super(message);
    this.isLost = isLost;
  }
}

/**
 * Fetches matrices by address and keeps the last ones, so that a head seen once is there at once.
 *
 * @implements {Source}
 */
export class Library {
  /** In the order of use. @type {Map<string, Entry | Promise<Entry>>} */
  #kept = new Map();

  /**
   * What is at an address below the app's own.
   *
   * @param {string} address
   * @returns {Promise<Contents>}
   */
  async fetch(address) {
    const entry = this.#kept.get(address) ?? load(address);
    this.#kept.delete(address);
    this.#kept.set(address, entry);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > KEPT_HEADS) this.#kept.delete(oldest);
    try {
      return await entry;
    } catch (error) {
      this.#kept.delete(address);
      throw error;
    }
  }

  /**
   * Take arrays that came along.
   *
   * @param {string} address
   * @param {string} base64
   */
  put(address, base64) {
    if (this.#kept.has(address)) return;
    const { buffer } = bytesOf(base64);
    this.#kept.set(address, { buffer, ...decodeSafetensors(buffer) });
  }

  /** Everything kept, as base64 by address, for a file that opens without the app. */
  async packed() {
    const entries = await Promise.all(
      Array.from(this.#kept, async ([address, entry]) => [address, base64Of((await entry).buffer)]),
    );
    return Object.fromEntries(entries);
  }
}

/**
 * @param {string} address
 * @returns {Promise<Entry>}
 */
async function load(address) {
  const response = await fetch(new URL(address, document.baseURI)).catch(() => null);
  if (!response)
    throw new MissingArrays("The app does not answer. Heads already opened still work.");
  const isLost = response.status === 204;
  if (isLost) throw new MissingArrays("The app has let go of this sentence; asking again.", true);
  if (!response.ok) throw new MissingArrays(`The app could not send this (${response.status}).`);
  const buffer = await response.arrayBuffer();
  try {
    return { buffer, ...decodeSafetensors(buffer) };
  } catch {
    throw new MissingArrays("The app sent something that is not an array file.");
  }
}

/**
 * The arrays of a saved file.
 *
 * @implements {Source}
 */
export class PackedLibrary {
  /** @type {Map<string, Contents>} */
  #kept = new Map();

  /** @param {Record<string, string>} arrays base64 by address */
  constructor(arrays) {
    this.arrays = arrays;
    for (const [address, base64] of Object.entries(arrays)) this.put(address, base64);
  }

  /**
   * @param {string} address
   * @param {string} base64
   */
  put(address, base64) {
    this.#kept.set(address, decodeSafetensors(bytesOf(base64).buffer));
  }

  /**
   * @param {string} address
   * @returns {Promise<Contents>}
   */
  async fetch(address) {
    const contents = this.#kept.get(address);
    if (!contents)
      throw new MissingArrays(
        "This is not in the saved file; it holds what was opened before saving.",
      );
    return contents;
  }

  async packed() {
    return this.arrays;
  }
}

/** @param {ArrayBuffer} buffer */
function base64Of(buffer) {
  const bytes = new Uint8Array(buffer);
  const pieces = [];
  for (let i = 0; i < bytes.length; i += MOST_ARGUMENTS)
    pieces.push(String.fromCharCode(...bytes.subarray(i, i + MOST_ARGUMENTS)));
  return btoa(pieces.join(""));
}

/**
 * Where a head is, as `head_address` in arrays.py; a test compares.
 *
 * @param {string} key of the run
 * @param {string} site address of the layer's attention: decoder.blocks.3.attn
 * @param {number} head
 */
export function headAddress(key, site, head) {
  return `live/arrays/${key}/head/${site}/${head}`;
}

/**
 * Where many heads of a group in one map are.
 *
 * @param {string} key of the run
 * @param {string} group such as decoder.attn
 * @param {string} how mean or maximum
 * @param {string} over layer, head or all
 * @param {number} index which layer or head
 */
export function summaryAddress(key, group, how, over, index) {
  return `live/arrays/${key}/summary/${group}/${how}/${over}/${index}`;
}

/** @typedef {{values: Float64Array | Float32Array | Uint8Array | Int32Array, shape: number[]}} Decoded */

/** @type {Record<string, new (bytes: ArrayBuffer) => Decoded["values"]>} */
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
  const values = new KINDS[dtype](bytes);
  const size = shape.reduce((a, b) => a * b, 1);
  if (values.length !== size) throw new Error(`${values.length} numbers came instead of ${size}`);
  return { values, shape };
}
