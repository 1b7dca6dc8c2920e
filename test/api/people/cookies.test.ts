import { describe, expect, it } from 'vitest';
import { CookieJar } from '../../../src/api/people/cookies.ts';

const secure = new CookieJar('https://dns.example.net');
const loopback = new CookieJar('http://127.0.0.1:8053');

describe('cookies', () => {
  it('are limited to this host and https, and not readable by scripts', () => {
    expect(secure.set('session', 'x')).toBe(
      '__Host-session=x; Path=/; Max-Age=7776000; HttpOnly; SameSite=Lax; Secure',
    );
    expect(secure.set('flow', 'z')).toMatch(/^__Host-flow=z; Path=\/; Max-Age=600; HttpOnly;/);
    expect(secure.set('device', 'y')).toMatch(/^__Host-device=y; Path=\/; .*; Secure$/);
  });

  it('have names that do not require https on loopback', () => {
    expect(loopback.set('session', 'x')).toBe('session=x; Path=/; Max-Age=7776000; HttpOnly; SameSite=Lax');
  });

  it('can be removed', () => {
    expect(secure.clear('session')).toMatch(/^__Host-session=; Path=\/; Max-Age=0;/);
  });

  it.each([
    ['__Host-session=a; __Host-device=b', { session: 'a', device: 'b' }],
    ['__Host-flow=c', { flow: 'c' }],
    ['x=1;__Host-session=a', { session: 'a', device: undefined }],
    ['session=a', { session: undefined, device: undefined }],
    ['__Host-session=a; __Host-session=b', { session: undefined, device: undefined }],
    ['__host-session=a', { session: undefined, device: undefined }],
    ['', { session: undefined, device: undefined }],
    [undefined, { session: undefined, device: undefined }],
  ])('are read from %j', (header, cookies) => expect(secure.read(header)).toEqual(cookies));
});
