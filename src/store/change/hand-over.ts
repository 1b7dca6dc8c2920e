// Transfers domains to another account in one transaction (docs/rules.md "Handing a domain over"). The delegation still
// proves the domains, because the rights to their sets are transferred too. Statuses, serials and what nodes serve stay
// the same.

import { sql } from 'kysely';
import { type AccountRoom, lockAccount } from '../accounts/account-limits.ts';
import { type Account, loadAccount } from '../accounts/accounts.ts';
import type { ChangedBy } from '../accounts/actor.ts';
import { endInvitesTo } from '../accounts/end-sharing.ts';
import { addOwnSet } from '../claims/claim-sets.ts';
import { transferNamePast } from '../claims/name-rights.ts';
import { type Domain, RESTORABLE_DAYS } from '../domains/domain.ts';
import { loadDomainById } from '../domains/load-domains.ts';
import type { Database } from '../postgres/database.ts';
import { inTransaction, rollBackTo } from '../postgres/transaction.ts';
import { setParts } from './domain-parts.ts';
import { type FamilyMember, findFamily } from './family.ts';
import { type DomainLock, lockDomain, lockNamesAround } from './lock-domain.ts';
import { settleAbove, settleAgain, settleBelow } from './save-status.ts';
import { publishOwnRecords, writeLog } from './write-domain-change.ts';

export interface HandOverOrder extends ChangedBy {
  readonly domainId: number;
  /** The new owner. */
  readonly accountId: number;
  /** Also transfers the domains of the account that depend on this one. If false, such domains cause a refusal. */
  readonly withFamily?: boolean;
  readonly withoutMembers?: boolean;
  /** Does everything and rolls back. */
  readonly dryRun?: boolean;
}

export interface PassedDomain {
  readonly domain: Domain;
  /** The change that brought it to its account; undefined if it already belonged to that account. */
  readonly changeId: number | undefined;
  /** Number of accounts that the domain is shared with now. */
  readonly members: number;
}

export type HandedOver =
  | {
      readonly kind: 'passed';
      /** The requested domain comes first. */
      readonly domains: readonly [PassedDomain, ...PassedDomain[]];
      /** The account's number of domains and the plan's limit. An operator may exceed the limit. */
      readonly room: Pick<AccountRoom, 'domains' | 'limit'>;
    }
  | { readonly kind: 'absent' }
  | {
      readonly kind: 'refused';
      readonly code: /** The account does not exist or is deactivated. */
        | 'no_account'
        /** That account already has a domain of the name. */
        | 'taken'
        /** Other domains of the old account would be cut off. */
        | 'bound';
      readonly message: string;
      /** For `bound`, in the stored form. */
      readonly names?: readonly string[];
    };

type Refusal = Extract<HandedOver, { kind: 'refused' }>;

export async function handOver(db: Database, order: HandOverOrder): Promise<HandedOver> {
  return await inTransaction<HandedOver>(db, async (trx) => {
    const { domainId, accountId, withFamily = false, dryRun = false } = order;
    // Locks the account before the names, as a create does, so that it cannot claim the name in the meantime.
    const room = await lockAccount(trx, accountId);
    const account = await loadAccount(trx, accountId);
    if (room === undefined || account === undefined)
      return refused('no_account', `there is no account ${accountId}`);
    if (!account.active) return refused('no_account', `the account ${account.email} is deactivated`);
    const locks = await lockWithFamily(trx, domainId);
    const lock = locks.get(domainId);
    if (lock === undefined || lock.row.deletedAt !== null) return { kind: 'absent' };
    const { row } = lock;
    if (row.accountId === accountId) {
      const own = await passed(trx, domainId, undefined);
      return { kind: 'passed', domains: [own], room };
    }
    const family = await findFamily(trx, row, row.accountId);
    if (family.length > 0 && !withFamily) return bound(family);
    const rival = await findRival(trx, [row, ...family], account);
    if (rival !== undefined) return rival;
    const changes = new Map([[domainId, await transferOne(trx, lock, order)]]);
    for (const { id } of family) {
      // This domain joined the family in the meantime. Its writers wait for the locks of the names.
      const its = locks.get(id) ?? ((await lockDomain(trx, id)) as DomainLock);
      changes.set(id, await transferOne(trx, its, order));
    }
    for (const { name } of [row, ...family]) await settle(trx, name);
    const domains: PassedDomain[] = [];
    for (const [id, changeId] of changes) domains.push(await passed(trx, id, changeId));
    const done: HandedOver = {
      kind: 'passed',
      domains: domains as [PassedDomain, ...PassedDomain[]],
      room: { limit: room.limit, domains: room.domains + domains.length },
    };
    return dryRun ? rollBackTo(done) : done;
  });
}

