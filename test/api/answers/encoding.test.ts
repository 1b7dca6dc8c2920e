import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { acceptedEncoding, encodeBody, encodeOctets } from '../../../src/api/answers/encoding.ts';

it.each([
  [undefined, undefined],
  ['', undefined],
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate, GZIP;Q=0.5, BR ; q=0.5', 'br'],
  ['br;q=0.1, gzip;q=0.2', 'gzip'],
  ['br;q=0, gzip;q=0', undefined],
  ['*', 'br'],
  ['*;q=0', undefined],
  ['*;q=0.5, br;q=0', 'gzip'],
  ['identity, gzip;q=0.5', undefined],
  ['identity;q=0.5, gzip', 'gzip'],
  ['gzip, identity;q=0', 'gzip required'],
  ['gzip, *;q=0', 'gzip required'],
  [',gzip,,', 'gzip'],
  ['gzip;q=2', undefined],
  ['gzip;q=', undefined],
  ['gzip;level=1', undefined],
  ['gzip;q=1;x=1', undefined],
  ['gz ip', undefined],
  ['gzip\0', undefined],
  [';q=1', undefined],
  [`${'a,'.repeat(600)}gzip`, undefined],
])('the Accept-Encoding %j selects %s', (header, expected) => {
  const accepted = acceptedEncoding(header);
  const text = accepted && `${accepted.encoding}${accepted.isRequired ? ' required' : ''}`;
  expect(text).toBe(expected);
});

const long = 'a record '.repeat(5000);

it('compresses long responses, and short ones only if the client requires it', async () => {
  for (const header of ['gzip', 'br']) {
    const decode = header === 'br' ? brotliDecompressSync : gunzipSync;
    const accepted = acceptedEncoding(header);
    for (const body of [long, Readable.from([Buffer.from(long)])]) {
      const encoded = encodeBody(body, accepted);
      expect(encoded.encoding).toBe(header);
      expect(decode(await buffer(encoded.body as Readable)).toString()).toBe(long);
    }
    const octets = encodeOctets(Buffer.from(long), accepted);
    expect(decode(octets.body).toString()).toBe(long);
    expect(octets.body.length).toBeLessThan(long.length / 10);
    expect(encodeBody('[]', accepted)).toEqual({ body: '[]', encoding: undefined });
    expect(encodeOctets(Buffer.from('[]'), accepted).encoding).toBeUndefined();
    const required = encodeBody('[]', acceptedEncoding(`${header}, identity;q=0`));
    expect(decode(await buffer(required.body as Readable)).toString()).toBe('[]');
  }
  expect(encodeBody(long, undefined).encoding).toBeUndefined();
});

it('compresses a bounded number of responses concurrently, and ends with the body or the reader', async () => {
  const accepted = acceptedEncoding('gzip');
  const sources = Array.from({ length: 16 }, () => new Readable({ read() {} }));
  const bodies = sources.map((source) => encodeBody(source, accepted).body as Readable);
  expect(encodeBody(long, accepted).encoding).toBeUndefined();
  const failed = buffer(bodies[0] as Readable).catch((error: Error) => error.message);
  sources[0]?.destroy(new Error('the list cannot be read'));
  for (const body of bodies.slice(1)) body.destroy();
  expect(await failed).toBe('the list cannot be read');
  await new Promise(setImmediate);
  expect(sources.every(({ destroyed }) => destroyed)).toBe(true);
  const again = encodeBody(long, accepted);
  expect(again.encoding).toBe('gzip');
  expect(gunzipSync(await buffer(again.body as Readable)).toString()).toBe(long);
});
