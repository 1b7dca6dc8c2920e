// `domain list`: lists all domains, or those that match the options.

import { type Account, listAccounts } from '../../store/accounts/accounts.ts';
import { type DomainFilter, streamDomains } from '../../store/domains/list-domains.ts';
import type { Database } from '../../store/postgres/database.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { withAccount } from '../terminal/find-account.ts';
import { Listing, type Output } from '../terminal/output.ts';
import { type Cell, printTable } from '../terminal/print-table.ts';
import { domainJson, OPERATOR } from './domain-json.ts';

interface ListOrder {
  /** Email or id of the owner. */
  readonly account: string | undefined;
  readonly filter: DomainFilter;
}

export async function listDomains(db: Database, order: ListOrder, output: Output): Promise<number> {
  const { account, filter } = order;
  if (account === undefined) return await tellDomains(db, undefined, filter, output);
  return await withAccount(db, account, output, (owner) => tellDomains(db, owner, filter, output));
}

async function tellDomains(
  db: Database,
  owner: Account | undefined,
  filter: DomainFilter,
  output: Output,
): Promise<number> {
  const emails = new Map((await listAccounts(db)).map(({ id, email }) => [id, email]));
  const domains =
    owner === undefined
      ? streamDomains(db, OPERATOR, filter, BY_NAME)
      : streamDomains(db, { accountId: owner.id, isAdmin: false }, { ...filter, role: 'owner' }, BY_NAME);
  const listing = new Listing(output, 'domains');
  const rows: Cell[][] = [];
  for await (const domain of domains) {
    const email = emails.get(domain.accountId) ?? String(domain.accountId);
    if (output.json) {
      await listing.add({ json: domainJson(domain, email) });
      continue;
    }
    const { status, suspended, dnsMode, served, serial, recordCount, plan, createdAt, deletedAt } = domain;
    rows.push([
      ...(filter.deleted ? [domain.id] : []),
      printWithoutDot(domain.name),
      suspended ? `${status}, suspended` : status,
      dnsMode,
      served,
      serial,
      recordCount,
      plan?.slug ?? '-',
      email,
      (filter.deleted ? deletedAt : createdAt)?.toISOString().slice(0, 10) ?? '-',
    ]);
  }
  if (output.json) await listing.end({});
  else
    await output.print(
      printTable(filter.deleted ? ['ID', ...HEADS, 'DELETED'] : [...HEADS, 'CREATED'], rows),
    );
  return 0;
}

const BY_NAME = { sort: 'name', descending: false } as const;
const HEADS = ['DOMAIN', 'STATUS', 'MODE', 'SERVED', 'SERIAL', 'RECORDS', 'PLAN', 'ACCOUNT'];
