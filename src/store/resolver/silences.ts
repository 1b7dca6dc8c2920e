// Addresses and parents that do not respond, shared by all workers: which of them are not queried for a while (RFC
// 9520), and trials, which rarely query an address that may never have replied.

import { sql } from 'kysely';
import { type AddressMemory, afterTrial, judgeTrial, type Trial } from '../../checks/shares/silence.ts';
import type { Database } from '../postgres/database.ts';
import { inTransaction } from '../postgres/transaction.ts';

/** A count of 0 means that it has replied. Times are milliseconds since 1970. */
interface StoredSilence {
  readonly key: string;
  readonly count: number;
  readonly until: number;
}

/** Maximum sent and received per round. The rest follows in the next one. */
const MOST_AT_ONCE = 2000;
const KEPT_SECONDS = 7200;
/** Rows that a slower transaction adds before the position are still read. */
const OVERLAP_SECONDS = 5;

/** Stores silences for the other workers. Keys must be unique. */
export async function tellSilences(db: Database, silences: readonly StoredSilence[]): Promise<void> {
  const told = silences.slice(0, MOST_AT_ONCE);
  if (told.length === 0) return;
  await sql`
    insert into resolver_silences as s (key, count, until, noted_at)
    select n.key, n.count, to_timestamp(n.until / 1000), clock_timestamp()
    from jsonb_to_recordset(${JSON.stringify(told)}::jsonb) as n(key text, count integer, until float8)
    order by n.key collate "C"
    on conflict (key) do update
      set count = excluded.count, until = excluded.until, noted_at = excluded.noted_at`.execute(db);
}

/** Returns the silences stored since a position. `after` is the position for the next call. */
export async function learnSilences(
  db: Database,
  after: Date | undefined,
): Promise<{ readonly silences: StoredSilence[]; readonly after: Date | undefined }> {
  const { rows } = await sql<StoredSilence & { noted: Date }>`
    select key, count, (extract(epoch from until) * 1000)::float8 as until, noted_at as noted from resolver_silences
    where noted_at > coalesce(${after ?? null}::timestamptz - make_interval(secs => ${OVERLAP_SECONDS}),
      '-infinity'::timestamptz)
    order by noted_at limit ${MOST_AT_ONCE}`.execute(db);
  const silences = rows.map(({ noted: _, ...silence }) => silence);
  const last = rows.at(-1)?.noted;
  // A full round of rows within the overlap must not be read again forever.
  const isStuck = rows.length === MOST_AT_ONCE && last !== undefined && after !== undefined && last <= after;
  return { silences, after: isStuck ? new Date(after.getTime() + OVERLAP_SECONDS * 1000) : (last ?? after) };
}

export async function purgeSilences(db: Database): Promise<void> {
  await sql`
    delete from resolver_silences where key = any(array(
      select key from resolver_silences
      where noted_at < clock_timestamp() - make_interval(secs => ${KEPT_SECONDS}) for update skip locked))`.execute(
    db,
  );
}

const MOST_TRIALS_AT_ONCE = 200;
/** A report waits this long for others. */
const REPORT_MS = 20;
const MAX_REPORTS = 5000;
const TRIALS_PER_PURGE = 500;
const TRIALS_KEPT_SECONDS = 90_000;

interface Asking {
  readonly address: string;
  readonly resolve: (trial: Trial) => void;
  readonly reject: (error: unknown) => void;
}

interface AddressTrials {
  ask(address: string): Promise<Trial>;
  /** Never throws. A report that cannot be stored is lost, and the address is tried again. */
  report(address: string, replied: boolean): void;
}

