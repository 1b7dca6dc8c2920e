// The differences between two versions of a zone, encoded for incremental transfers. They are kept for some seconds, so that
// several secondaries cost one query.

import type { Connection } from '../../../store/postgres/connection.ts';
import { type HistoryMiss, loadHistory } from '../../../store/transfers/load-differences.ts';
import { isNewer } from '../../../zone/serial.ts';
import { differencesOf, recordsIn } from '../../../zone/transfer/condense.ts';
import type { Difference } from '../../../zone/transfer/read-transfer.ts';
import type { ZoneVersion } from './encoded-zones.ts';
import { type EncodedTransfer, TransferWriter } from './transfer-writer.ts';

const LOAD_MS = 2000;
/** A load is not started if less time than this is left. */
const LEAST_MS = 200;
const KEPT_MS = 10_000;
const MOST_KEPT = 1000;
const MOST_KEPT_OCTETS = 64 * 2 ** 20;
const MOST_WAITING = 64;
/** History of this many records is loaded for a zone of any size: it may be smaller when it is condensed. */
const LEAST_ROWS = 1000;
/** Above this, transferring the whole zone costs less than condensing the differences. */
const MOST_ROWS = 200_000;

export type EncodedHistory =
  | { readonly kind: 'encoded'; readonly transfer: EncodedTransfer }
  /** The whole zone must be transferred instead. */
  | { readonly kind: 'missing'; readonly why: HistoryMiss | 'unavailable' };

interface Kept {
  readonly encoded: Promise<EncodedHistory>;
  readonly untilMs: number;
  octets: number;
}

export class ZoneHistory {
  readonly #open: () => Promise<Connection>;
  readonly #onError: (error: unknown) => void;
  /** Oldest first. */
  readonly #kept = new Map<string, Kept>();
  #octets = 0;
  #waiting = 0;
  /** The last load in the queue. The connection serves one load at a time. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(open: () => Promise<Connection>, onError: (error: unknown) => void) {
    this.#open = open;
    this.#onError = onError;
  }

  /** Returns the transfer from a serial to this version. Never rejects. */
  async load(zone: ZoneVersion, serial: number): Promise<EncodedHistory> {
    const key = `${zone.id} ${serial} ${zone.version} ${zone.mark}`;
    this.#drop();
    const known = this.#kept.get(key);
    if (known !== undefined) return await known.encoded;
    const encoded = this.#loadInTime(zone, serial);
    const kept = { encoded, untilMs: performance.now() + KEPT_MS, octets: 0 };
    this.#kept.set(key, kept);
    const result = await encoded;
    if (this.#kept.get(key) !== kept) return result;
    if (result.kind === 'missing') this.#kept.delete(key);
    else this.#octets += kept.octets = result.transfer.octets;
    return result;
  }

  #drop(): void {
    const nowMs = performance.now();
    for (const [key, { untilMs, octets }] of this.#kept) {
      if (untilMs > nowMs && this.#kept.size < MOST_KEPT && this.#octets <= MOST_KEPT_OCTETS) return;
      this.#kept.delete(key);
      this.#octets -= octets;
    }
  }

  async #loadInTime(zone: ZoneVersion, serial: number): Promise<EncodedHistory> {
    const unavailable = { kind: 'missing', why: 'unavailable' } as const;
    if (this.#waiting >= MOST_WAITING) return unavailable;
    this.#waiting++;
    const untilMs = performance.now() + LOAD_MS;
    const load = this.#last.then(() => this.#encode(zone, serial, untilMs - performance.now()));
    this.#last = load.catch(() => undefined);
    load.catch(this.#onError).finally(() => this.#waiting--);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<EncodedHistory>((done) => {
      timer = setTimeout(() => done(unavailable), LOAD_MS);
    });
    return await Promise.race([load.catch(() => unavailable), late]).finally(() => clearTimeout(timer));
  }

  async #encode(zone: ZoneVersion, serial: number, leftMs: number): Promise<EncodedHistory> {
    if (leftMs < LEAST_MS) return { kind: 'missing', why: 'unavailable' };
    const maxRows = Math.min(MOST_ROWS, Math.max(LEAST_ROWS, zone.records));
    const { id: zoneId, version, mark } = zone;
    const wanted = { zoneId, serial, version, mark, maxRows };
    const history = await loadHistory(await this.#open(), wanted, LOAD_MS);
    if (history.kind === 'missing') return history;
    const differences = differencesOf(history.versions);
    if (differences === undefined || !isChain(differences, serial, zone.serial))
      return { kind: 'missing', why: 'gap' };
    if (recordsIn(differences) > zone.records + 1) return { kind: 'missing', why: 'larger' };
    return { kind: 'encoded', transfer: encodeDifferences(zone, differences) };
  }
}

/** Returns true if the differences form a chain of increasing serials from `from` to `to`. */
function isChain(differences: readonly Difference[], from: number, to: number): boolean {
  let serial = from;
  for (const { serialBefore, serialAfter } of differences) {
    if (serialBefore !== serial || !isNewer(serialAfter, serialBefore)) return false;
    serial = serialAfter;
  }
  return serial === to;
}

/** RFC 1995 §4: the new SOA; for each difference the old SOA, removed records, the next SOA, added records; the new SOA. */
function encodeDifferences({ soa }: ZoneVersion, differences: readonly Difference[]): EncodedTransfer {
  const writer = new TransferWriter(soa.owner);
  writer.write(soa);
  for (const { removed, added } of differences) {
    for (const record of removed) writer.write(record);
    for (const record of added) writer.write(record);
  }
  writer.write(soa);
  return writer.finish();
}
