// Reads the type that a signature covers, without the rest of it (RFC 4034 §3.1.1).

/** @param rdata well-formed rdata of an RRSIG record */
export function coveredType(rdata: Uint8Array): number {
  return ((rdata[0] as number) << 8) | (rdata[1] as number);
}
