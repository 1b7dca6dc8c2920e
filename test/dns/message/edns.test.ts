import fc from 'fast-check';
import { expect, test } from 'vitest';
import { WireError } from '../../../src/dns/errors.ts';
import { decodeOptions, optTtl } from '../../../src/dns/message/edns.ts';
import { encodeOptions } from '../../support/answer/encode-message.ts';

test('options come back as they were, empty and repeated ones too', () => {
  const option = fc.record({ code: fc.nat(0xffff), value: fc.uint8Array({ maxLength: 300 }) });
  fc.assert(
    fc.property(fc.array(option, { maxLength: 8 }), (options) => {
      expect(decodeOptions(encodeOptions(options))).toEqual(options);
    }),
  );
});

test.each(['00', '000300', '0003000161ff', '00030002ff'])('the options %s run past the end', (hex) => {
  expect(() => decodeOptions(Buffer.from(hex, 'hex'))).toThrow(WireError);
});

test('the TTL of an OPT record is upper rcode bits, version and DO (RFC 6891 §6.1.3)', () => {
  expect(optTtl(16, 0, false)).toBe(0x01000000);
  expect(optTtl(0xfff, 255, true)).toBe(0xffff8000);
  expect(optTtl(3, 0, true)).toBe(0x8000);
});
