// An identity provider on loopback, the certified implementation of the package oidc-provider. Tests choose who
// authenticates, and can change its ID tokens as an attacker or a faulty provider would.

import { createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer } from 'node:http';
import Provider from 'oidc-provider';
import { PUBLIC_URL } from '../api/api.ts';
import type { Browser } from '../api/people.ts';
import { freePort } from '../processes/free-port.ts';

type Claims = Record<string, unknown>;

/** Returns another ID token. `sign` signs with the provider's key, or another one. */
type ChangeToken = (
  claims: Claims,
  sign: (claims: Claims, header?: object, key?: KeyObject) => string,
) => string;

export interface IdentityProvider {
  readonly issuer: string;
  /** Claims of the person who authenticates next, at least `sub`. */
  person: Claims;
  changeToken: ChangeToken | undefined;
  /** Number of requests, by the last part of their path. */
  readonly asked: Map<string, number>;
  /** If set, every response has this status. */
  failure: number | undefined;
  stop(): Promise<void>;
}

export const CLIENT = { oidcClientId: 'zonefleet', oidcClientSecret: 'a-secret-of-both-and-of-nobody-else' };
const RETURN_TO = `${PUBLIC_URL}/console/oidc`;
const OFFERED = ['sub', 'email', 'email_verified', 'name', 'groups'];

/** `publicUrl` is that of the service, to which people return. */
export async function startIdentityProvider(
  at: { readonly publicUrl: string; readonly port: number } | undefined = undefined,
): Promise<IdentityProvider> {
  const { publicUrl, port } = at ?? { publicUrl: PUBLIC_URL, port: await freePort() };
  const issuer = `http://127.0.0.1:${port}`;
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const people = new Map<string, Claims>();
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.oidcClientId,
        client_secret: CLIENT.oidcClientSecret,
        redirect_uris: [`${publicUrl}/console/oidc`],
        post_logout_redirect_uris: [`${publicUrl}/console/`],
      },
    ],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid: 'one' }] },
    pkce: { required: () => true },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
    cookies: { keys: ['only for tests'] },
    findAccount: (_context: unknown, accountId: string) => ({
      accountId,
      claims: () => people.get(accountId) ?? { sub: accountId },
    }),
    features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: true } },
    interactions: { url: () => '/interaction' },
    ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600 },
  });
  const own: IdentityProvider = {
    issuer,
    person: { sub: 'nobody' },
    changeToken: undefined,
    asked: new Map(),
    failure: undefined,
    async stop() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
  provider.use(async (context, next) => {
    await next();
    const { id_token: token } = (context.body ?? {}) as { id_token?: string };
    if (own.changeToken === undefined || token === undefined) return;
    const claims = JSON.parse(Buffer.from(token.split('.')[1] as string, 'base64url').toString());
    const changed = own.changeToken(claims, (given, header, key = privateKey) => signed(given, header, key));
    context.body = { ...(context.body as object), id_token: changed };
  });
  const handle = provider.callback();
  const server = createServer(async (request, response) => {
    const path = new URL(request.url as string, issuer).pathname;
    const kind = path.split('/').at(-1) as string;
    own.asked.set(kind, (own.asked.get(kind) ?? 0) + 1);
    if (own.failure !== undefined) return response.writeHead(own.failure).end();
    if (path !== '/interaction') return handle(request, response);
    const { person } = own;
    const accountId = String(person.sub);
    people.set(
      accountId,
      Object.fromEntries(Object.entries(person).filter(([name]) => OFFERED.includes(name))),
    );
    const grant = new provider.Grant({ accountId, clientId: CLIENT.oidcClientId });
    grant.addOIDCScope('openid email profile');
    const result = { login: { accountId, remember: true }, consent: { grantId: await grant.save() } };
    await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  });
  await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening));
  return own;
}

function signed(claims: Claims, header: object = {}, key: KeyObject): string {
  const parts = [{ alg: 'RS256', kid: 'one', ...header }, claims].map((each) =>
    Buffer.from(JSON.stringify(each)).toString('base64url'),
  );
  const text = parts.join('.');
  return `${text}.${createSign('sha256').update(text).sign(key).toString('base64url')}`;
}

/** Opens a page of the provider as a browser does. Returns the parameters with which the provider returns. */
export async function authenticate(url: string): Promise<Record<string, string>> {
  const cookies = new Map<string, string>();
  for (let at = url, steps = 0; steps < 10; steps++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(at, { redirect: 'manual', headers: { cookie } });
    await response.arrayBuffer();
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get('location');
    if (location === null) throw new Error(`${at} responds ${response.status} without a redirect`);
    const next = new URL(location, at);
    if (next.href.startsWith(RETURN_TO)) return Object.fromEntries(next.searchParams);
    at = next.href;
  }
  throw new Error('too many redirects');
}

/** Begins in the browser, authenticates at the provider, and returns the parameters. */
export async function comeBack(browser: Browser, purpose?: string): Promise<Record<string, string>> {
  const begun = await browser.ask('POST', '/auth/oidc/begin', { ...(purpose !== undefined && { purpose }) });
  if (begun.status !== 200) throw new Error(JSON.stringify(begun.body));
  return await authenticate(begun.body.url);
}
