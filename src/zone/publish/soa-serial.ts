// Serials of zones whose SOA is not made anew for each change: operator zones that we sign, and what only signatures change.

import { nextSerial } from './publish.ts';

/** SERIAL begins the last five numbers of the rdata (RFC 1035 §3.3.13). */
const FROM_END = 20;

export function serialIn(soa: Uint8Array): number {
  return new DataView(soa.buffer, soa.byteOffset + soa.byteLength - FROM_END, FROM_END).getUint32(0);
}

export function withSerial(soa: Uint8Array, serial: number): Uint8Array {
  const rdata = Uint8Array.from(soa);
  new DataView(rdata.buffer, rdata.byteLength - FROM_END, FROM_END).setUint32(0, serial);
  return rdata;
}

/** The loaded serial where it is newer than the served one (RFC 1982 §3.2), else the one after that. */
export function laterSerial(loaded: number, served: number | undefined): number {
  if (served === undefined || ((loaded - served) | 0) > 0) return loaded;
  return nextSerial(served);
}
