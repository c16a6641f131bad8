// How arrays reach the browser: base64 as Plotly writes it, and safetensors for one head at a time.

import { matrix } from "./maths.js";

const KEPT_HEADS = 24;
const SAFETENSORS = { F32: Float32Array, U8: Uint8Array };

/** Bytes of a base64 string. */
export function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

/** Named matrices of a safetensors file: 8 bytes of length, a JSON header, the data. */
export function decodeSafetensors(buffer) {
  const length = Number(new DataView(buffer).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  delete header.__metadata__;
  const named = {};
  for (const [
    name,
    {
      dtype,
      shape,
      data_offsets: [start, end],
    },
  ] of Object.entries(header)) {
    const bytes = buffer.slice(8 + length + start, 8 + length + end);
    named[name] = matrix(shape[0], shape[1], new SAFETENSORS[dtype](bytes));
  }
  return named;
}

/** Why a head is not here, in words for a person; `lost` means the server has let go of the run. */
export class MissingArrays extends Error {
  constructor(message, lost = false) {
    super(message);
    this.lost = lost;
  }
}

/** Fetches matrices by address and keeps the last ones, so that a head seen once is there at once. */
export class Library {
  constructor() {
    this.kept = new Map();
  }

  /** The matrices at an address below the app's own, as a promise. */
  async fetch(address) {
    const entry = this.kept.get(address) ?? this.load(address);
    this.kept.delete(address); // put it last: the order is the order of use
    this.kept.set(address, entry);
    if (this.kept.size > KEPT_HEADS) this.kept.delete(this.kept.keys().next().value);
    try {
      return (await entry).matrices;
    } catch (error) {
      this.kept.delete(address);
      throw error;
    }
  }

  /** Take arrays that came along as base64. */
  put(address, base64) {
    if (this.kept.has(address)) return;
    const { buffer } = bytesOf(base64);
    this.kept.set(address, { buffer, matrices: decodeSafetensors(buffer) });
  }

  async load(address) {
    const response = await fetch(new URL(address, document.baseURI)).catch(() => null);
    if (!response)
      throw new MissingArrays("The app does not answer. Heads already opened still work.");
    const isLost = response.status === 404;
    if (isLost) throw new MissingArrays("The app has let go of this sentence; asking again.", true);
    if (!response.ok) throw new MissingArrays(`The app could not send this (${response.status}).`);
    const buffer = await response.arrayBuffer();
    try {
      return { buffer, matrices: decodeSafetensors(buffer) };
    } catch {
      throw new MissingArrays("The app sent something that cannot be read.");
    }
  }

  /** Everything kept, as base64 by address, for a file that opens without the app. */
  async packed() {
    const entries = await Promise.all(
      Array.from(this.kept, async ([address, entry]) => [address, base64Of((await entry).buffer)]),
    );
    return Object.fromEntries(entries);
  }
}

/** The arrays of a saved file. */
export class PackedLibrary {
  constructor(arrays) {
    this.kept = Object.fromEntries(
      Object.entries(arrays).map(([address, base64]) => [
        address,
        decodeSafetensors(bytesOf(base64).buffer),
      ]),
    );
  }

  async fetch(address) {
    if (!this.kept[address])
      throw new MissingArrays(
        "This is not in the saved file; it holds what was opened before saving.",
      );
    return this.kept[address];
  }
}

function base64Of(buffer) {
  const bytes = new Uint8Array(buffer);
  const pieces = [];
  const most = 32_768; // arguments a call takes
  for (let i = 0; i < bytes.length; i += most)
    pieces.push(String.fromCharCode(...bytes.subarray(i, i + most)));
  return btoa(pieces.join(""));
}

export function headAddress(key, layer, head) {
  return `live/arrays/${key}/head/${layer}/${head}`;
}

export function summaryAddress(key, how, over, index) {
  return `live/arrays/${key}/${how}/${over}/${index}`;
}
