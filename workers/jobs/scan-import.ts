// One scan: observe the zone at its current servers, plan the records, save and import them. The worker owns the scan
// while it renews the lease, together with the progress. If the lease ends, another worker restarts the scan.
//
//   begin ─▶ scan ─▶ plan ─▶ save, import ─▶ saved
//     └ over, another's, spent ─▶ done           └ another's by now ─▶ lost

import { planImport } from '../../src/checks/scan/plan-import.ts';
import type { Scan } from '../../src/checks/scan/scan.ts';
import { printName } from '../../src/dns/name.ts';
import { DatabaseWatch } from '../../src/jobs/database-watch.ts';
import type { JobRun, RunJob } from '../../src/jobs/job-worker.ts';
import type { ScanJob } from '../../src/jobs/jobs.ts';
import { abortWith } from '../../src/process/bound-signal.ts';
import type { Resolver } from '../../src/resolver/resolver.ts';
import { loadPublishSettings } from '../../src/store/postgres/answer-settings.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import type { ScanKind } from '../../src/store/postgres/tables/schema.ts';
import {
  type BegunScan,
  beginScan,
  giveBackScan,
  keepScan,
  type ScanSteps,
} from '../../src/store/scans/begin-scan.ts';
import type { ImportedScan } from '../../src/store/scans/import-scanned.ts';
import { saveScan } from '../../src/store/scans/saved-scans.ts';
import type { CountryOf } from '../../src/zone/records/country.ts';
import { RECORD_TYPE_CODES } from '../../src/zone/records/customer-types.ts';

export type ScanOutcome =
  | {
      readonly kind: 'saved';
      readonly job: ScanJob;
      readonly name: string;
      readonly scanKind: ScanKind;
      readonly scan: Scan;
      /** Number of records that the domain can have. */
      readonly records: number;
      /** Undefined if no import was requested. */
      readonly imported: ImportedScan | undefined;
    }
  | { readonly kind: Exclude<BegunScan['kind'], 'begun'> | 'lost'; readonly job: ScanJob };

export interface ScannerOptions {
  readonly db: Database;
  readonly resolver: Pick<Resolver, 'scanZone'>;
  readonly onOutcome: (outcome: ScanOutcome) => void;
  /** As for `saveEdit`. */
  readonly countryOf?: CountryOf | undefined;
  readonly pulseMs?: number;
}

export function createScanner(options: ScannerOptions): RunJob<ScanJob> {
  const database = new DatabaseWatch(options.db);
  return async (job, run) => {
    /** An outage of Postgres must not fail the scan: its results wait until Postgres is available. */
    const steadily: Steadily = (work) => database.steadily(run.signal, work);
    options.onOutcome(await scan(options, job, run, steadily));
  };
}

type Steadily = <T>(work: () => Promise<T>) => Promise<T>;

async function scan(
  options: ScannerOptions,
  job: ScanJob,
  jobRun: JobRun,
  steadily: Steadily,
): Promise<ScanOutcome> {
  const { db, countryOf } = options;
  const { scanId } = job;
  const begun = await steadily(() => beginScan(db, scanId));
  if (begun.kind !== 'begun') return { kind: begun.kind, job };
  const { run, domain, scan: scanKind } = begun;
  try {
    const found = await scanKept(options, job, begun, jobRun);
    if (found === undefined) return { kind: 'lost', job };
    const { edges } = await steadily(() => loadPublishSettings(db));
    const { records } = planImport(found, { apex: domain, edges, types: RECORD_TYPE_CODES });
    const saved = await steadily(() => saveScan(db, { scanId, run, scan: found, records, countryOf }));
    if (saved.kind === 'lost') return { kind: 'lost', job };
    const { imported } = saved;
    const name = printName(domain);
    return { kind: 'saved', job, name, scanKind, scan: found, records: records.length, imported };
  } catch (error) {
    await giveBackScan(db, scanId, run, { isInnocent: jobRun.signal.aborted }).catch(() => {}); // its lease expires anyway
    throw error;
  }
}

/** Returns undefined if another worker owns the scan now. */
async function scanKept(
  { db, resolver, pulseMs }: ScannerOptions,
  { scanId }: ScanJob,
  { run, domain }: Extract<BegunScan, { kind: 'begun' }>,
  { signal, report = async () => {} }: JobRun,
): Promise<Scan | undefined> {
  const lost = new AbortController();
  const detach = abortWith(lost, signal);
  const keep = async (steps: ScanSteps | undefined) => {
    if (steps !== undefined) void report(steps);
    if (!(await keepScan(db, scanId, run, steps))) lost.abort();
  };
  const pulse = new Pulse(keep, pulseMs);
  try {
    return await resolver.scanZone(domain, {
      signal: lost.signal,
      onProgress: (steps) => pulse.show(steps),
    });
  } catch (error) {
    if (lost.signal.aborted && !signal.aborted) return undefined;
    throw error;
  } finally {
    detach();
    await pulse.stop();
  }
}

/** Interval of progress reports. */
const PULSE_MS = 500;
/** Maximum time between two renewals, well within a lease. */
const LONGEST_SILENCE_MS = 5000;

/** Reports the progress of a scan when it changes, as often as allowed. Renews the lease in between. */
class Pulse {
  readonly #keep: (steps: ScanSteps | undefined) => Promise<void>;
  readonly #timer: NodeJS.Timeout;
  #steps: ScanSteps | undefined;
  #reportedAtMs = performance.now();
  #reporting: Promise<void> | undefined;

  constructor(keep: (steps: ScanSteps | undefined) => Promise<void>, pulseMs = PULSE_MS) {
    this.#keep = keep;
    this.#timer = setInterval(() => this.#beat(), pulseMs);
  }

  show({ names, of, queries, records }: ScanSteps): void {
    this.#steps = { names, of, queries, records };
  }

  /** Stops reporting. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#reporting;
  }

  #beat(): void {
    const steps = this.#steps;
    const isSilent = performance.now() - this.#reportedAtMs > LONGEST_SILENCE_MS;
    if (this.#reporting !== undefined || (steps === undefined && !isSilent)) return;
    this.#steps = undefined;
    this.#reportedAtMs = performance.now();
    this.#reporting = this.#keep(steps)
      .catch(() => {}) // Postgres is unavailable: the next renewal may succeed
      .finally(() => {
        this.#reporting = undefined;
      });
  }
}
