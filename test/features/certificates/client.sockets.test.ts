// Requests to an authority over the network: external account binding with pebble, renewal windows with a server of
// this test.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Authority, makePrivateKey } from '../../../src/features/certificates/client.ts';
import { makeCertificate } from '../../support/certificates/make-certificate.ts';
import { type Pebble, startPebble } from '../../support/certificates/pebble.ts';
import { isInstalled } from '../../support/peers/peers.ts';

const needsPebble = isInstalled('pebble') ? '' : ' (skipped: needs pebble)';
const signal = new AbortController().signal;

describe(`an authority that requires an external account${needsPebble}`, () => {
  const key = Buffer.alloc(32, 5).toString('base64url');
  let pebble: Pebble;
  beforeAll(async () => {
    if (needsPebble === '') pebble = await startPebble('127.0.0.1:1', { bindings: { 'kid-1': key } });
  });
  afterAll(() => pebble?.stop());

  const account = async (binding?: { kid: string; hmacKey: string }) => {
    const authority = new Authority({ directory: pebble.directory, roots: pebble.roots, binding });
    try {
      return await authority.use({ key: makePrivateKey(), url: undefined }, signal);
    } finally {
      authority.close();
    }
  };

  it.skipIf(needsPebble !== '')('creates an account that is bound to it', async () => {
    expect(await account({ kid: 'kid-1', hmacKey: key })).toMatch(/^https:\/\/localhost:\d+\/my-account\//);
  });

  it.skipIf(needsPebble !== '')('rejects an account without a binding or with a wrong key', async () => {
    const wrong = Buffer.alloc(32, 6).toString('base64url');
    for (const binding of [undefined, { kid: 'kid-1', hmacKey: wrong }, { kid: 'kid-2', hmacKey: key }])
      await expect(account(binding)).rejects.toMatchObject({ name: 'CaFault', kind: 'refused' });
  });
});

describe('an authority that suggests when to renew', () => {
  /** From RFC 9773, appendix A, with its identifier. */
  const EXAMPLE = `-----BEGIN CERTIFICATE-----
MIIBQzCB66ADAgECAgUAh2VDITAKBggqhkjOPQQDAjAVMRMwEQYDVQQDEwpFeGFt
cGxlIENBMCIYDzAwMDEwMTAxMDAwMDAwWhgPMDAwMTAxMDEwMDAwMDBaMBYxFDAS
BgNVBAMTC2V4YW1wbGUuY29tMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEeBZu
7cbpAYNXZLbbh8rNIzuOoqOOtmxA1v7cRm//AwyMwWxyHz4zfwmBhcSrf47NUAFf
qzLQ2PPQxdTXREYEnKMjMCEwHwYDVR0jBBgwFoAUaYhba4dGQEHhs3uEe6CuLN4B
yNQwCgYIKoZIzj0EAwIDRwAwRAIge09+S5TZAlw5tgtiVvuERV6cT4mfutXIlwTb
+FYN/8oCIClDsqBklhB9KAelFiYt9+6FDj3z4KGVelYM5MdsO3pK
-----END CERTIFICATE-----
`;
  const EXAMPLE_ID = 'aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE';
  const asked: string[] = [];
  /** The bodies of new orders, besides their names. */
  const orders: unknown[] = [];
  let window: unknown;
  let hasWindows = true;
  const server = createServer(async (request, response) => {
    const { host } = request.headers;
    const { method, url = '' } = request;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    asked.push(`${method} ${url}`);
    const say = (status: number, body: unknown, headers: Record<string, string> = {}) =>
      response
        .writeHead(status, { 'content-type': 'application/json', 'replay-nonce': 'AAAA', ...headers })
        .end(JSON.stringify(body));
    const at = (path: string) => `http://${host}${path}`;
    if (url === '/dir')
      return say(200, {
        newNonce: at('/nonce'),
        newAccount: at('/account'),
        newOrder: at('/order'),
        ...(hasWindows && { renewalInfo: at('/renewal') }),
        meta: { caaIdentities: ['ca.test', 7] },
      });
    if (url === '/nonce') return say(200, {});
    if (url === '/order') {
      const { payload } = JSON.parse(Buffer.concat(chunks).toString());
      const order = JSON.parse(Buffer.from(payload, 'base64url').toString());
      orders.push(order);
      return say(201, { status: 'pending', ...order, authorizations: [] }, { location: at('/order/1') });
    }
    if (url === `/renewal/${EXAMPLE_ID}`)
      return say(200, { suggestedWindow: window }, { 'retry-after': '21600' });
    return say(404, { type: 'urn:ietf:params:acme:error:malformed', detail: 'no such certificate' });
  });
  let authority: Authority;
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const directory = `http://127.0.0.1:${(server.address() as AddressInfo).port}/dir`;
    authority = new Authority({ directory });
    await authority.use({ key: makePrivateKey(), url: `${directory}/account/1` }, signal);
  });
  afterAll(() => {
    authority.close();
    server.closeAllConnections();
    server.close();
  });

  it('receives the issuer’s key identifier and the serial number, and says when to ask again', async () => {
    window = { start: '2025-01-02T04:00:00Z', end: '2025-01-03T04:00:00Z' };
    expect(await authority.renewal(EXAMPLE, signal)).toEqual({
      window: { start: new Date('2025-01-02T04:00:00Z'), end: new Date('2025-01-03T04:00:00Z') },
      retryAfterMs: 21_600_000,
    });
  });

  it.each([
    undefined,
    { start: 'soon', end: '2025-01-03T04:00:00Z' },
    { start: '2025-01-03T04:00:00Z', end: '2025-01-02T04:00:00Z' },
    { start: '2025-01-03T04:00:00Z', end: null },
  ])('may return an invalid window: %j', async (said) => {
    window = said;
    expect((await authority.renewal(EXAMPLE, signal))?.window).toBeUndefined();
  });

  it('may not know the certificate', async () => {
    const { pem } = await makeCertificate({ names: ['shop.example'] });
    await expect(authority.renewal(pem, signal)).rejects.toMatchObject({ kind: 'refused', status: 404 });
  });

  it('receives the certificate that an order replaces, but only if it has windows', async () => {
    expect(await authority.order(['shop.example'], EXAMPLE, signal)).toMatchObject({ status: 'pending' });
    const identifiers = [{ type: 'dns', value: 'shop.example' }];
    expect(orders).toEqual([{ identifiers, replaces: EXAMPLE_ID }]);
    hasWindows = false;
    const directory = authority.directory;
    const other = new Authority({ directory });
    await other.use({ key: makePrivateKey(), url: `${directory}/account/1` }, signal);
    await other.order(['shop.example'], EXAMPLE, signal);
    expect(await other.renewal(EXAMPLE, signal)).toBeUndefined();
    other.close();
    expect(orders.at(-1)).toEqual({ identifiers });
  });

  it('reports its names in CAA records', async () => {
    expect(await authority.caaIdentities(signal)).toEqual(['ca.test']);
  });
});
