// The role that an account has in a domain, in SQL: its owner's, that of the reseller which manages the owner, or the one that
// was granted to it. Global admins are owners besides, whatever this says.

import { type RawBuilder, sql } from 'kysely';

/** Whether the account that has the domain is a client of this one. `domain`: the domain's table. */
export function isClients(domain: RawBuilder<unknown>, accountId: number): RawBuilder<unknown> {
  return sql`exists (select from accounts client where client.id = ${domain}.account_id and client.provider_id = ${accountId})`;
}

/** Null: none. `isReseller` false saves a look at the owner's account. */
export function roleIn(
  domain: RawBuilder<unknown>,
  { accountId, isReseller = false }: { readonly accountId: number; readonly isReseller?: boolean },
): RawBuilder<unknown> {
  const managed = isReseller ? sql`when ${isClients(domain, accountId)} then 'admin'` : sql``;
  return sql`case when ${domain}.account_id = ${accountId} then 'owner' ${managed} else (
    select granted.role from memberships granted
    where granted.domain_id = ${domain}.id and granted.account_id = ${accountId}) end`;
}
