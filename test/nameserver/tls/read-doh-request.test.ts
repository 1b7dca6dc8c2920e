import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, it } from 'vitest';
import { type DohRequest, readDohRequest } from '../../../src/nameserver/tls/read-doh-request.ts';

const DNS = 'application/dns-message';
/** A query in base64url, because comparing large arrays is slow. */
const query = (text: string) => ({ query: text });
const LARGEST = Buffer.alloc(65_535).toString('base64url');

describe('a GET request', () => {
  it.each<[string, { query: string } | number]>([
    ['/dns-query?dns=AAAB', query('AAAB')],
    ['/dns-query?dns=AA-_', query('AA-_')],
    ['/dns-query?ct=x&dns=AA&z', query('AA')],
    ['/dns-query?xdns=AB&dns=AA', query('AA')],
    [`/dns-query?dns=${LARGEST}`, query(LARGEST)],
    [`/dns-query?dns=${Buffer.alloc(65_536).toString('base64url')}`, 413],
    ['/dns-query', 400],
    ['/dns-query?', 400],
    ['/dns-query?dns=', 400],
    ['/dns-query?dns=A', 400],
    ['/dns-query?dns=AAA=', 400],
    ['/dns-query?dns=AA+/', 400],
    ['/dns-query?dns=AA%41', 400],
    ['/dns-query?dns=AAAB&dns=AAAB', 400],
    ['/dns-query?DNS=AAAB', 400],
    ['/', 404],
    ['', 404],
    ['*', 404],
    ['/dns-query/?dns=AAAB', 404],
    ['/dns-query2?dns=AAAB', 404],
    ['https://ns1.example/dns-query?dns=AAAB', query('AAAB')],
    ['https://ns1.example?dns=AAAB', 404],
    ['ftp://ns1.example/dns-query?dns=AAAB', 404],
  ])('%.60s', (target, expected) => {
    const read = readDohRequest('GET', target, {});
    expect(typeof read === 'object' ? query(Buffer.from(read).toString('base64url')) : read).toEqual(
      expected,
    );
  });
});

describe('a POST request', () => {
  it.each<[IncomingHttpHeaders, DohRequest]>([
    [{ 'content-type': DNS }, 'body'],
    [{ 'content-type': 'Application/DNS-Message ; v=1' }, 'body'],
    [{ 'content-type': DNS, 'content-length': '65535', 'content-encoding': 'identity' }, 'body'],
    [{ 'content-type': DNS, 'content-length': '65536' }, 413],
    [{ 'content-type': DNS, 'content-encoding': 'gzip' }, 415],
    [{ 'content-type': 'application/dns-json' }, 415],
    [{}, 415],
  ])('with %j', (headers, expected) => {
    expect(readDohRequest('POST', '/dns-query?dns=ignored', headers)).toEqual(expected);
  });
});

it.each(['HEAD', 'PUT', 'OPTIONS', 'get', undefined])('responds 405 to the method %s', (method) => {
  expect(readDohRequest(method, '/dns-query?dns=AAAB', {})).toBe(405);
});
