// Whatever a broken or malicious authority responds becomes a fault that an order can wait for or end with.

import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Authority, makePrivateKey } from '../../../src/features/certificates/client.ts';
import { judgeUrl } from '../../../src/features/certificates/client-answers.ts';

const signal = new AbortController().signal;
type Answer = (response: ServerResponse, at: (path: string) => string) => unknown;

let asked: string[];
let answers: Record<string, Answer>;
let authority: Authority;
const server = createServer((request, response) => {
  const { method, url = '', headers } = request;
  request.resume();
  asked.push(`${method} ${url}`);
  const at = (path: string) => `http://${headers.host}${path}`;
  const answer = answers[url];
  if (answer !== undefined) return void answer(response, at);
  const directory = { newNonce: at('/nonce'), newAccount: at('/account'), newOrder: at('/order') };
  say(response, url === '/dir' ? directory : {});
});
const address = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

function say(response: ServerResponse, body: unknown, status = 200, headers: Record<string, string> = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const type = typeof body === 'string' ? 'text/html' : 'application/json';
  response.writeHead(status, { 'content-type': type, 'replay-nonce': 'AAAA', ...headers }).end(text);
}

const saying =
  (body: unknown, status = 200, headers: Record<string, string> = {}): Answer =>
  (response) =>
    say(response, body, status, headers);

beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
beforeEach(() => {
  asked = [];
  answers = {};
  authority = new Authority({ directory: `${address()}/dir`, contact: 'ops@zonefleet.test', requestMs: 300 });
  return () => authority.close();
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const makeAccount = () => authority.use({ key: makePrivateKey(), url: undefined }, signal);
const knownAccount = () => authority.use({ key: makePrivateKey(), url: `${address()}/account/1` }, signal);

describe('an account', () => {
  it('that the authority rejects as malformed is not created, and its message is reported', async () => {
    const type = 'urn:ietf:params:acme:error:malformed';
    answers['/account'] = saying({ type, detail: 'contact has a wrong domain' }, 400);
    for (let i = 0; i < 2; i++)
      await expect(makeAccount()).rejects.toMatchObject({
        kind: 'refused',
        type: 'malformed',
        message: 'contact has a wrong domain',
      });
  });

  it('that already exists is used', async () => {
    answers['/account'] = (response, at) =>
      say(response, { status: 'valid' }, 200, { location: at('/account/7') });
    answers['/account/7'] = saying({ type: 'urn:ietf:params:acme:error:malformed' }, 400);
    expect(await makeAccount()).toBe(`${address()}/account/7`);
    expect(asked.filter((one) => one.startsWith('POST'))).toEqual(['POST /account']);
  });

  it.each([
    undefined,
    'account/7',
    'http://ca.test/account/7',
    'file:///etc/passwd',
  ])('with the URL %s is rejected', async (location) => {
    answers['/account'] = saying({}, 201, location === undefined ? {} : { location });
    await expect(makeAccount()).rejects.toMatchObject({ kind: 'busy' });
  });
});

describe('a directory', () => {
  it.each([
    '<html>be back soon</html>',
    '{}',
    '[]',
    'null',
    '',
  ])('that is invalid is requested again: %j', async (body) => {
    await knownAccount();
    answers['/dir'] = saying(body);
    await expect(authority.caaIdentities(signal)).rejects.toMatchObject({ kind: 'busy' });
    answers = {};
    expect(await authority.caaIdentities(signal)).toEqual([]);
  });

  it('with a redirect is not followed', async () => {
    await knownAccount();
    answers['/dir'] = (response, at) => say(response, '', 302, { location: at('/else') });
    await expect(authority.caaIdentities(signal)).rejects.toMatchObject({ kind: 'busy', status: 302 });
    expect(asked).not.toContain('GET /else');
  });

  it('may contain URLs of this machine only if it is on this machine', () => {
    for (const url of ['https://127.0.0.1:6379/', 'http://localhost/', 'https://[::1]/', 'http://0.0.0.0/']) {
      expect(judgeUrl(url, true)).toBeUndefined();
      expect(judgeUrl(url, false)).toMatch(/this machine/);
    }
    expect(judgeUrl('https://ca.test/order', false)).toBeUndefined();
    for (const url of [
      'http://ca.test/',
      'ftp://ca.test/',
      'file:///etc/passwd',
      'data:,x',
      'x',
      '',
      7,
      null,
    ])
      expect([url, judgeUrl(url, true)]).toEqual([url, expect.any(String)]);
  });
});

describe('an answer', () => {
  /** Replaced by the server's URL, whose port is unknown before it listens. */
  const AUTHZ = 'AUTHZ';
  const order = (more: object = {}) => ({
    status: 'pending',
    identifiers: [{ type: 'dns', value: 'shop.example' }],
    authorizations: [AUTHZ],
    ...more,
  });
  const challenge = (more: object = {}) => ({
    type: 'dns-01',
    url: '/challenge',
    token: 'a'.repeat(43),
    ...more,
  });
  const authorization = (more: object = {}) => ({
    status: 'pending',
    identifier: { type: 'dns', value: 'Shop.example' },
    challenges: [challenge()],
    ...more,
  });

  it.each([
    ['<html>', {}],
    ['[]', {}],
    ['no names', { identifiers: undefined }],
    ['names of another kind', { identifiers: [7, null] }],
    ['a thousand names', { identifiers: Array(1000).fill({ type: 'dns', value: 'a.example' }) }],
    ['no status', { status: 'maybe' }],
  ])('instead of an order is a fault: %s', async (what, more) => {
    await knownAccount();
    const body = /^[<[]/.test(what) ? what : order(more);
    answers['/order'] = saying(body, 201, { location: `${address()}/order/1` });
    answers['/order/1'] = saying(body);
    await expect(authority.order(['shop.example'], undefined, signal)).rejects.toMatchObject({
      kind: 'busy',
    });
    await expect(authority.look(`${address()}/order/1`, signal)).rejects.toMatchObject({ kind: 'busy' });
  });

  it.each([
    ['no authorizations', order({ authorizations: undefined }), authorization()],
    ['a million', order({ authorizations: Array(2000).fill('https://a.test/') }), authorization()],
    ['without an identifier', order(), {}],
    ['without challenges', order(), authorization({ challenges: 'none' })],
    ['no name', order(), authorization({ identifier: undefined })],
    ['a token with a path', order(), authorization({ challenges: [challenge({ token: '../../x' })] })],
    ['a short token', order(), authorization({ challenges: [challenge({ token: 'abc' })] })],
    ['no URL', order(), authorization({ challenges: [challenge({ url: undefined })] })],
    ['no such challenge', order(), authorization({ challenges: [] })],
  ])('about an authorization is a fault: %s', async (_what, ordered, authorized) => {
    await knownAccount();
    answers['/order/1'] = saying(JSON.parse(JSON.stringify(ordered).replace(AUTHZ, `${address()}/authz`)));
    answers['/authz'] = saying(authorized);
    const asking = authority.challenges(`${address()}/order/1`, 'dns-01', signal);
    await expect(asking).rejects.toMatchObject({ name: 'CaFault' });
  });

  it('with a valid authorization is accepted', async () => {
    await knownAccount();
    answers['/order/1'] = saying(order({ authorizations: [`${address()}/authz`] }));
    answers['/authz'] = saying(authorization());
    const found = await authority.challenges(`${address()}/order/1`, 'dns-01', signal);
    expect(found).toMatchObject([{ host: 'shop.example', value: expect.stringMatching(/^[\w-]{43}$/) }]);
  });

  it('instead of a certificate is a fault', async () => {
    await knownAccount();
    answers['/order/1'] = saying(order({ status: 'valid', certificate: `${address()}/certificate` }));
    answers['/certificate'] = saying({ certificate: 'here' });
    await expect(authority.certificate(`${address()}/order/1`, signal)).rejects.toMatchObject({
      kind: 'busy',
    });
  });

  it.each([
    'without end',
    'that never comes',
    'that is cut off',
    'by drops',
  ])('%s is a fault', async (how) => {
    await knownAccount();
    answers['/dir'] = (response) => {
      if (how === 'that never comes') return;
      if (how === 'that is cut off') return void response.socket?.destroy();
      response.writeHead(200, { 'content-type': 'application/json' });
      if (how === 'by drops') {
        const timer = setInterval(() => response.write(' '), 20);
        return void response.on('close', () => clearInterval(timer));
      }
      const pour = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      };
      response.on('drain', pour);
      pour();
    };
    await expect(authority.caaIdentities(signal)).rejects.toMatchObject({ kind: 'busy' });
  });

  it('that never accepts a nonce ends the call after several attempts', async () => {
    await knownAccount();
    const type = 'urn:ietf:params:acme:error:badNonce';
    answers['/order/1'] = saying({ type, detail: 'no' }, 400);
    await expect(authority.look(`${address()}/order/1`, signal)).rejects.toMatchObject({ kind: 'busy' });
    expect(asked.filter((one) => one === 'POST /order/1').length).toBeLessThan(200);
  });
});
