import { expect, test } from 'vitest';
import { TYPE } from '../../src/dns/type-codes.ts';
import { idOfSet, rdataOfSet, SET_ID_OCTETS } from '../../src/zone/edge-sets.ts';

test('a set has its addresses in canonical order, each once', () => {
  const rdata = rdataOfSet(TYPE.A, ['192.0.2.9', '10.0.0.1', '192.0.2.9']);
  expect(rdata.map((one) => [...one])).toEqual([
    [10, 0, 0, 1],
    [192, 0, 2, 9],
  ]);
  expect(rdataOfSet(TYPE.AAAA, ['2001:db8::1'])[0]).toHaveLength(16);
});

test('a set is named by what it holds, in any order', () => {
  const id = (type: number, ...addresses: string[]) =>
    Buffer.from(idOfSet(type, rdataOfSet(type, addresses))).toString('hex');
  expect(id(TYPE.A, '192.0.2.1', '192.0.2.2')).toBe(id(TYPE.A, '192.0.2.2', '192.0.2.1'));
  expect(id(TYPE.A, '192.0.2.1')).not.toBe(id(TYPE.A, '192.0.2.2'));
  expect(id(TYPE.A)).not.toBe(id(TYPE.AAAA));
  expect(id(TYPE.A)).toHaveLength(2 * SET_ID_OCTETS);
});
