// Transfers over TLS from a primary whose certificate, pin or protocol may be wrong.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import tls, { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { RCODE } from '../../../src/dns/message/rcodes.ts';
import { parseName } from '../../../src/dns/name.ts';
import { CLASS } from '../../../src/dns/type-codes.ts';
import type { PrimaryTls } from '../../../src/resolver/transfer/connect-tls.ts';
import type { Primary, PrimaryOptions } from '../../../src/resolver/transfer/primary.ts';
import { querySoa } from '../../../src/resolver/transfer/query-soa.ts';
import { type TransferOrder, transferZone } from '../../../src/resolver/transfer/transfer-zone.ts';
import { encodeMessage } from '../../support/answer/encode-message.ts';
import { framed } from '../../support/answer/sockets.ts';
import { type Issued, makeCertificate } from '../../support/certificates/make-certificate.ts';
import { holdTimers } from '../../support/tests/hold-timers.ts';
import { until } from '../../support/tests/until.ts';
import { misbehave, type Seen } from '../../support/world/misbehaving-server.ts';
import { replyTo } from '../../support/world/world-server.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const APEX = parseName('example.');
const OPTIONS: PrimaryOptions = { signal: new AbortController().signal, allowed: 'any' };
const AXFR: TransferOrder = { apex: APEX, form: 'axfr', serial: undefined, maxRecords: 1000 };
const NAME = 'ns.second.example';
const SOA = recordsOf('@ SOA ns host 7 2 3 4 5', 'example.');
const NS = recordsOf('@ NS ns\nns A 192.0.2.1', 'example.');
/** `openssl x509 -pubkey | openssl pkey -pubin -outform der | openssl dgst -sha256`, in binary. */
const pinOf = ({ certificate }: Issued) =>
  createHash('sha256').update(Buffer.from(certificate.publicKey.rawData)).digest();