/** Locks the names around the domain, then the domains in the order of their ids. */
async function lockWithFamily(trx: Database, domainId: number): Promise<Map<number, DomainLock>> {
  const { rows } = await sql<FamilyMember & { accountId: number }>`
    select id, name, account_id as "accountId" from domains where id = ${domainId}`.execute(trx);
  const locks = new Map<number, DomainLock>();
  const [first] = rows;
  if (first === undefined) return locks;
  await lockNamesAround(trx, first.name); // a domain's name never changes
  const family = await findFamily(trx, first, first.accountId);
  const ids = [first, ...family].map(({ id }) => id).sort((a, b) => a - b);
  for (const id of ids) {
    const lock = await lockDomain(trx, id);
    if (lock !== undefined) locks.set(id, lock);
  }
  return locks;
}

function refused(code: Refusal['code'], message: string): Refusal {
  return { kind: 'refused', code, message };
}

function bound(family: readonly FamilyMember[]): Refusal {
  return {
    ...refused(
      'bound',
      'other domains of the account are inside or around it, and the inner ones would be cut off: move them together, or delegate the inner ones by NS records',
    ),
    names: family.map(({ name }) => name),
  };
}

/** An account can have only one domain of a name. */
async function findRival(
  trx: Database,
  wanted: readonly FamilyMember[],
  { id, email }: Account,
): Promise<Refusal | undefined> {
  const names = wanted.map(({ name }) => name);
  const { rows } = await sql<{ id: number; name: string; status: string }>`
    select id, name, status from domains
    where account_id = ${id} and name = any(${names}::text[]) and deleted_at is null order by id limit 1`.execute(
    trx,
  );
  const [rival] = rows;
  if (rival === undefined) return undefined;
  return refused(
    'taken',
    `${email} already has a domain ${rival.name.slice(0, -1)} (id ${rival.id}, ${rival.status}): delete that one first; it can be restored for ${RESTORABLE_DAYS} days`,
  );
}

/** Returns the id of the change that brought the domain to the new account. */
async function transferOne(
  trx: Database,
  lock: DomainLock,
  { by, source, accountId, withoutMembers = false }: HandOverOrder,
): Promise<number> {
  const { row, now } = lock;
  const { id, name, status, serial } = row;
  const log = (to: DomainLock, changeId: number, isIn: boolean) =>
    writeLog(
      trx,
      to,
      {
        by,
        source,
        operation: 'move',
        status: isIn ? { from: null, to: status } : { from: status, to: null },
      },
      { changeId, serial },
    );
  // In the change feed, the old account sees the domain disappear, and the new account sees it appear.
  await log(lock, await drawChangeId(trx), false);
  await transferNamePast(trx, { name, from: row.accountId, to: accountId });
  const nsSets = await addOwnSet(trx, row, accountId);
  // A check that started earlier belongs to the old account and is repeated.
  await setParts(trx, id, {
    domain: {
      account_id: accountId,
      updated_at: now,
      ...(nsSets !== row.nsSets && { ns_sets: JSON.stringify(nsSets) }),
    },
  });
  await transferBelongings(trx, { id, accountId, withoutMembers });
  const changeId = await drawChangeId(trx);
  await log({ ...lock, row: { ...row, accountId } }, changeId, true);
  // The primaries did not pass to the new account.
  if (row.isCopy) await publishOwnRecords(trx, (await lockDomain(trx, id)) as DomainLock, { by, source });
  return changeId;
}

async function drawChangeId(trx: Database): Promise<number> {
  const { rows } = await sql<{ id: number }>`select nextval('change_version') as id`.execute(trx);
  return (rows[0] as { id: number }).id;
}

/** Transfers subscriptions, scans and members. Checks and verifications follow by foreign keys, and triggers do the rest. */
async function transferBelongings(
  trx: Database,
  {
    id,
    accountId,
    withoutMembers,
  }: { readonly id: number; readonly accountId: number; readonly withoutMembers: boolean },
): Promise<void> {
  await sql`update subscriptions set account_id = ${accountId} where domain_id = ${id}`.execute(trx);
  await sql`update scans set account_id = ${accountId} where domain_id = ${id}`.execute(trx);
  // Pending warnings were for the old owner. The new owner sees the findings.
  await sql`delete from mails where domain_id = ${id}`.execute(trx);
  // An owner is never a member of its own domain.
  await sql`
    delete from memberships
    where domain_id = ${id} and (${withoutMembers}::boolean or account_id = ${accountId})`.execute(trx);
  await endInvitesTo(trx, id);
}

/** Re-evaluates answers: what is answered of waiting domains depends on the owners of the domains around them. */
async function settle(trx: Database, name: string): Promise<void> {
  await settleAbove(trx, name);
  const { rows } = await sql<{ isHeld: boolean }>`
    select coalesce(bool_or(leaving or status in ('active', 'moved')), false) as "isHeld"
    from domains where name = ${name} and deleted_at is null`.execute(trx);
  if (rows[0]?.isHeld === true) await settleBelow(trx, name);
  else await settleAgain(trx, name);
}

async function passed(trx: Database, domainId: number, changeId: number | undefined): Promise<PassedDomain> {
  const { rows } = await sql<{ members: number }>`
    select count(*)::integer as members from memberships where domain_id = ${domainId}`.execute(trx);
  const { members } = rows[0] as { members: number };
  return { domain: (await loadDomainById(trx, domainId)) as Domain, changeId, members };
}
