// Creates a domain, and has it signed in the same transaction where that is wanted: both are done, or nothing is.

import { type CreatedDomain, createDomain, type NewDomain } from '../change/save-domain.ts';
import type { Domain } from '../domains/domain.ts';
import { loadDomainById } from '../domains/load-domains.ts';
import type { Database } from '../postgres/database.ts';
import { inTransaction, rollBackTo } from '../postgres/transaction.ts';
import { type ChangedGoal, enableDnssec } from './change-goal.ts';
import type { SigningWishes } from './signing-wishes.ts';

export type CreatedSigned = CreatedDomain | Extract<ChangedGoal, { kind: 'refused' }>;

/** `signing` undefined: it is not signed. */
export async function createDomainSigned(
  db: Database,
  wanted: NewDomain,
  signing: SigningWishes | undefined,
): Promise<CreatedSigned> {
  if (signing === undefined) return await createDomain(db, wanted);
  return await inTransaction<CreatedSigned>(db, async (trx) => {
    const created = await createDomain(trx, wanted);
    if (created.kind !== 'created') return created;
    const { by, source } = wanted;
    const { domain } = created;
    const enabled = await enableDnssec(trx, { ...signing, domainId: domain.id, by, source });
    if (enabled.kind === 'refused') rollBackTo(enabled);
    if (enabled.kind === 'absent') throw new Error(`the new domain ${domain.id} is not there`);
    return { ...created, domain: (await loadDomainById(trx, domain.id)) as Domain };
  });
}
