// Creates many domains in one call, a hundred in one transaction.

import { lockNamesAroundAll } from '../../store/change/lock-domain.ts';
import type { Database } from '../../store/postgres/database.ts';
import { encodeNameColumn } from '../../store/postgres/name-column.ts';
import { outageOf } from '../../store/postgres/outage.ts';
import { inTransaction } from '../../store/postgres/transaction.ts';
import { parseDomainName } from '../../zone/domain/domain-name.ts';

/** Number of domains in one transaction. */
const GROUP = 100;

interface Creation<I, R> {
  /** Takes the locks that precede those of names. */
  readonly lockFirst?: (trx: Database) => Promise<void>;
  readonly create: (db: Database, item: I, index: number) => Promise<R>;
  /** Returns the result of a domain for which `create` threw an error. */
  readonly fail: (item: I, index: number, error: unknown) => R;
}

/** Returns the results in the order of the items. Throws if the database fails; the groups created before stay. */
export async function createInGroups<I extends { readonly name: string }, R>(
  db: Database,
  items: readonly I[],
  creation: Creation<I, R>,
): Promise<R[]> {
  const results: R[] = [];
  for (let first = 0; first < items.length; first += GROUP)
    results.push(...(await createGroup(db, items.slice(first, first + GROUP), first, creation)));
  return results;
}

/** If the transaction fails, each domain gets its own, so that only those fail that cannot be created. */
async function createGroup<I extends { readonly name: string }, R>(
  db: Database,
  group: readonly I[],
  first: number,
  { lockFirst, create, fail }: Creation<I, R>,
): Promise<R[]> {
  const results: R[] = [];
  try {
    await inTransaction(db, async (trx) => {
      await lockFirst?.(trx);
      // In the order of all writers, so that concurrent calls with the same names cannot cause a deadlock.
      await lockNamesAroundAll(trx, group.flatMap(nameTextOf));
      for (const [at, item] of group.entries()) results.push(await create(trx, item, first + at));
    });
    return results;
  } catch (error) {
    if (outageOf(error) !== undefined) throw error;
  }
  const single: R[] = [];
  for (const [at, item] of group.entries()) {
    try {
      single.push(await create(db, item, first + at));
    } catch (error) {
      if (outageOf(error) !== undefined) throw error;
      single.push(fail(item, first + at, error));
    }
  }
  return single;
}

function nameTextOf({ name }: { readonly name: string }): string[] {
  const parsed = parseDomainName(name);
  return parsed.kind === 'problem' ? [] : [encodeNameColumn(parsed.name)];
}
