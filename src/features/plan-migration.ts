// Plans a migration: what `migrate` would do, and about how long it would take. Changes and locks nothing.

import { readFile } from 'node:fs/promises';
import { requireSigner } from '../store/keys/key-store.ts';
import { refuseDroppedNames } from '../store/migrate/dropped-names.ts';
import { readStep, type TableUse } from '../store/migrate/read-step.ts';
import {
  countDomainsToRepublish,
  type DomainsToRepublish,
  loadTableSizes,
  type TableSize,
} from '../store/migrate/table-sizes.ts';
import {
  compareAnswerSettings,
  type GivenAnswerSettings,
  withStoredSettings,
} from '../store/postgres/answer-settings.ts';
import type { Database } from '../store/postgres/database.ts';
import { appliedMigrations, MIGRATION_NAMES } from '../store/postgres/schema-version.ts';
import { pendingMigrations } from './migrate.ts';

/**
 * Rows per second. The slower of two measurements with a million rows of 200 bytes and three indexes (PostgreSQL 15 with its
 * default settings on two cores that other programs also used), rounded down: `index` over two columns 234,000, and
 * `rewrite` 9,200 for an update, 47,000 for another column type. `scan` was 1,900,000 in memory, and allows for a disk
 * that reads 100 MB/s.
 */
const RATES = { none: Infinity, scan: 500_000, index: 200_000, rewrite: 9_000 } as const;
/** Cautious assumptions, not measured. */
const DOMAINS_PER_SECOND = 200;
const SIGNED_PER_SECOND = 40;
const SECONDS_PER_STEP = 0.2;
const NONE: DomainsToRepublish = { domains: 0, signed: 0 };

interface MigrationPlan {
  /** The newest migration of the database. Undefined if it has no schema. */
  readonly schema: string | undefined;
  /** True if a newer version has migrated the database. */
  readonly isNewer: boolean;
  readonly steps: readonly PlannedStep[];
  /** The settings whose stored value differs. */
  readonly changed: Awaited<ReturnType<typeof compareAnswerSettings>>['changed'];
  readonly republish: DomainsToRepublish & { readonly seconds: number };
  readonly seconds: number;
}

interface PlannedStep {
  readonly name: string;
  readonly about: string;
  readonly creates: readonly string[];
  readonly uses: readonly (TableUse & TableSize & { readonly seconds: number })[];
  readonly seconds: number;
}

/** Throws the same errors as `migrate` with these settings. */
export async function planMigration(
  db: Database,
  given: GivenAnswerSettings,
  { force = false }: { readonly force?: boolean } = {},
): Promise<MigrationPlan> {
  const known = (await appliedMigrations(db)) ?? [];
  const isNew = known.length === 0;
  const steps: PlannedStep[] = [];
  for (const name of isNew ? [] : pendingMigrations(known)) steps.push(await planStep(db, name));
  const settings = isNew ? given : await withStoredSettings(db, given);
  const { changed, republishes } = isNew
    ? { changed: [], republishes: false }
    : await compareAnswerSettings(db, settings);
  if (changed.length > 0) {
    if (!force) await db.transaction().execute((trx) => refuseDroppedNames(trx, settings));
    await requireSigner(db);
  }
  const counts = isNew ? NONE : await countDomainsToRepublish(db, republishes);
  const seconds = (counts.domains - counts.signed) / DOMAINS_PER_SECOND + counts.signed / SIGNED_PER_SECOND;
  return {
    schema: known.at(-1),
    isNewer: known.some((name) => !MIGRATION_NAMES.includes(name)) && steps.length === 0,
    steps,
    changed,
    republish: { ...counts, seconds },
    seconds: steps.reduce((sum, step) => sum + step.seconds, seconds),
  };
}

async function planStep(db: Database, name: string): Promise<PlannedStep> {
  const file = new URL(`../store/migrate/steps/${name}.sql`, import.meta.url);
  const { about, creates, uses } = readStep(await readFile(file, 'utf8'));
  const sizes = await loadTableSizes(
    db,
    uses.map(({ table }) => table),
  );
  const planned = uses.map((use) => {
    const size = sizes.get(use.table) ?? { rows: 0, bytes: 0 };
    return { ...use, ...size, seconds: size.rows / RATES[use.work] };
  });
  const seconds = planned.reduce((sum, use) => sum + use.seconds, SECONDS_PER_STEP);
  return { name, about, creates, uses: planned, seconds };
}
