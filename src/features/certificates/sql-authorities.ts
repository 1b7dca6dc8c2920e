// Stores the fleet's accounts at certificate authorities.

import { sql } from 'kysely';
import { requireBoxes } from '../../store/certificates/open-certificate.ts';
import type { Database } from '../../store/postgres/database.ts';
import { inTransaction } from '../../store/postgres/transaction.ts';
import type { About } from '../../store/secrets/key-boxes.ts';

interface AcmeAccount {
  /** PEM. */
  readonly key: string;
  /** Undefined until the account is registered. */
  readonly url: string | undefined;
}

interface AccountRow {
  readonly boxId: number;
  readonly sealed: Buffer;
  readonly url: string | null;
}

/** Loads or creates the account. The first of several workers creates it. Throws CertificatesUnavailable. */
export async function loadAcmeAccount(
  db: Database,
  directory: string,
  makeKey: () => string,
): Promise<AcmeAccount> {
  const boxes = requireBoxes(db);
  const about: About = ['acme account', directory];
  const row = (await findAccount(db, directory)) ?? (await insertAccount(db, directory, makeKey()));
  return { key: (await boxes.unseal(db, row, about)).toString('utf8'), url: row.url ?? undefined };
}

async function findAccount(db: Database, directory: string): Promise<AccountRow | undefined> {
  const { rows } = await sql<AccountRow>`
    select box_id as "boxId", sealed, url from acme_accounts where directory = ${directory}`.execute(db);
  return rows[0];
}

async function insertAccount(db: Database, directory: string, key: string): Promise<AccountRow> {
  await inTransaction(db, async (trx) => {
    const about: About = ['acme account', directory];
    const { boxId, sealed } = await requireBoxes(trx).seal(trx, about, Buffer.from(key));
    await sql`
      insert into acme_accounts (directory, box_id, sealed) values (${directory}, ${boxId}, ${sealed})
      on conflict (directory) do nothing`.execute(trx);
  });
  return (await findAccount(db, directory)) as AccountRow;
}

/** A null `url` means that the authority no longer knows the account. */
export async function saveAcmeUrl(db: Database, directory: string, url: string | null): Promise<void> {
  await sql`update acme_accounts set url = ${url} where directory = ${directory}`.execute(db);
}

/** Stops requests of all workers to the authority for this long. A longer pause stays in effect. */
export async function pauseAcme(db: Database, directory: string, ms: number): Promise<void> {
  await sql`
    update acme_accounts set paused_until = greatest(paused_until, clock_timestamp() + make_interval(secs => ${ms / 1000}))
    where directory = ${directory}`.execute(db);
}

/** Returns the rest of the pause in milliseconds, or 0 if there is none. */
export async function acmePauseLeft(db: Database, directory: string): Promise<number> {
  const { rows } = await sql<{ left: number }>`
    select (greatest(0, extract(epoch from paused_until - clock_timestamp())) * 1000)::float8 as left
    from acme_accounts where directory = ${directory}`.execute(db);
  return rows[0]?.left ?? 0;
}
