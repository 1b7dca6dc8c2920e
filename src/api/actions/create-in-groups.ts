// Creates many domains in one call, up to a hundred in one transaction.

import type { FastifyBaseLogger } from 'fastify';
import { lockNamesAroundAll } from '../../store/change/lock-domain.ts';
import type { Database } from '../../store/postgres/database.ts';
import { encodeNameColumn } from '../../store/postgres/name-column.ts';
import { outageOf } from '../../store/postgres/outage.ts';
import { inTransaction } from '../../store/postgres/transaction.ts';
import { parseDomainName } from '../../zone/domain/domain-name.ts';

/** Maximum number of domains in one transaction. */
const GROUP = 100;
/** A transaction that takes longer gets no further domain, so that it ends in time if Postgres is distant or busy. */
const GROUP_MS = 2000;

interface Named {
  readonly name: string;
}

interface Created {
  readonly outcome: 'created' | 'exists' | 'refused';
}

interface Creation<I, R> {
  readonly db: Database;
  readonly log: FastifyBaseLogger;
  /** Takes the locks that precede those of names. */
  readonly lockFirst?: (trx: Database) => Promise<void>;
  readonly create: (db: Database, item: I, index: number) => Promise<R>;
  readonly nowMs?: () => number;
}

/** Returns the results in the order of the items. Throws if the database fails; the groups created before stay. */
export async function createInGroups<I extends Named, R extends Created>(
  items: readonly I[],
  creation: Creation<I, R>,
) {
  const domains: (R | Failed)[] = [];
  for (let first = 0; first < items.length; first = domains.length)
    domains.push(...(await createGroup(items.slice(first, first + GROUP), first, creation)));
  const count = (wanted: Created['outcome']) => domains.filter(({ outcome }) => outcome === wanted).length;
  return { domains, created: count('created'), existing: count('exists'), refused: count('refused') };
}

/**
 * Returns the results of at least one item, in order. If the transaction fails, each domain gets its own, so that only
 * those fail that cannot be created.
 */
async function createGroup<I extends Named, R>(
  group: readonly I[],
  first: number,
  { db, log, lockFirst, create, nowMs = () => performance.now() }: Creation<I, R>,
): Promise<(R | Failed)[]> {
  const results: R[] = [];
  const until = nowMs() + GROUP_MS;
  try {
    await inTransaction(db, async (trx) => {
      await lockFirst?.(trx);
      // In the order of all writers, so that concurrent calls with the same names cannot cause a deadlock.
      await lockNamesAroundAll(trx, group.flatMap(nameTextOf));
      for (const [at, item] of group.entries()) {
        results.push(await create(trx, item, first + at));
        if (nowMs() > until) break;
      }
    });
    return results;
  } catch (error) {
    if (outageOf(error) !== undefined) throw error;
  }
  const single: (R | Failed)[] = [];
  for (const [at, item] of group.entries()) {
    try {
      single.push(await create(db, item, first + at));
    } catch (error) {
      if (outageOf(error) !== undefined) throw error;
      log.error({ err: error, domain: item.name }, 'a domain of a batch could not be created');
      single.push(failed(item, first + at));
    }
  }
  return single;
}

type Failed = ReturnType<typeof failed>;

function failed({ name }: Named, index: number) {
  const error = `domains[${index}]: an internal error`;
  return { name, outcome: 'refused', code: 'internal_error', error } as const;
}

function nameTextOf({ name }: Named): string[] {
  const parsed = parseDomainName(name);
  return parsed.kind === 'problem' ? [] : [encodeNameColumn(parsed.name)];
}
