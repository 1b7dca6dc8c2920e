// One element of a certificate's DER (X.690 §8.1): where its content begins and ends.

export interface Element {
  readonly tag: number;
  /** Of what is in it. */
  readonly start: number;
  readonly end: number;
}

/** Undefined where none stands whole. Lengths of up to four octets (X.690 §8.1.3). */
export function readElement(der: Uint8Array, at: number): Element | undefined {
  const tag = der[at];
  const first = der[at + 1];
  if (tag === undefined || first === undefined) return undefined;
  const octets = first < 0x80 ? 0 : first - 0x80;
  if (octets > 4 || at + 2 + octets > der.length) return undefined;
  let length = octets === 0 ? first : 0;
  for (let i = 0; i < octets; i++) length = length * 256 + (der[at + 2 + i] as number);
  const start = at + 2 + octets;
  return start + length > der.length ? undefined : { tag, start, end: start + length };
}
