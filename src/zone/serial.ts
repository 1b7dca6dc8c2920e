// Serials of zones (RFC 1982). They are numbers modulo 2^32, so that "newer" means: ahead by less than half of the range.

/** Offset of SERIAL from the end of an SOA's rdata, which ends with five numbers (RFC 1035 §3.3.13). */
const FROM_END = 20;

export function serialIn(soa: Uint8Array): number {
  return new DataView(soa.buffer, soa.byteOffset + soa.byteLength - FROM_END, FROM_END).getUint32(0);
}

export function withSerial(soa: Uint8Array, serial: number): Uint8Array {
  const rdata = Uint8Array.from(soa);
  new DataView(rdata.buffer, rdata.byteLength - FROM_END, FROM_END).setUint32(0, serial);
  return rdata;
}

/** Returns true if a serial is newer than another (RFC 1982 §3.2). Of two that differ by 2^31, neither is. */
export function isNewer(serial: number, other: number): boolean {
  const ahead = (serial - other) | 0;
  return ahead > 0;
}

/** Returns the serial after another (RFC 1982 §3.1). Skips 0, which some secondaries interpret as "none". */
export function nextSerial(serial: number): number {
  return serial >= 0xffff_ffff ? 1 : serial + 1;
}

/**
 * Returns the next serial of a zone whose serials the fleet chooses: the time in seconds if that is newer, else the next
 * number. After the database is restored from a backup, secondaries therefore see the first change as newer than
 * anything that they have.
 */
export function timedSerial(serial: number, now: Date): number {
  const seconds = Math.floor(now.getTime() / 1000) >>> 0;
  return seconds !== 0 && isNewer(seconds, serial) ? seconds : nextSerial(serial);
}

/** Returns the loaded serial if it is newer than the served one, else the one after the served one. */
export function laterSerial(loaded: number, served: number | undefined): number {
  if (served === undefined || isNewer(loaded, served)) return loaded;
  return nextSerial(served);
}
