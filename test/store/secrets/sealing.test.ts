import { describe, expect, it } from 'vitest';
import { deriveKey, seal, unseal } from '../../../src/store/secrets/sealing.ts';

const KEY = Buffer.alloc(32, 1);
const TEXT = Buffer.from('JBSWY3DPEHPK3PXP');

describe('a sealed secret', () => {
  it('opens with the same key and context, and has a different text each time', () => {
    const sealed = seal(KEY, TEXT, ['totp', '7']);
    expect(unseal(KEY, sealed, ['totp', '7'])).toEqual(TEXT);
    expect(seal(KEY, TEXT, ['totp', '7'])).not.toEqual(sealed);
    expect(sealed.includes(TEXT)).toBe(false);
  });

  it('does not open for another row, with another key, truncated or changed in any octet', () => {
    const sealed = seal(KEY, TEXT, ['totp', '7']);
    expect(unseal(KEY, sealed, ['totp', '8'])).toBeUndefined();
    expect(unseal(KEY, sealed, ['totp7'])).toBeUndefined();
    expect(unseal(Buffer.alloc(32, 2), sealed, ['totp', '7'])).toBeUndefined();
    expect(unseal(KEY, sealed.subarray(0, 27), ['totp', '7'])).toBeUndefined();
    for (let i = 0; i < sealed.length; i++) {
      const changed = Buffer.from(sealed);
      changed[i] = (changed[i] as number) ^ 1;
      expect(unseal(KEY, changed, ['totp', '7'])).toBeUndefined();
    }
  });
});

it('derived keys differ by their context', () => {
  expect(deriveKey(KEY, ['a', 'b'])).toHaveLength(32);
  expect(deriveKey(KEY, ['a', 'b'])).toEqual(deriveKey(KEY, ['a', 'b']));
  expect(deriveKey(KEY, ['ab'])).not.toEqual(deriveKey(KEY, ['a', 'b']));
});
