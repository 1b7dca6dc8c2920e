// Everybody who may stand before the surface of resellers, and what each gets there: a letter for each caller as in `table.ts`,
// written from docs/rules.md "Resellers".
//
//   0000 sl i ... o
//   |    |  | |   another reseller, with a domain, a client or a token that is not its own
//   |    |  | the reseller: its session, its machine token, its session with a password given long ago
//   |    |  the token of a reseller that is deactivated
//   |    an API key of the reseller; the session of an account that is none
//   no credential, its session in a cookie, a token that is expired, one that is revoked

import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { openSession } from '../../../src/store/people/sessions.ts';
import { mintToken, revokeToken } from '../../../src/store/resellers/tokens.ts';
import type { TestApi } from '../api/api.ts';
import { newAccount } from '../database/domains.ts';
import { LETTERS } from './table.ts';

export const RESELLER_CALLERS = [
  'none',
  'cookie',
  'expired token',
  'revoked token',
  'API key',
  'no reseller',
  'inactive',
  'session',
  'token',
  'session, password long ago',
  'another reseller',
] as const;
export type ResellerCaller = (typeof RESELLER_CALLERS)[number];

export const RESELLER_LETTERS: typeof LETTERS = {
  ...LETTERS,
  l: { status: 403, error: /^this account is no reseller$/ },
  t: { status: 403, error: /^this call needs a session$/ },
  o: { status: 403, error: /^this is none of your clients, and of none of them$/ },
};

export interface Reseller {
  readonly id: number;
  readonly token: string;
  session(): Promise<string>;
}

export async function bearerSession(api: TestApi, accountId: number): Promise<string> {
  const { db } = api.database;
  return await openSession(db, { accountId, carrier: 'bearer', address: '192.0.2.1', userAgent: 'walk' });
}

export async function mintedToken(
  api: TestApi,
  accountId: number,
  expiresAt: Date | null = null,
): Promise<{ readonly id: number; readonly text: string }> {
  const minted = await mintToken(api.database.db, { accountId, name: 'walk', expiresAt }, 1000);
  if (minted === undefined) throw new Error('no room for a token');
  return { id: minted.token.id, text: minted.text };
}

export async function makeReseller(api: TestApi, email: string): Promise<Reseller> {
  const id = await newAccount(api.database.db, email);
  await sql`update accounts set is_reseller = true where id = ${id}`.execute(api.database.db);
  const { text: token } = await mintedToken(api, id);
  return { id, token, session: () => bearerSession(api, id) };
}

/** Whoever is managed by this reseller. */
export async function makeClient(
  api: TestApi,
  reseller: Pick<Reseller, 'id'>,
  email: string,
): Promise<number> {
  const id = await newAccount(api.database.db, email);
  await sql`update accounts set provider_id = ${reseller.id} where id = ${id}`.execute(api.database.db);
  return id;
}

/** How each shows who it is; the reseller is the account `stranger`, which has the clients of the walk. */
export async function prepareResellers(
  api: TestApi,
): Promise<(caller: ResellerCaller) => Promise<Record<string, string>>> {
  const { db } = api.database;
  const { stranger } = api.accountIds;
  await sql`update accounts set is_reseller = true where id = ${stranger}`.execute(db);
  const bearer = (text: string) => ({ authorization: `Bearer ${text}` });
  const expired = await mintedToken(api, stranger, new Date(Date.now() - 1000));
  const revoked = await mintedToken(api, stranger);
  await revokeToken(db, stranger, revoked.id);
  const token = await mintedToken(api, stranger);
  const other = await makeReseller(api, 'other-reseller@walk.test');
  const inactive = await makeReseller(api, 'inactive-reseller@walk.test');
  await sql`update accounts set active = false where id = ${inactive.id}`.execute(db);
  const cookie = await openSession(db, {
    accountId: stranger,
    carrier: 'cookie',
    address: '192.0.2.1',
    userAgent: 'walk',
  });
  return async (caller) => {
    switch (caller) {
      case 'none':
        return {};
      case 'cookie':
        return { cookie: `__Host-session=${cookie}`, origin: 'https://dns.zonefleet.test' };
      case 'expired token':
        return bearer(expired.text);
      case 'revoked token':
        return bearer(revoked.text);
      case 'API key':
        return bearer(api.keys.stranger);
      case 'no reseller':
        return bearer(await bearerSession(api, api.accountIds.owner));
      case 'inactive':
        return bearer(inactive.token);
      case 'session':
        return bearer(await bearerSession(api, stranger));
      case 'token':
        return bearer(token.text);
      case 'another reseller':
        return bearer(await other.session());
      case 'session, password long ago': {
        const old = await bearerSession(api, stranger);
        const hash = createHash('sha256').update(old).digest();
        await sql`update sessions set password_at = now() - interval '16 minutes' where hash = ${hash}`.execute(
          db,
        );
        return bearer(old);
      }
    }
  };
}
