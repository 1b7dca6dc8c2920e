// Runs a write in a transaction, or in the caller's as a savepoint. Work after the commit follows the outermost one.

import { sql } from 'kysely';
import { announceChanges, announceWithCommit } from './announce-changes.ts';
import type { Database } from './database.ts';
import { ROLL_BACK_TO_SAVEPOINT } from './pool-driver.ts';

const changing = new WeakSet<Database>();

/** Notifies the nodes after this transaction has committed. */
export function announceAfterCommit(trx: Database): void {
  changing.add(trx);
}

/** Notifies the nodes immediately or, within a transaction, after its commit. */
export function announce(db: Database): void {
  if (db.isTransaction) announceAfterCommit(db);
  else announceChanges(db);
}

/** Thrown inside a transaction: everything is rolled back, and `inTransaction` returns the outcome. */
class RolledBack {
  readonly outcome: unknown;

  constructor(outcome: unknown) {
    this.outcome = outcome;
  }
}

/** Rolls back the innermost `inTransaction` and makes it return `outcome`. */
export function rollBackTo(outcome: unknown): never {
  throw new RolledBack(outcome);
}

/**
 * Runs `work` in a transaction. An error rolls back only what `work` did; a caller's transaction continues. `onCommit` is
 * called when the commit of a new transaction was sent.
 */
export async function inTransaction<T>(
  db: Database,
  work: (trx: Database) => Promise<T>,
  onCommit?: () => void,
): Promise<T> {
  try {
    return db.isTransaction ? await inSavepoint(db, work) : await inNewTransaction(db, work, onCommit);
  } catch (error) {
    if (error instanceof RolledBack) return error.outcome as T;
    throw error;
  }
}

async function inNewTransaction<T>(
  db: Database,
  work: (trx: Database) => Promise<T>,
  onCommit?: () => void,
): Promise<T> {
  let isDue = false;
  const result = await db.transaction().execute(async (trx) => {
    const done = await work(trx);
    isDue = changing.has(trx) && !(await announceWithCommit(db, trx));
    if (onCommit !== undefined) setImmediate(onCommit);
    return done;
  });
  if (isDue) announceChanges(db);
  return result;
}

async function inSavepoint<T>(trx: Database, work: (trx: Database) => Promise<T>): Promise<T> {
  await sql`savepoint nested`.execute(trx);
  try {
    const result = await work(trx);
    await sql`release savepoint nested`.execute(trx);
    return result;
  } catch (error) {
    await sql.raw(ROLL_BACK_TO_SAVEPOINT).execute(trx);
    await sql`release savepoint nested`.execute(trx);
    throw error;
  }
}
