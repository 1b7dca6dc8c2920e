import { expect, it } from 'vitest';
import { WireError } from '../../../src/dns/errors.ts';
import { parseName } from '../../../src/dns/name.ts';
import { WireReader } from '../../../src/dns/record/wire-reader.ts';

it('reads nothing beyond the rdata, though the message goes on', () => {
  const message = Uint8Array.of(1, 0x61, 0, 9, 9, 9);
  for (const read of ['u8', 'u16', 'u32', 'name'] as const) {
    expect(() => new WireReader(message, 3, 3)[read](), read).toThrow(WireError);
  }
  expect(() => new WireReader(message, 3, 5).take(3)).toThrow(WireError);
  for (const isCompressed of [false, true])
    expect(() => new WireReader(message, 0, 2, isCompressed).name()).toThrow(WireError);
  expect(() => new WireReader(message, 3, 3, true).name()).toThrow(WireError);
});

it('names the field at fault', () => {
  const wire = new WireReader(Uint8Array.of(0));
  wire.field = 'preference';
  expect(() => wire.u16()).toThrow('preference: the rdata ends too early');
  expect(() => new WireReader(Uint8Array.of(0)).finish()).toThrow('1 octets follow the last field');
});

it('reads plain names of at most 255 octets and without pointers', () => {
  const nameOf = (last: number) =>
    Uint8Array.from([63, 63, 63, last].flatMap((octets) => [octets, ...Array(octets).fill(0x61)]).concat(0));
  expect(new WireReader(nameOf(61)).name()).toHaveLength(255);
  expect(() => new WireReader(nameOf(62)).name()).toThrow('longer than 255');
  expect(() => new WireReader(Uint8Array.of(0, 0xc0, 0), 1).name()).toThrow('compressed');
  expect(new WireReader(Uint8Array.of(1, 0x61, 0, 0xc0, 0), 3, 5, true).name()).toBe(parseName('a.'));
});
