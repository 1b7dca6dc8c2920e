// Serials of zones whose SOA is not rewritten for each change: operator zones signed by the fleet, and changes of
// signatures only.

import { nextSerial } from './publish.ts';

/** Offset of SERIAL from the end of the rdata, which ends with five numbers (RFC 1035 §3.3.13). */
const FROM_END = 20;

export function serialIn(soa: Uint8Array): number {
  return new DataView(soa.buffer, soa.byteOffset + soa.byteLength - FROM_END, FROM_END).getUint32(0);
}

export function withSerial(soa: Uint8Array, serial: number): Uint8Array {
  const rdata = Uint8Array.from(soa);
  new DataView(rdata.buffer, rdata.byteLength - FROM_END, FROM_END).setUint32(0, serial);
  return rdata;
}

/** Returns the loaded serial if it is newer than the served one (RFC 1982 §3.2), else the one after the served one. */
export function laterSerial(loaded: number, served: number | undefined): number {
  if (served === undefined || ((loaded - served) | 0) > 0) return loaded;
  return nextSerial(served);
}
