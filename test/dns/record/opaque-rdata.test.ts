import { expect, it } from 'vitest';
import { WireError } from '../../../src/dns/errors.ts';
import { readOpaqueRdata } from '../../../src/dns/record/opaque-rdata.ts';

const RT = 21;
const message = Uint8Array.of(1, 0x61, 0, 0, 1, 0xc0, 0);

it('old types lose their compression', () => {
  expect(readOpaqueRdata(RT, message, 3, 4)).toEqual(Uint8Array.of(0, 1, 1, 0x61, 0));
});

it('in other types the same octets mean nothing', () => {
  expect(readOpaqueRdata(65280, message, 3, 4)).toEqual(Uint8Array.of(0, 1, 0xc0, 0));
});

it('old types must be complete and have nothing behind their names', () => {
  expect(() => readOpaqueRdata(RT, message, 3, 3)).toThrow(WireError);
  expect(() => readOpaqueRdata(RT, message, 3, 1)).toThrow(WireError);
  expect(() => readOpaqueRdata(RT, Uint8Array.of(0, 1, 0, 9), 0, 4)).toThrow(WireError);
});

it('the octets are a copy', () => {
  const own = Uint8Array.of(1, 2, 3);
  const rdata = readOpaqueRdata(65280, own, 0, 3);
  own[0] = 9;
  expect(rdata).toEqual(Uint8Array.of(1, 2, 3));
});
