import { describe, expect, it } from 'vitest';
import {
  base32,
  findStep,
  hashRecoveryCode,
  isRecoveryCode,
  makeRecoveryCodes,
  makeTotpSecret,
  totpUri,
} from '../../../src/api/people/totp.ts';

const SECRET = Buffer.from('12345678901234567890');

describe('a code', () => {
  // RFC 6238, appendix B, the last six digits.
  it.each([
    [59, '287082'],
    [1111111109, '081804'],
    [1111111111, '050471'],
    [1234567890, '005924'],
    [2000000000, '279037'],
    [20000000000, '353130'],
  ])('at %i seconds is %s', (seconds, code) => {
    expect(findStep(SECRET, code, seconds * 1000, 0)).toBe(Math.floor(seconds / 30));
    expect(findStep(makeTotpSecret(), code, seconds * 1000, 0)).toBeUndefined();
  });

  it('is valid half a minute early and late, and no longer', () => {
    const found = (seconds: number) => findStep(SECRET, '005924', seconds * 1000, 0);
    const step = 41152263;
    expect([30 * (step - 1), 30 * step, 30 * (step + 2) - 1].map(found)).toEqual([step, step, step]);
    expect([30 * (step - 1) - 1, 30 * (step + 2)].map(found)).toEqual([undefined, undefined]);
  });

  it('is not valid twice, nor after a later one, nor if the clock is set back', () => {
    expect(findStep(SECRET, '287082', 59_000, 1)).toBeUndefined();
    expect(findStep(SECRET, '287082', 59_000, 41152263)).toBeUndefined();
  });

  it.each(['28708', '2870822', '28708a', '', ' 287082', '２８７０８２'])('is not %j', (code) => {
    expect(findStep(SECRET, code, 59_000, 0)).toBeUndefined();
  });
});

it('the secret is encoded as authenticator apps expect it', () => {
  expect(base32(Buffer.from('foobar'))).toBe('MZXW6YTBOI'); // RFC 4648 §10
  expect(base32(makeTotpSecret())).toMatch(/^[A-Z2-7]{32}$/);
  expect(totpUri(SECRET, 'ann+dns@shop.example')).toBe(
    `otpauth://totp/Zonefleet:ann%2Bdns%40shop.example?secret=${base32(SECRET)}&issuer=Zonefleet&algorithm=SHA1&digits=6&period=30`,
  );
});

it('recovery codes are ten different codes, which are accepted in any notation', () => {
  const codes = makeRecoveryCodes();
  expect(new Set(codes).size).toBe(10);
  for (const code of codes) {
    expect(code).toMatch(/^([a-z2-7]{4}-){3}[a-z2-7]{4}$/);
    expect(isRecoveryCode(code)).toBe(true);
    expect(hashRecoveryCode(` ${code.toUpperCase().replaceAll('-', ' ')} `)).toEqual(hashRecoveryCode(code));
  }
  expect(isRecoveryCode('123456')).toBe(false);
});
