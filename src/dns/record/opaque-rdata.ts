// Finds names in rdata of types that are otherwise opaque. Old types may arrive compressed, and a pointer is
// meaningless outside its message, so their names are decompressed when read (RFC 3597 §4).

import type { Name } from '../name.ts';
import { encodeName } from '../name.ts';
import { WireReader } from './wire-reader.ts';

/** Number of octets before each name. With `rest`, more octets follow the last name. */
interface Layout {
  readonly skips: readonly number[];
  readonly rest?: true;
}

const LAYOUTS: ReadonlyMap<number, Layout> = new Map<number, Layout>([
  [3, { skips: [0] }], // MD
  [4, { skips: [0] }], // MF
  [7, { skips: [0] }], // MB
  [8, { skips: [0] }], // MG
  [9, { skips: [0] }], // MR
  [14, { skips: [0, 0] }], // MINFO
  [21, { skips: [2] }], // RT
  [24, { skips: [18], rest: true }], // SIG
  [26, { skips: [2, 0] }], // PX
  [30, { skips: [0], rest: true }], // NXT
]);

/** Reads the rdata of a type without a file in types/. Names in old types are decompressed. */
export function readOpaqueRdata(
  type: number,
  message: Uint8Array,
  offset: number,
  length: number,
): Uint8Array {
  const layout = LAYOUTS.get(type);
  if (layout === undefined) return Uint8Array.from(message.subarray(offset, offset + length));
  const wire = new WireReader(message, offset, offset + length, true);
  const parts: Uint8Array[] = [];
  for (const skip of layout.skips) {
    const before = wire.take(skip);
    const name: Name = wire.name();
    parts.push(before, encodeName(name));
  }
  if (layout.rest) parts.push(wire.take(wire.left));
  wire.finish();
  return Uint8Array.from(Buffer.concat(parts));
}
