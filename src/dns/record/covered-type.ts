// The type that a signature covers, without reading the rest of it (RFC 4034 §3.1.1).

/** `rdata` is that of an RRSIG record, well formed. */
export function coveredType(rdata: Uint8Array): number {
  return ((rdata[0] as number) << 8) | (rdata[1] as number);
}
