// Saves an operator's changes of an account, all or nothing. The last global admin cannot be removed, because then only
// the command line could create another.

import { sql } from 'kysely';
import {
  type Account,
  loadAccount,
  lockAccounts,
  lockForProvider,
  setProvider,
  setReseller,
  updateAccount,
} from '../accounts/accounts.ts';
import { unknownPlan } from '../accounts/plans.ts';
import type { Database } from '../postgres/database.ts';
import { inTransaction, rollBackTo } from '../postgres/transaction.ts';
import { dropLinks, setEmail, setName } from './credentials.ts';

export interface WantedAccount {
  readonly name?: string | null | undefined;
  readonly email?: string | undefined;
  readonly isAdmin?: boolean | undefined;
  readonly active?: boolean | undefined;
  /** The plan of new domains; null for none. */
  readonly planSlug?: string | null | undefined;
  readonly isReseller?: boolean | undefined;
  /** Null if the account has no reseller. */
  readonly providerId?: number | null | undefined;
}

export type ChangedAccount =
  | { readonly kind: 'changed'; readonly before: Account; readonly account: Account }
  | {
      readonly kind: 'refused';
      /** The invalid field of `WantedAccount`. */
      readonly field: keyof WantedAccount;
      readonly code: 'taken' | 'last_admin' | 'unknown_plan' | 'relation';
      readonly message: string;
    }
  | { readonly kind: 'absent' };

const ADMIN_LOCK = 0x61646d69; // 'admi'

export async function changeAccount(
  db: Database,
  id: number,
  wanted: WantedAccount,
): Promise<ChangedAccount> {
  return await inTransaction<ChangedAccount>(db, async (trx) => {
    const { name, email, isAdmin, active, planSlug, isReseller, providerId } = wanted;
    // Locks everything before the first write. The functions below would lock separately, in another order.
    if (providerId !== undefined) await lockForProvider(trx, id, providerId);
    else await lockAccounts(trx, [id]);
    // After the account, which a sign-in has already locked if the provider decides about operators.
    if (isAdmin === false || active === false)
      await sql`select pg_advisory_xact_lock(${ADMIN_LOCK})`.execute(trx);
    const before = await loadAccount(trx, id);
    if (before === undefined) return { kind: 'absent' };
    const loses = isAdmin === false ? 'isAdmin' : active === false ? 'active' : undefined;
    if (loses !== undefined && before.isAdmin && before.active && !(await hasOtherAdmin(trx, id)))
      return refusal(loses, 'last_admin', 'this is the last global admin: create another one first');
    if (name !== undefined) await setName(trx, id, name);
    if (email !== undefined && email !== before.email) {
      if (!(await setEmail(trx, id, email)))
        rollBackTo(refusal('email', 'taken', 'another account has this email'));
      // Links that were mailed to the old address become invalid.
      await dropLinks(trx, id);
    }
    const updated = await updateAccount(trx, id, {
      ...(isAdmin !== undefined && { isAdmin }),
      ...(active !== undefined && { active }),
      ...(planSlug !== undefined && { planSlug }),
    });
    if (updated === 'unknown_plan') rollBackTo(refusal('planSlug', 'unknown_plan', unknownPlan(planSlug)));
    // A client that becomes a reseller leaves its provider first, and vice versa.
    const relate = [
      async () => providerId !== undefined && (await setProvider(trx, id, providerId)),
      async () => isReseller !== undefined && (await setReseller(trx, id, isReseller)),
    ];
    for (const each of providerId === null ? relate : relate.toReversed()) {
      const came = await each();
      if (came === false || came.kind === 'updated') continue;
      const isOfReseller = came.code === 'has_clients' || (isReseller === true && providerId == null);
      rollBackTo(refusal(isOfReseller ? 'isReseller' : 'providerId', 'relation', came.message));
    }
    return { kind: 'changed', before, account: (await loadAccount(trx, id)) as Account };
  });
}

async function hasOtherAdmin(trx: Database, id: number): Promise<boolean> {
  const other = await trx
    .selectFrom('accounts')
    .select('id')
    .where('is_admin', '=', true)
    .where('active', '=', true)
    .where('id', '<>', id)
    .limit(1)
    .executeTakeFirst();
  return other !== undefined;
}

function refusal(
  field: keyof WantedAccount,
  code: Extract<ChangedAccount, { kind: 'refused' }>['code'],
  message: string,
): ChangedAccount {
  return { kind: 'refused', field, code, message };
}
