// Rounds in which the members of consumed catalogs are copied. Each round applies one chunk, so that a worker can stop.

import type { JobLog } from '../../jobs/job.ts';
import { type Rounds, runRounds } from '../../jobs/run-rounds.ts';
import type { Database } from '../../store/postgres/database.ts';
import {
  needsConfirmation,
  type StoredMember,
  type WantedMember,
} from '../../zone/catalog/compare-members.ts';
import type { WorkTools } from '../feature.ts';
import type { ConsumerFinding } from './rules-consume.ts';
import {
  type ClaimedCatalog,
  claimCatalog,
  compareCatalog,
  countJoining,
  endClaim,
  loadSkipped,
} from './sql-claim.ts';
import { joinMembers, removeMembers, updateMembers } from './sql-consume.ts';

export function startConsuming({ db, log, trouble }: WorkTools): Rounds {
  const consumer = new CatalogConsumer({ db, log });
  const rounds = runRounds({
    idleMs: IDLE_MS,
    onTrouble: (error) => trouble('catalogs', error as Error),
    round: () => consumer.round(),
  });
  return {
    async stop() {
      await rounds.stop();
      await consumer.stop();
    },
  };
}

const IDLE_MS = 1000;
const REMOVED_AT_ONCE = 100;
const UPDATED_AT_ONCE = 500;
/** Per second, and the maximum number of members that wait for their first transfer. */
const JOINED_AT_ONCE = 200;
const SECOND_MS = 1000;
/** After this time, other catalogs and newer versions precede the rest of the work. */
const TURN_MS = 60 * SECOND_MS;
/** Number of skipped members that are tried again in each minute, in turns. */
const RETRIED = 500;
/** The pause after a comparison that took `ms`, so that a large catalog with frequent changes needs a tenth of a core. */
const pauseAfter = (ms: number) => Math.min(10 * ms, 60 * SECOND_MS);
const FAULT_PAUSE_MS = 10 * SECOND_MS;

interface Work {
  readonly catalog: ClaimedCatalog;
  /** The version that is applied. Undefined if only skipped members are tried again. */
  readonly version: number | undefined;
  readonly leaves: StoredMember[];
  readonly resets: WantedMember[];
  readonly updates: WantedMember[];
  readonly joins: WantedMember[];
  readonly pauseMs: number;
  /** When the claim ends even if work is left. The catalog is then compared again. */
  readonly endsMs: number;
}

interface ConsumerOptions {
  readonly db: Database;
  readonly log: Pick<JobLog, 'info' | 'warn'>;
  /** A monotonic clock in milliseconds. */
  readonly now?: () => number;
}

export class CatalogConsumer {
  readonly #db: Database;
  readonly #log: ConsumerOptions['log'];
  readonly #now: () => number;
  #work: Work | undefined;
  #nextJoinMs = 0;
  /** The last name that was tried again, by catalog. */
  readonly #retried = new Map<number, string>();

  constructor({ db, log, now = () => performance.now() }: ConsumerOptions) {
    this.#db = db;
    this.#log = log;
    this.#now = now;
  }

