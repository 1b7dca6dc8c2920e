import { expect, it } from 'vitest';
import { WireError } from '../../../src/dns/errors.ts';
import { parseName } from '../../../src/dns/name.ts';
import { WireReader } from '../../../src/dns/record/wire-reader.ts';

it('numbers are read in network order up to the full 32 bits', () => {
  const wire = new WireReader(Uint8Array.of(1, 0xff, 0xfe, 0xff, 0xff, 0xff, 0xff));
  expect([wire.u8(), wire.u16(), wire.u32(), wire.left]).toEqual([1, 0xfffe, 0xffffffff, 0]);
});

it('nothing is read beyond the rdata, though the message goes on', () => {
  const message = Uint8Array.of(1, 0x61, 0, 9, 9, 9);
  for (const read of ['u8', 'u16', 'u32', 'name'] as const) {
    expect(() => new WireReader(message, 3, 3)[read](), read).toThrow(WireError);
  }
  expect(() => new WireReader(message, 3, 5).take(3)).toThrow(WireError);
  expect(() => new WireReader(message, 0, 2).name()).toThrow(WireError);
  expect(() => new WireReader(message, 0, 2, true).name()).toThrow(WireError);
  expect(() => new WireReader(message, 3, 3, true).name()).toThrow(WireError);
});

it('a fault names the field', () => {
  const wire = new WireReader(Uint8Array.of(0));
  wire.field = 'preference';
  expect(() => wire.u16()).toThrow('preference: the rdata ends too early');
  expect(() => new WireReader(Uint8Array.of(0)).finish()).toThrow('1 octets follow the last field');
});

it('a plain name has at most 255 octets and no pointers', () => {
  const label = [63, ...Array(63).fill(0x61)];
  const longest = Uint8Array.of(...label, ...label, ...label, 61, ...Array(61).fill(0x61), 0);
  expect(new WireReader(longest).name()).toHaveLength(255);
  const longer = Uint8Array.of(...label, ...label, ...label, 62, ...Array(62).fill(0x61), 0);
  expect(() => new WireReader(longer).name()).toThrow('longer than 255');
  expect(() => new WireReader(Uint8Array.of(0, 0xc0, 0), 1).name()).toThrow('compressed');
  expect(new WireReader(Uint8Array.of(1, 0x61, 0, 0xc0, 0), 3, 5, true).name()).toBe(parseName('a.'));
});