/** Batches the calls of a process, so that one transaction handles many addresses. */
export function postgresTrials(db: Database, onError: (error: Error) => void): AddressTrials {
  const waiting: Asking[] = [];
  const reports = new Map<string, boolean>();
  let isBusy = false;
  let isTelling = false;
  let trials = 0;

  async function askAll(): Promise<void> {
    if (isBusy) return;
    isBusy = true;
    while (waiting.length > 0) {
      const batch = waiting.splice(0, MOST_TRIALS_AT_ONCE);
      try {
        const judged = await judgeAll(db, [...new Set(batch.map(({ address }) => address))]);
        for (const { address, resolve } of batch) resolve(judged.get(address) as Trial);
        trials += batch.length;
        if (trials >= TRIALS_PER_PURGE) {
          trials = 0;
          await purge(db);
        }
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    isBusy = false;
  }

  async function tell(): Promise<void> {
    isTelling = false;
    const told = [...reports];
    reports.clear();
    await reportAll(db, told).catch(onError);
  }

  return {
    ask: (address) =>
      new Promise((resolve, reject) => {
        waiting.push({ address, resolve, reject });
        void askAll();
      }),
    report(address, replied) {
      if (reports.size >= MAX_REPORTS) return;
      reports.set(address, replied);
      if (isTelling) return;
      isTelling = true;
      setTimeout(() => void tell(), REPORT_MS).unref();
    },
  };
}

interface AddressRow {
  readonly address: string;
  readonly replied: number | null;
  readonly silences: number;
  readonly window: number;
  readonly asked: number;
  readonly open: number | null;
  readonly now: number;
}

const ms = (column: string) => sql`(extract(epoch from ${sql.ref(column)}) * 1000)::float8`;

async function judgeAll(db: Database, addresses: readonly string[]): Promise<Map<string, Trial>> {
  return await inTransaction(db, async (trx) => {
    const known = await lockAll(trx, addresses);
    const judged = new Map<string, Trial>();
    const changed: [string, AddressMemory][] = [];
    for (const [address, { memory, now }] of known) {
      const trial = judgeTrial(memory, now);
      judged.set(address, trial);
      if (trial.kind === 'go') changed.push([address, trial.memory]);
    }
    await saveAll(trx, changed);
    return judged;
  });
}

async function reportAll(db: Database, reports: readonly (readonly [string, boolean])[]): Promise<void> {
  await inTransaction(db, async (trx) => {
    const known = await lockAll(
      trx,
      reports.map(([address]) => address),
    );
    const changed = reports.flatMap(([address, replied]): [string, AddressMemory][] => {
      const row = known.get(address);
      return row === undefined ? [] : [[address, afterTrial(row.memory, replied, row.now)]];
    });
    await saveAll(trx, changed);
  });
}

/** Locks the rows in the same order in all processes. Times are from the database's clock. */
async function lockAll(
  trx: Database,
  addresses: readonly string[],
): Promise<Map<string, { memory: AddressMemory; now: number }>> {
  const sorted = [...addresses].sort();
  await sql`
    insert into resolver_addresses (address, window_at)
    select a, to_timestamp(0) from unnest(${sorted}::text[]) a order by a collate "C"
    on conflict (address) do nothing`.execute(trx);
  const { rows } = await sql<AddressRow>`
    select address, ${ms('replied_at')} as replied, silences, ${ms('window_at')} as window, asked,
      ${ms('open_until')} as open, (extract(epoch from clock_timestamp()) * 1000)::float8 as now
    from resolver_addresses where address = any(${sorted}::text[])
    order by address collate "C" for update`.execute(trx);
  return new Map(
    rows.map(({ address, replied, silences, window, asked, open, now }) => {
      const memory = {
        repliedAt: replied ?? undefined,
        silences,
        windowAt: window,
        asked,
        openUntil: open ?? undefined,
      };
      return [address, { memory, now }];
    }),
  );
}

async function saveAll(trx: Database, changed: readonly (readonly [string, AddressMemory])[]): Promise<void> {
  if (changed.length === 0) return;
  const rows = changed.map(([address, { repliedAt, silences, windowAt, asked, openUntil }]) => ({
    address,
    replied: repliedAt ?? null,
    silences,
    window: windowAt,
    asked,
    open: openUntil ?? null,
  }));
  await sql`
    update resolver_addresses r
    set replied_at = to_timestamp(n.replied / 1000), silences = n.silences, window_at = to_timestamp(n.window / 1000),
      asked = n.asked, open_until = to_timestamp(n.open / 1000)
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as n(address text, replied float8, silences integer, "window" float8, asked integer, open float8)
    where r.address = n.address`.execute(trx);
}

/** Deletes addresses that were not queried for a day. Their history is forgotten. */
async function purge(db: Database): Promise<void> {
  await sql`
    delete from resolver_addresses where address = any(array(
      select address from resolver_addresses
      where window_at < clock_timestamp() - make_interval(secs => ${TRIALS_KEPT_SECONDS})
        and (replied_at is null or replied_at < clock_timestamp() - make_interval(secs => ${TRIALS_KEPT_SECONDS}))
      limit 5000 for update skip locked))`.execute(db);
}
