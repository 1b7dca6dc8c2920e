// Recognizes SPF policies in the rdata of TXT records, whose strings receivers join without spaces (RFC 7208 §3.3).

const VERSION = 'v=spf1';

/** Returns true if the text begins with the version of a policy (RFC 7208 §4.5). */
export function isSpfPolicy(rdata: Uint8Array): boolean {
  return /^v=spf1(?: |$)/i.test(startOf(rdata));
}

/** Returns true if the version is a separate string to which the next one is joined: `v=spf1mx -all` is not a policy. */
export function isSplitSpfPolicy(rdata: Uint8Array): boolean {
  return rdata[0] === VERSION.length && /^v=spf1[^ ]/i.test(startOf(rdata));
}

/** Returns the text up to the octet after the version. */
function startOf(rdata: Uint8Array): string {
  let text = '';
  for (let at = 0; at < rdata.length && text.length <= VERSION.length; at += 1 + (rdata[at] as number)) {
    text += Buffer.from(rdata.subarray(at + 1, at + 1 + (rdata[at] as number))).toString('latin1');
  }
  return text.slice(0, VERSION.length + 1);
}
