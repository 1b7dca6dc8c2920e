import { describe, expect, it } from 'vitest';
import { keyTag } from '../../../src/dns/dnssec/key-tag.ts';
import { DNSKEY } from '../../../src/dns/record/types/dnskey.ts';
import { WireReader } from '../../../src/dns/record/wire-reader.ts';
import { KEY_FLAGS, makeKey, readSigningKey } from '../../../src/zone/signing/signing-key.ts';

describe.each([
  [13, 64],
  [15, 32],
] as const)('a key of algorithm %d', (algorithm, octets) => {
  it('has 32 secret octets and a DNSKEY record, and is read from these', () => {
    for (let i = 0; i < 300; i++) {
      const made = makeKey(algorithm, KEY_FLAGS.ENTRY);
      expect(made.secret.length).toBe(32); // also when the number begins with zeros
      const { publicKey, ...rest } = DNSKEY.decode(new WireReader(made.dnskey));
      expect(rest).toEqual({ flags: 257, protocol: 3, algorithm });
      expect(publicKey.length).toBe(octets);
      expect(made.tag).toBe(keyTag(made.dnskey));
      if (i > 5) continue;
      const read = readSigningKey(made.dnskey, made.secret);
      expect([read.tag, read.algorithm]).toEqual([made.tag, algorithm]);
    }
  });

  it('is another one each time', () => {
    const made = [makeKey(algorithm, 256), makeKey(algorithm, 256)];
    expect(Buffer.compare(made[0]?.secret as Uint8Array, made[1]?.secret as Uint8Array)).not.toBe(0);
  });
});
