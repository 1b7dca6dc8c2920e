import { createHash } from 'node:crypto';
import { mintToken, revokeToken } from '../../../src/store/accounts/reseller-tokens.ts';
import { openSession } from '../../../src/store/people/sessions.ts';
import type { TestApi } from '../api/api.ts';
import { newAccount } from '../database/domains.ts';
import type { ResellerCaller } from './caller-names.ts';

export interface Reseller {
  readonly id: number;
  readonly token: string;
  session(): Promise<string>;
}

export async function bearerSession(api: TestApi, accountId: number): Promise<string> {
  const { db } = api.database;
  return await openSession(db, { accountId, carrier: 'bearer', address: '192.0.2.1', userAgent: 'walk' });
}

/** Makes a session's password too old for sensitive calls. */
export async function agePassword(api: TestApi, token: string): Promise<void> {
  const hash = createHash('sha256').update(token).digest();
  await api.query`update sessions set password_at = now() - interval '16 minutes' where hash = ${hash}`;
}

export async function mintedToken(
  api: TestApi,
  accountId: number,
  expiresAt: Date | null = null,
): Promise<{ readonly id: number; readonly text: string }> {
  const minted = await mintToken(api.db, { accountId, name: 'walk', expiresAt }, 1000);
  if (minted === undefined) throw new Error('the token limit is reached');
  return { id: minted.token.id, text: minted.text };
}

export async function makeReseller(api: TestApi, email: string): Promise<Reseller> {
  const id = await newAccount(api.db, email);
  await api.query`update accounts set is_reseller = true where id = ${id}`;
  const { text: token } = await mintedToken(api, id);
  return { id, token, session: () => bearerSession(api, id) };
}

export async function makeClient(
  api: TestApi,
  reseller: Pick<Reseller, 'id'>,
  email: string,
): Promise<number> {
  const id = await newAccount(api.db, email);
  await api.query`update accounts set provider_id = ${reseller.id} where id = ${id}`;
  return id;
}

/** Returns the headers of each caller. The reseller is the account `stranger`, which manages the clients of the walk. */
export async function prepareResellers(
  api: TestApi,
): Promise<(caller: ResellerCaller) => Promise<Record<string, string>>> {
  const { db } = api.database;
  const { stranger } = api.accountIds;
  await api.query`update accounts set is_reseller = true where id = ${stranger}`;
  const bearer = (text: string) => ({ authorization: `Bearer ${text}` });
  const expired = await mintedToken(api, stranger, new Date(Date.now() - 1000));
  const revoked = await mintedToken(api, stranger);
  await revokeToken(db, stranger, revoked.id);
  const token = await mintedToken(api, stranger);
  const other = await makeReseller(api, 'other-reseller@walk.test');
  const inactive = await makeReseller(api, 'inactive-reseller@walk.test');
  await api.query`update accounts set active = false where id = ${inactive.id}`;
  const client = { address: '192.0.2.1', userAgent: 'walk' };
  const cookie = await openSession(db, { accountId: stranger, carrier: 'cookie', ...client });
  return async (caller) => {
    switch (caller) {
      case 'no credential':
        return {};
      case 'session in a cookie':
        return { cookie: `__Host-session=${cookie}`, origin: 'https://dns.zonefleet.test' };
      case 'expired token':
        return bearer(expired.text);
      case 'revoked token':
        return bearer(revoked.text);
      case 'API key':
        return bearer(api.keys.stranger);
      case 'session of another account':
        return bearer(await bearerSession(api, api.accountIds.owner));
      case 'inactive reseller':
        return bearer(inactive.token);
      case 'session':
        return bearer(await bearerSession(api, stranger));
      case 'token':
        return bearer(token.text);
      case 'another reseller':
        return bearer(await other.session());
      case 'session with an old password': {
        const old = await bearerSession(api, stranger);
        await agePassword(api, old);
        return bearer(old);
      }
    }
  };
}
