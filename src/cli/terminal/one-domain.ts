// Finds the domain of a command. If several accounts have a domain with this name, the command is refused and lists them.

import type { Name } from '../../dns/name.ts';
import { loadAccount } from '../../store/accounts/accounts.ts';
import type { Domain } from '../../store/domains/domain.ts';
import { findDomains } from '../../store/domains/load-domains.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { DomainOutcome } from './work-on-domains.ts';

type Refused = Extract<DomainOutcome, { kind: 'refused' }>;

/** The owner from `--account`; without `accountId`, the option was not given. */
export interface Owner {
  readonly accountId?: number;
}

export async function findOneDomain(
  db: Database,
  name: Name,
  { accountId }: Owner,
): Promise<{ readonly kind: 'found'; readonly domain: Domain } | Refused> {
  const domains = await findDomains(db, name);
  const meant = domains.filter((domain) => accountId === undefined || domain.accountId === accountId);
  const [domain] = meant;
  if (domain !== undefined && meant.length === 1) return { kind: 'found', domain };
  if (domains.length === 0) return { kind: 'refused', code: 'absent', message: 'no such domain' };
  return domain === undefined
    ? await refuse(db, 'absent', 'this account has no such domain; these accounts have it', domains)
    : await refuse(
        db,
        'ambiguous',
        `${meant.length} accounts have this domain: choose one with --account`,
        meant,
      );
}

async function refuse(
  db: Database,
  code: string,
  message: string,
  domains: readonly Domain[],
): Promise<Refused> {
  const members = [];
  for (const { id, accountId, status, served } of domains) {
    const email = (await loadAccount(db, accountId))?.email ?? String(accountId);
    members.push({ id, account: { id: accountId, email }, status, served });
  }
  const lines = members.map(
    ({ id, account, status, served }) =>
      `  id ${id} of ${account.email} (${account.id}), ${status}${served === 'none' ? '' : `, served: ${served}`}`,
  );
  return { kind: 'refused', code, message, lines, members: { candidates: members } };
}
