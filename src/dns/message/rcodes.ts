// Response codes (RFC 1035 §4.1.1, RFC 2136 §2.2, RFC 6895 §2.3). Those above 15 need EDNS for their upper bits.

export const RCODE = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  YXDOMAIN: 6,
  YXRRSET: 7,
  NXRRSET: 8,
  NOTAUTH: 9,
  NOTZONE: 10,
  BADVERS: 16,
  BADCOOKIE: 23,
} as const;

const MNEMONICS = new Map<number, string>(Object.entries(RCODE).map(([mnemonic, code]) => [code, mnemonic]));

/** Returns for example 'NXDOMAIN', or 'RCODE11' for an unnamed code. */
export function rcodeMnemonic(rcode: number): string {
  return MNEMONICS.get(rcode) ?? `RCODE${rcode}`;
}
