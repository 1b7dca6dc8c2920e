// The tag of a key: a hint which key a signature or DS refers to. Several keys may share one (RFC 4034 B).

const RSAMD5 = 1;

/** @param dnskey the rdata */
export function keyTag(dnskey: Uint8Array): number {
  if (dnskey[3] === RSAMD5) return readU16(dnskey, dnskey.length - 3); // RFC 4034 B.1
  let sum = 0;
  for (let i = 0; i < dnskey.length; i++)
    sum += (i & 1) === 0 ? (dnskey[i] as number) << 8 : (dnskey[i] as number);
  return (sum + (sum >>> 16)) & 0xffff;
}

function readU16(octets: Uint8Array, at: number): number {
  return ((octets[at] ?? 0) << 8) | (octets[at + 1] ?? 0);
}