  async round(): Promise<{ readonly isMore: boolean }> {
    const catalog = this.#work?.catalog ?? (await claimCatalog(this.#db));
    if (catalog === undefined) return { isMore: false };
    try {
      this.#work ??= await this.#begin(catalog);
      if (this.#work !== undefined) await this.#apply(this.#work);
    } catch (error) {
      this.#work = undefined;
      await endClaim(this.#db, catalog, { pauseMs: FAULT_PAUSE_MS }); // so that others are not delayed
      throw error;
    }
    return { isMore: true };
  }

  /** Ends the claim, so that another worker may continue. */
  async stop(): Promise<void> {
    const work = this.#work;
    this.#work = undefined;
    if (work !== undefined) await endClaim(this.#db, work.catalog, { pauseMs: 0 }).catch(() => {});
  }

  /** Returns undefined, and ends the claim, if the version is not applied. */
  async #begin(catalog: ClaimedCatalog): Promise<Work | undefined> {
    const none = { leaves: [], resets: [], updates: [], joins: [] };
    const startMs = this.#now();
    if (!catalog.isChanged) {
      const joins = await this.#nextSkipped(catalog.id);
      return { catalog, version: undefined, ...none, joins, pauseMs: 0, endsMs: startMs + TURN_MS };
    }
    const compared = await compareCatalog(this.#db, catalog);
    const comparedMs = this.#now();
    const pauseMs = pauseAfter(comparedMs - startMs);
    const endsMs = comparedMs + TURN_MS;
    if (compared.kind === 'absent') return { catalog, version: undefined, ...none, pauseMs, endsMs };
    const { version } = compared;
    const refuse = async (finding: ConsumerFinding) => {
      const isHeld = finding.code === 'CATALOG_HELD';
      await endClaim(this.#db, catalog, { version, finding, isHeld, pauseMs });
      this.#log.warn({ catalog: catalog.name, ...finding }, 'a version of a catalog is not applied');
      return undefined;
    };
    if (compared.kind === 'broken')
      return await refuse({ code: 'CATALOG_BROKEN', message: `the catalog ${compared.why}` });
    const { comparison } = compared;
    const { removals, copied } = comparison;
    if (needsConfirmation(comparison) && catalog.confirmedVersion !== version) {
      const message = `the version removes or resets ${removals} of ${copied} members`;
      return await refuse({ code: 'CATALOG_HELD', message });
    }
    const { joins, leaves, resets, updates } = comparison;
    const changes = joins.length + leaves.length + resets.length + updates.length;
    if (changes > 0)
      this.#log.info(
        {
          ...{ catalog: catalog.name, joins: joins.length, leaves: leaves.length },
          ...{ resets: resets.length, updates: updates.length },
        },
        'a version of a catalog is applied',
      );
    return {
      ...{ catalog, version, pauseMs, endsMs, leaves: [...leaves], resets: [...resets] },
      ...{ updates: [...updates], joins: [...joins] },
    };
  }

  async #nextSkipped(catalogId: number): Promise<WantedMember[]> {
    const after = this.#retried.get(catalogId) ?? '';
    const skipped = await loadSkipped(this.#db, catalogId, after, RETRIED);
    this.#retried.set(catalogId, skipped.length < RETRIED ? '' : (skipped.at(-1)?.name ?? ''));
    return skipped;
  }

  async #apply(work: Work): Promise<void> {
    const { catalog, version, leaves, resets, updates, joins, pauseMs, endsMs } = work;
    const isComplete = leaves.length + resets.length + updates.length + joins.length === 0;
    if (isComplete || this.#now() >= endsMs) {
      this.#work = undefined;
      const applied = isComplete && version !== undefined ? { version } : {};
      return await endClaim(this.#db, catalog, { ...applied, pauseMs: isComplete ? pauseMs : 0 });
    }
    if (leaves.length > 0)
      this.#keep(
        await removeMembers(this.#db, catalog, version as number, leaves.splice(0, REMOVED_AT_ONCE)),
      );
    else if (updates.length > 0)
      this.#keep(await updateMembers(this.#db, catalog, updates.splice(0, UPDATED_AT_ONCE)));
    else await this.#join(work);
    if (this.#work === undefined) await endClaim(this.#db, catalog, { pauseMs });
  }

  async #join({ catalog, version, resets, joins }: Work): Promise<void> {
    if (this.#now() < this.#nextJoinMs) return;
    const waiting = await countJoining(this.#db, catalog);
    if (waiting === 'lost') return this.#keep(waiting);
    const room = Math.max(JOINED_AT_ONCE - waiting, 0);
    const isReset = resets.length > 0;
    const chunk = (isReset ? resets : joins).splice(0, room);
    this.#nextJoinMs = this.#now() + SECOND_MS * (room === 0 ? 1 : chunk.length / JOINED_AT_ONCE);
    if (chunk.length === 0) return;
    this.#keep(await joinMembers(this.#db, catalog, chunk, isReset ? { resets: version as number } : {}));
  }

  /** Drops the rest of the work if the claim is lost or the zone has changed. */
  #keep(result: unknown): void {
    if (result === 'lost') this.#work = undefined;
  }
}
