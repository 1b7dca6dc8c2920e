import { describe, expect, test } from 'vitest';
import { Cookies } from '../../../src/nameserver/answer/cookies.ts';
import { clientAt } from '../../support/answer/client-at.ts';

const hex = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'));
const viewOf = (octets: Uint8Array) => new DataView(octets.buffer);

const SECRET = 'e5e973e5a6b2a43f48e7dc849e37bfcf';
const OLD_SECRET = 'dd3bdf9344b678b185a6f5cb60fca715';
const NEW_SECRET = '445536bcd2513298075a5d379663c962';

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

describe('RFC 9018 appendix A', () => {
  const cookies = cookiesOf(SECRET);
  test('A.1: a new server cookie', () => {
    expect(signed(cookies, '2464c4abcf10c957', '198.51.100.100', 1559731985)).toBe(
      '2464c4abcf10c957010000005cf79f111f8130c3eee29480',
    );
  });
  test('A.2: the same client 40 minutes later has it renewed', () => {
    const learned = '2464c4abcf10c957010000005cf79f111f8130c3eee29480';
    expect(judged(cookies, learned, '198.51.100.100', 1559734385)).toBe('renew');
    expect(signed(cookies, '2464c4abcf10c957', '198.51.100.100', 1559734385)).toBe(
      '2464c4abcf10c957010000005cf7a871d4a564a1442aca77',
    );
  });
  test('A.3: reserved octets that are set are hashed as they came, and sent as zero', () => {
    const learned = 'fc93fc62807ddb8601abcdef5cf78f71a314227b6679ebf5';
    expect(judged(cookies, learned, '203.0.113.203', 1559727985 + 60)).toBe('fresh');
    expect(signed(cookies, 'fc93fc62807ddb86', '203.0.113.203', 1559734700)).toBe(
      'fc93fc62807ddb86010000005cf7a9acf73a7810aca2381e',
    );
  });
  test('A.4: an IPv6 client whose cookie was signed with the previous secret', () => {
    const rolledOver = cookiesOf(NEW_SECRET, OLD_SECRET);
    const address = '2001:db8:220:1:59de:d0f4:8769:82b8';
    const learned = '22681ab97d52c298010000005cf7c57926556bd0934c72f8';
    expect(judged(rolledOver, learned, address, 1559741961)).toBe('renew');
    expect(judged(cookiesOf(NEW_SECRET), learned, address, 1559741961)).toBe('invalid');
    expect(signed(rolledOver, '22681ab97d52c298', address, 1559741961)).toBe(
      '22681ab97d52c298010000005cf7c609a6bb79d16625507a',
    );
  });
});

describe('a server cookie', () => {
  const cookies = cookiesOf(SECRET);
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
