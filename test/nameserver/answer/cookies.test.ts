import { describe, expect, test } from 'vitest';
import { Cookies } from '../../../src/nameserver/answer/cookies.ts';
import { clientAt } from '../../support/answer/client-at.ts';
import { rowsOf } from '../../support/tests/rows-of.ts';

const hex = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'));
const viewOf = (octets: Uint8Array) => new DataView(octets.buffer);

const SECRETS = {
  current: 'e5e973e5a6b2a43f48e7dc849e37bfcf',
  old: 'dd3bdf9344b678b185a6f5cb60fca715',
  new: '445536bcd2513298075a5d379663c962',
};

function cookiesOf(...secrets: string[]): Cookies {
  return new Cookies(secrets.map((secret) => Uint8Array.from(Buffer.from(secret, 'hex'))));
}

function signed(cookies: Cookies, clientCookie: string, address: string, nowSeconds: number): string {
  const out = new Uint8Array(16);
  cookies.sign(viewOf(hex(clientCookie)), 0, clientAt(address), nowSeconds, viewOf(out), 0);
  return clientCookie + Buffer.from(out).toString('hex');
}

function judged(cookies: Cookies, cookie: string, address: string, nowSeconds: number): string {
  const option = hex(cookie);
  return cookies.judge(viewOf(option), 0, option.length, clientAt(address), nowSeconds);
}

/** Example, client cookie, address, time, secrets; the server cookie and its verdict; the new server cookie. */
test.each(
  rowsOf(`
A.1: a new server cookie | 2464c4abcf10c957 | 198.51.100.100 | 1559731985 | current | | | 010000005cf79f111f8130c3eee29480
A.2: the same client 40 minutes later has it renewed | 2464c4abcf10c957 | 198.51.100.100 | 1559734385 | current | 010000005cf79f111f8130c3eee29480 | renew | 010000005cf7a871d4a564a1442aca77
A.3: reserved octets are hashed as they came | fc93fc62807ddb86 | 203.0.113.203 | 1559728045 | current | 01abcdef5cf78f71a314227b6679ebf5 | fresh |
A.3: reserved octets are sent as zero | fc93fc62807ddb86 | 203.0.113.203 | 1559734700 | current | | | 010000005cf7a9acf73a7810aca2381e
A.4: an IPv6 client whose cookie was signed with the previous secret | 22681ab97d52c298 | 2001:db8:220:1:59de:d0f4:8769:82b8 | 1559741961 | new old | 010000005cf7c57926556bd0934c72f8 | renew | 010000005cf7c609a6bb79d16625507a
A.4: the same cookie without that secret | 22681ab97d52c298 | 2001:db8:220:1:59de:d0f4:8769:82b8 | 1559741961 | new | 010000005cf7c57926556bd0934c72f8 | invalid |`),
)('RFC 9018 appendix %s', (_, client = '', address = '', at, secrets = '', learned, verdict, renewed) => {
  const cookies = cookiesOf(...secrets.split(' ').map((secret) => SECRETS[secret as keyof typeof SECRETS]));
  if (learned) expect(judged(cookies, client + learned, address, Number(at))).toBe(verdict);
  if (renewed) expect(signed(cookies, client, address, Number(at))).toBe(client + renewed);
});

describe('a server cookie', () => {
  const cookies = cookiesOf(SECRETS.current);
  const at = 1_700_000_000;
  const cookie = signed(cookies, '0102030405060708', '192.0.2.1', at);

  test.each([
    ['at once', 0, 'fresh'],
    ['after 30 minutes', 1800, 'fresh'],
    ['after 30 minutes and a second', 1801, 'renew'],
    ['after an hour', 3600, 'renew'],
    ['after an hour and a second', 3601, 'invalid'],
    ['five minutes before it was made', -300, 'fresh'],
    ['more than five minutes before it was made', -301, 'invalid'],
  ])('%s', (_, seconds, verdict) => {
    expect(judged(cookies, cookie, '192.0.2.1', at + seconds)).toBe(verdict);
  });

  test('lives on when the 32-bit clock wraps', () => {
    const late = signed(cookies, '0102030405060708', '192.0.2.1', 0xffff_fff0);
    expect(judged(cookies, late, '192.0.2.1', 0x1_0000_0010)).toBe('fresh');
  });

  test('is of no use from another address, with another client cookie, version, or any bit changed', () => {
    expect(judged(cookies, cookie, '192.0.2.2', at)).toBe('invalid');
    for (let bit = 0; bit < 24 * 8; bit++) {
      const changed = hex(cookie);
      changed[bit >> 3] = changed[bit >> 3]! ^ (1 << (bit & 7));
      expect(cookies.judge(viewOf(changed), 0, 24, clientAt('192.0.2.1'), at)).toBe('invalid');
    }
  });

  test('alone proves nothing when it is the client part only', () => {
    expect(judged(cookies, '0102030405060708', '192.0.2.1', at)).toBe('client-only');
  });
});

test('a secret has 16 octets', () => {
  expect(() => new Cookies([])).toThrow(RangeError);
  expect(() => new Cookies([new Uint8Array(15)])).toThrow(RangeError);
});
