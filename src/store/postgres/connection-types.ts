// How values of Postgres become values of JavaScript: bigint is a number here, since all of ours count from 1 and stay
// far below 2^53. A value beyond that is an error instead of a wrong number.

import { types } from 'pg';

const INT8 = 20;

export const connectionTypes = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === INT8 && format !== 'binary') return parseSafeInteger;
    return types.getTypeParser(oid, format as 'text');
  },
};

function parseSafeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`${text} is beyond 2^53`);
  return value;
}
