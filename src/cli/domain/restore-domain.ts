// `domain restore`: restores a deleted domain. If several deleted domains have the name, none is restored until the operator
// names one.

import type { Name } from '../../dns/name.ts';
import { listAccounts } from '../../store/accounts/accounts.ts';
import type { ChangedBy } from '../../store/accounts/actor.ts';
import { restoreDomain as saveRestored } from '../../store/change/restore-domain.ts';
import { type Domain, RESTORABLE_DAYS } from '../../store/domains/domain.ts';
import { findDomain, findRestorable } from '../../store/domains/load-domains.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { DomainOutcome } from '../terminal/work-on-domains.ts';
import { done } from './move-domain.ts';

/** Id of the domain, if several have the name. */
interface RestoreChoice {
  readonly accountId?: number;
  readonly id?: number;
}

export async function restoreDomain(
  db: Database,
  name: Name,
  choice: RestoreChoice,
  by: ChangedBy,
): Promise<DomainOutcome> {
  const restorable = await findRestorable(db, name);
  if (restorable.length === 0) return await explainAbsence(db, name);
  const { accountId, id } = choice;
  const meant = restorable.filter(
    (domain) =>
      (accountId === undefined || domain.accountId === accountId) && (id === undefined || domain.id === id),
  );
  const [domain] = meant;
  if (domain === undefined) {
    return await refuse(db, 'absent', 'no deleted domain with this name matches', restorable);
  }
  if (meant.length > 1) {
    const owners = new Set(meant.map((one) => one.accountId)).size;
    const how = owners === 1 ? '--id' : owners < meant.length ? '--account and --id' : '--account or --id';
    return await refuse(
      db,
      'ambiguous',
      `${meant.length} deleted domains have this name: choose one with ${how}`,
      meant,
    );
  }
  const came = await saveRestored(db, { ...by, domainId: domain.id, exempt: true });
  if (came.kind === 'restored') return done(came.domain, came.changeId);
  return { kind: 'refused', code: came.kind, message: came.message };
}

async function explainAbsence(db: Database, name: Name): Promise<DomainOutcome> {
  const refused = (code: string, message: string): DomainOutcome => ({ kind: 'refused', code, message });
  if ((await findDomain(db, name)) !== undefined) return refused('not_deleted', 'the domain is not deleted');
  return (await findDomain(db, name, { deleted: true })) === undefined
    ? refused('absent', 'no such domain')
    : refused('absent', `the domain was deleted more than ${RESTORABLE_DAYS} days ago`);
}

/** Refuses and lists the candidates. */
async function refuse(
  db: Database,
  code: string,
  message: string,
  domains: readonly Domain[],
): Promise<DomainOutcome> {
  const emails = new Map((await listAccounts(db)).map(({ id, email }) => [id, email]));
  const deleted = domains.map(({ id, accountId, deletedAt, recordCount }) => ({
    id,
    account: { id: accountId, email: emails.get(accountId) ?? String(accountId) },
    records: recordCount,
    deleted_at: (deletedAt as Date).toISOString(),
  }));
  const lines = deleted.map(
    ({ id, account, records, deleted_at }) =>
      `  id ${id} of ${account.email}, ${records} ${records === 1 ? 'record' : 'records'}, deleted ${deleted_at.replace(/\.\d+Z$/, 'Z')}`,
  );
  return { kind: 'refused', code, message, lines, members: { deleted } };
}
