// The accounts that share a domain, with their roles. The owner has no row here.

import type { Database } from '../../../src/store/postgres/database.ts';
import type { Role } from '../../../src/store/postgres/tables/schema.ts';

type GrantedRole = Exclude<Role, 'owner'>;

export async function saveMembership(
  db: Database,
  domainId: number,
  accountId: number,
  role: GrantedRole,
): Promise<void> {
  await db
    .insertInto('memberships')
    .values({ domain_id: domainId, account_id: accountId, role })
    .onConflict((conflict) => conflict.columns(['domain_id', 'account_id']).doUpdateSet({ role }))
    .execute();
}

export async function deleteMembership(db: Database, domainId: number, accountId: number): Promise<void> {
  await db
    .deleteFrom('memberships')
    .where('domain_id', '=', domainId)
    .where('account_id', '=', accountId)
    .execute();
}
