// Recognizes SPF policies in the rdata of TXT records.

const POLICY = /^v=spf1(?: |$)/i; // RFC 7208 §4.5
const PREFIX_OCTETS = 'v=spf1 '.length;

/** True if the first string begins with the version of a policy. */
export function isSpfPolicy(rdata: Uint8Array): boolean {
  const length = rdata[0] as number;
  const start = Buffer.from(rdata.buffer, rdata.byteOffset + 1, Math.min(length, PREFIX_OCTETS));
  return POLICY.test(start.toString('latin1'));
}
