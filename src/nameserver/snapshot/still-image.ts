// The content of a base file: the image at one moment, while edits continue.

import type { Image } from '../image/image.ts';
import { FORMAT, HEADER_BYTES } from '../image/layout.ts';
import type { ImageWriter } from '../image/write-image.ts';

export interface StillImage {
  /** Version of the image's layout. The file has a version of its own. */
  readonly layout: number;
  /** Start of the range of the buffer that holds all blocks. */
  readonly from: number;
  readonly to: number;
  /** Copies of the parts that are changed in place. */
  readonly copies: readonly { readonly at: number; readonly bytes: Uint8Array }[];
  readonly header: Uint8Array;
  readonly free: Uint8Array;
}

/** Returns the image at this moment, with copies of the parts that are changed in place. */
export function stillImage(image: Image, writer: ImageWriter): StillImage {
  const { bytesAt, bytes } = writer.tableRange;
  return {
    layout: FORMAT,
    from: HEADER_BYTES,
    to: image.endBytes,
    copies: [{ at: bytesAt, bytes: new Uint8Array(image.buffer, bytesAt, bytes).slice() }],
    header: bytesOf(image.exportHeader()),
    free: bytesOf(writer.exportFree()),
  };
}

function bytesOf(words: Int32Array): Uint8Array {
  return new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
}
