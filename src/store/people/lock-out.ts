// Removes every way in to an account that a hijacker may know or have added. The domains are still served.

import { sql } from 'kysely';
import { type Account, loadAccount, updateAccount } from '../accounts/accounts.ts';
import { type ApiKey, listOwnKeys, revokeOwnKey } from '../accounts/api-keys.ts';
import { endInvitesOf } from '../accounts/end-sharing.ts';
import { listTokens, type ResellerToken, revokeToken } from '../accounts/reseller-tokens.ts';
import type { Database } from '../postgres/database.ts';
import { dropLinks } from './credentials.ts';
import { type Identity, unlinkIdentities } from './identities.ts';
import { endSessions } from './sessions.ts';
import { deleteTotp } from './totp.ts';

interface LockedOut {
  readonly account: Account;
  /** Number of sessions that were ended. */
  readonly sessions: number;
  readonly identities: readonly Identity[];
  /** Keys that were valid. */
  readonly keys: readonly ApiKey[];
  /** Machine tokens that were valid. */
  readonly tokens: readonly ResellerToken[];
}

/**
 * Deactivates an account and ends its sessions, invites, keys, tokens, links and known browsers. Its password, second step
 * and identities are deleted, because the hijacker may have set them. Accounts are never deleted, so it exists.
 */
export async function lockOut(trx: Database, accountId: number): Promise<LockedOut> {
  const dropLinksAndTotp = async () => {
    await dropLinks(trx, accountId);
    await deleteTotp(trx, accountId);
  };
  await dropLinksAndTotp(); // first, because sign-ins lock these rows before the account
  // Waits for transactions that have added rows for the account. Later ones find it inactive.
  await sql`select from accounts where id = ${accountId} for update`.execute(trx);
  await dropLinksAndTotp(); // again, for rows that were added meanwhile
  const identities = await unlinkIdentities(trx, accountId);
  const sessions = await endSessions(trx, accountId);
  await updateAccount(trx, accountId, { active: false });
  await endInvitesOf(trx, accountId);
  await sql`delete from account_devices where account_id = ${accountId}`.execute(trx);
  await sql`update accounts set password_hash = null, password_set_at = null where id = ${accountId}`.execute(
    trx,
  );
  const keys: ApiKey[] = [];
  for (const { id } of await listOwnKeys(trx, accountId)) {
    const revoked = await revokeOwnKey(trx, accountId, id);
    if (revoked !== undefined) keys.push(revoked);
  }
  const tokens: ResellerToken[] = [];
  for (const { id } of await listTokens(trx, accountId)) {
    const revoked = await revokeToken(trx, accountId, id);
    if (revoked !== undefined) tokens.push(revoked);
  }
  return { account: (await loadAccount(trx, accountId)) as Account, identities, sessions, keys, tokens };
}
