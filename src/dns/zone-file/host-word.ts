// The position of the host name among the words of a record's rdata in a zone file.

import { TYPE } from '../type-codes.ts';

const HOST_WORDS: ReadonlyMap<number, number> = new Map([
  [TYPE.NS, 0],
  [TYPE.CNAME, 0],
  [TYPE.PTR, 0],
  [TYPE.DNAME, 0],
  [TYPE.MX, 1],
  [TYPE.HTTPS, 1],
  [TYPE.SVCB, 1],
  [TYPE.SRV, 3],
  [TYPE.NAPTR, 5],
]);

/** Returns the index of the word. Returns undefined for types without a host. */
export function hostWordOf(type: number): number | undefined {
  return HOST_WORDS.get(type);
}