let authority: Issued;
let known: Issued;
let unknown: Issued;
let expired: Issued;
let unnamed: Issued;
let manyNamed: Issued;
beforeAll(async () => {
  authority = await makeCertificate({ name: 'Test Root', isAuthority: true });
  // NODE_EXTRA_CA_CERTS is read only when a process starts.
  const { createSecureContext } = tls;
  const trusting = vi
    .spyOn(tls, 'createSecureContext')
    .mockImplementation((options) => createSecureContext({ ...options, ca: authority.pem }));
  known = await makeCertificate({ names: [NAME], issuer: authority });
  unknown = await makeCertificate({ names: [NAME] });
  const notBefore = new Date(Date.now() - 2_000_000);
  expired = await makeCertificate({
    ...{ names: [NAME], issuer: authority, notBefore },
    notAfter: new Date(Date.now() - 1_000_000),
  });
  unnamed = await makeCertificate({ name: NAME, issuer: authority });
  const names = Array.from({ length: 50 }, (_, i) => `n${i}.example`);
  manyNamed = await makeCertificate({ names, issuer: authority });
  return () => trusting.mockRestore();
});

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  closers.push(() => server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function answer({ query }: Seen, refused: boolean): Uint8Array {
  const records = query.questions[0]?.type === 6 ? SOA : [...SOA, ...NS, ...SOA];
  const answers = refused ? [] : records.map((record) => ({ ...record, class: CLASS.IN }));
  const rcode = refused ? RCODE.REFUSED : RCODE.NOERROR;
  return encodeMessage(replyTo({ ...query, additionals: [] }, { aa: true, answers, rcode }));
}

/** Starts a primary that answers over TCP and TLS. `seen` lists over what it received queries. */
async function primaryWith(issued: Issued, options: TlsOptions = {}, { refusesTls = false } = {}) {
  const seen: string[] = [];
  const inner = async (over: string, refused: boolean) => {
    const { port, close } = await misbehave({
      tcp(query, socket) {
        seen.push(over);
        socket.write(framed(answer(query, refused)));
      },
    });
    closers.push(close);
    return port;
  };
  const [tcpPort, tlsPort] = [await inner('tcp', false), await inner('tls', refusesTls)];
  const port = await listen(
    createTlsServer({ cert: issued.pem, key: issued.key, ...options }, (socket) => {
      socket.on('error', () => {});
      socket.pipe(connect(tlsPort)).pipe(socket);
    }).on('tlsClientError', () => {}),
  );
  const at = (tls: Partial<PrimaryTls>): Primary => ({
    ...{ address: '127.0.0.1', port: tcpPort, key: undefined },
    tls: { isStrict: true, port, name: undefined, pins: [], ...tls },
  });
  return { at, seen };
}

const summaryOf = (result: Awaited<ReturnType<typeof transferZone>>) =>
  result.kind === 'failed'
    ? `${result.code} ${result.message.replace(/^127\.0\.0\.1:\d+ /, '')}`
    : result.kind;

describe('with strict TLS, a primary', () => {
  const dot = { ALPNProtocols: ['dot'] };
  const pins = (...issued: Issued[]) => issued.map(pinOf);
  test.each<[string, () => [Issued, TlsOptions, Partial<PrimaryTls>], string | RegExp]>([
    ['that has the pin is accepted', () => [unknown, dot, { pins: pins(known, unknown) }], 'zone'],
    ['that has the name is accepted', () => [known, dot, { name: NAME }], 'zone'],
    ['that has both is accepted', () => [known, dot, { name: NAME, pins: pins(known) }], 'zone'],
    ['that selects no ALPN protocol is accepted', () => [known, {}, { name: NAME }], 'zone'],
    [
      'that has another pin is refused',
      () => [known, dot, { pins: pins(unknown) }],
      /^PRIMARY_TLS has a key with another pin: [\w+/]{43}=$/,
    ],
    [
      'that has the name but another pin is refused',
      () => [known, dot, { name: NAME, pins: pins(unknown) }],
      /^PRIMARY_TLS has a key with another pin/,
    ],
    [
      'that has the pin but another name is refused',
      () => [known, dot, { name: 'other.example', pins: pins(known) }],
      `PRIMARY_TLS failed the TLS handshake: Host: other.example. is not in the cert's altnames: DNS:${NAME}`,
    ],
    [
      'that has the name only in its subject is refused',
      () => [unnamed, dot, { name: NAME }],
      'PRIMARY_TLS failed the TLS handshake: Cert does not contain a DNS name',
    ],
    [
      'that has many other names is refused with a short message',
      () => [manyNamed, dot, { name: NAME }],
      /^PRIMARY_TLS failed the TLS handshake: Host: .{294}$/,
    ],
    [
      'of an unknown authority is refused',
      () => [unknown, dot, { name: NAME }],
      /^PRIMARY_TLS failed the TLS handshake: self-signed certificate/, // Node 24 adds a hint
    ],
    [
      'with an expired certificate is refused',
      () => [expired, dot, { name: NAME }],
      'PRIMARY_TLS failed the TLS handshake: certificate has expired',
    ],
    [
      'that sends the certificate with the pin after its own is refused',
      () => [{ ...unknown, pem: unknown.pem + authority.pem }, dot, { pins: pins(authority) }],
      /^PRIMARY_TLS has a key with another pin/,
    ],
    [
      'with TLS 1.2 is refused',
      () => [known, { ...dot, maxVersion: 'TLSv1.2' }, { name: NAME }],
      /^PRIMARY_TLS failed the TLS handshake: .*protocol version/,
    ],
    [
      'with another ALPN protocol is refused',
      () => [known, { ALPNProtocols: ['h2'] }, { name: NAME }],
      /^PRIMARY_TLS failed the TLS handshake: .*no application protocol/,
    ],
    [
      'without name and pin is not queried',
      () => [known, dot, {}],
      'PRIMARY_TLS is not queried: TLS is strict, but there is no name and no pin',
    ],
  ])('%s', async (_, made, expected) => {
    const [issued, options, tls] = made();
    const { at, seen } = await primaryWith(issued, options);
    const results = [await transferZone(at(tls), AXFR, OPTIONS), await querySoa(at(tls), APEX, OPTIONS)];
    const [transfer, soa] = results.map((result) => summaryOf(result as never));
    const matching = typeof expected === 'string' ? expected : expect.stringMatching(expected);
    expect([transfer, soa]).toEqual([matching, expected === 'zone' ? 'soa' : matching]);
    expect(seen).toEqual(expected === 'zone' ? ['tls', 'tls'] : []);
  });

  test('that does not answer the handshake fails after 10 seconds', async () => {
    const timers = holdTimers(10_000);
    closers.push(() => timers.release());
    let hello = 0;
    const port = await listen(
      createServer((socket) => {
        socket.on('data', ({ length }) => {
          hello += length;
        });
        socket.on('error', () => {});
      }),
    );
    const { at } = await primaryWith(known);
    const result = transferZone(at({ port, name: NAME }), AXFR, OPTIONS);
    await until(() => hello > 0, 'the handshake has begun');
    timers.fire();
    expect(summaryOf(await result)).toBe('PRIMARY_TLS completed no TLS handshake in 10 s');
  });

  test('that does not listen is silent', async () => {
    const { at } = await primaryWith(known);
    expect(summaryOf(await transferZone(at({ port: 1, name: NAME }), AXFR, OPTIONS))).toMatch(
      /^PRIMARY_SILENT/,
    );
  });
});

describe('with opportunistic TLS, a transfer', () => {
  const over = async (tls: Partial<PrimaryTls>, ...primary: Parameters<typeof primaryWith>) => {
    const { at, seen } = await primaryWith(...primary);
    const result = await transferZone(at({ isStrict: false, ...tls }), AXFR, OPTIONS);
    return [summaryOf(result), ...seen].join(' ');
  };

  test('uses TLS without verification', async () => {
    expect(await over({}, expired)).toBe('zone tls');
  });

  test('falls back to TCP', async () => {
    expect(await over({ port: 1 }, known)).toBe('zone tcp');
    expect(await over({}, known, { maxVersion: 'TLSv1.2' })).toBe('zone tcp');
    expect(await over({}, known, {}, { refusesTls: true })).toBe('zone tls tcp');
  });
});
