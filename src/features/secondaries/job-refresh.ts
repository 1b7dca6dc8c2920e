// Refreshes the copy of a primary's zone: asks the primaries in their order for the SOA, transfers a newer version, and
// saves the result.

import { type Name, parseName, printName } from '../../dns/name.ts';
import type { Network } from '../../dns/record/network.ts';
import { DatabaseWatch } from '../../jobs/database-watch.ts';
import { boundSignal } from '../../process/bound-signal.ts';
import { printListenAddress } from '../../process/listen-address.ts';
import type { PrimaryTls } from '../../resolver/transfer/connect-tls.ts';
import type { Primary, PrimaryOptions } from '../../resolver/transfer/primary.ts';
import type { PrimarySoa } from '../../resolver/transfer/query-soa.ts';
import type { TransferOrder } from '../../resolver/transfer/transfer-zone.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { KeySecret } from '../../store/secrets/key-boxes.ts';
import { unsealTsigKey } from '../../store/secrets/tsig-secrets.ts';
import { isNewer } from '../../zone/serial.ts';
import type { TransferFailure, TransferResult } from '../../zone/transfer/read-transfer.ts';
import {
  holdsExpiry,
  type RefreshFailure,
  refreshInMs,
  retryInMs,
  type TransferLimit,
  type TransferTurns,
  timersOf,
  transferLimits,
  transferMs,
  worstOf,
} from './rules.ts';
import {
  countExpiring,
  type LoadedSecondary,
  loadSecondary,
  MOST_OF_ACCOUNT,
  releaseSecondary,
  type StoredPrimary,
  saveFailure,
  saveSuccess,
} from './sql.ts';
import { expireCopy, saveTransfer } from './sql-save.ts';

export type RefreshOutcome =
  | {
      readonly kind: 'transferred';
      readonly zone: string;
      readonly serial: number;
      readonly form: 'axfr' | 'ixfr';
      /** False if the primary has the same records. */
      readonly isChanged: boolean;
      readonly records: number;
      /** Records outside the zone, which were left out. */
      readonly dropped: number;
      readonly wasExpired: boolean;
      /** Why an incremental transfer could not be used. */
      readonly notIncremental: string | undefined;
    }
  | { readonly kind: 'current'; readonly zone: string; readonly wasFailing: boolean }
  | {
      readonly kind: 'failed';
      readonly zone: string;
      readonly finding: RefreshFailure;
      /** The form of the transfer that failed. Undefined if there was none. */
      readonly form: 'axfr' | 'ixfr' | undefined;
      /** True if the finding differs from that of the last refresh. */
      readonly isNew: boolean;
      /** `held` if the copy would have expired with this refresh, but the breaker holds it. Undefined if it did not expire. */
      readonly expiry: 'expired' | 'held' | undefined;
    }
  | {
      readonly kind: /** The secondary was removed, or its domain is not answered. */
        | 'absent'
        /** Another job has refreshed the zone, or too many of the account's domains are being refreshed. */
        | 'early'
        /** Another result was saved in the meantime. */
        | 'conflict';
    };

/** The network client, as tests replace it. */
export interface TransferClient {
  querySoa(primary: Primary, apex: Name, options: PrimaryOptions): Promise<PrimarySoa | TransferFailure>;
  transferZone(primary: Primary, order: TransferOrder, options: PrimaryOptions): Promise<TransferResult>;
}

interface RefresherOptions {
  readonly db: Database;
  readonly client: TransferClient;
  readonly turns: TransferTurns;
  readonly tsigSecrets: readonly KeySecret[];
  /** Non-public networks in which a customer's primary may be. */
  readonly allowed: readonly Network[];
  /** Local address to query from. Undefined if the system chooses. */
  readonly source: string | undefined;
  /** Maximum number of records of a zone. */
  readonly maxRecords: number;
  readonly random?: () => number;
}

/** Returns a function that refreshes a secondary. It rejects with the signal's reason when that aborts. */
export function createRefresher(
  options: RefresherOptions,
): (secondaryId: number, signal: AbortSignal) => Promise<RefreshOutcome> {
  const database = new DatabaseWatch(options.db);
  const running = new Map<number | null, number>();
  return async (secondaryId, signal) =>
    await database.steadily<RefreshOutcome>(signal, async () => {
      const secondary = await loadSecondary(options.db, secondaryId);
      if (secondary === undefined) return { kind: 'absent' };
      if (!secondary.isDue) {
        await releaseSecondary(options.db, secondaryId);
        return { kind: 'early' };
      }
      const { accountId } = secondary;
      const others = running.get(accountId) ?? 0;
      // Slow transfers outlast their lease. Until it ends, this one is not claimed again.
      if (accountId !== null && others >= MOST_OF_ACCOUNT) return { kind: 'early' };
      running.set(accountId, others + 1);
      try {
        return await new Refresh(options, secondary, signal).run();
      } finally {
        const left = (running.get(accountId) ?? 1) - 1;
        if (left === 0) running.delete(accountId);
        else running.set(accountId, left);
      }
    });
}

class Refresh {
  readonly #options: RefresherOptions;
  readonly #secondary: LoadedSecondary & { readonly maxRecords: number };
  readonly #signal: AbortSignal;
  readonly #failures: RefreshFailure[] = [];
  #form: 'axfr' | 'ixfr' | undefined;
  #notIncremental: string | undefined;

  constructor(options: RefresherOptions, secondary: LoadedSecondary, signal: AbortSignal) {
    this.#options = options;
    const { maxRecords } = options;
    this.#secondary = { ...secondary, maxRecords: Math.min(secondary.maxRecords ?? maxRecords, maxRecords) };
    this.#signal = signal;
  }

  async run(): Promise<RefreshOutcome> {
    for (const stored of this.#secondary.primaries) {
      const outcome = await this.#refreshFrom(stored);
      this.#signal.throwIfAborted(); // an aborted run has no outcome
      if (outcome !== undefined) return outcome;
    }
    return await this.#fail();
  }

  /** Serial from which differences can be applied. Undefined if the whole zone must be transferred, whatever its serial. */
  get #copySerial(): number | undefined {
    const { serial, isForced, isExpired } = this.#secondary;
    return isForced || isExpired ? undefined : serial;
  }

  /** Returns undefined if another primary must be tried. */
  async #refreshFrom(stored: StoredPrimary): Promise<RefreshOutcome | undefined> {
    const { client } = this.#options;
    const { apex } = this.#secondary;
    const primary = this.#withKey(stored);
    if (primary === undefined) return undefined;
    const soa = await client.querySoa(primary, apex, this.#optionsOf(stored));
    if (soa.kind === 'failed') return this.#note(soa);
    const copy = this.#copySerial;
    if (copy === soa.serial) return await this.#noteCurrent();
    if (copy !== undefined && !isNewer(soa.serial, copy)) {
      const message = `${printListenAddress(stored)} has the serial ${soa.serial}, which is older than ${copy}`;
      return this.#note({ code: 'PRIMARY_SERIAL_BACK', message });
    }
    const { turns } = this.#options;
    const [usual, most] = transferLimits(this.#secondary);
    const hasUsual = most !== undefined;
    const done = await turns.take(usual, () => this.#transferFrom(primary, stored, usual, hasUsual));
    if (done !== 'too_large') return done;
    const rest = most ?? usual;
    const again = await turns.take(rest, () => this.#transferWhole(primary, stored, rest, false));
    return again === 'too_large' ? undefined : again;
  }

  /** With `isUsual`, returns 'too_large` instead of recording that failure. */
  async #transferFrom(
    primary: Primary,
    stored: StoredPrimary,
    limit: TransferLimit,
    isUsual: boolean,
  ): Promise<RefreshOutcome | 'too_large' | undefined> {
    if (this.#copySerial !== undefined) {
      const result = await this.#transfer(primary, stored, 'ixfr', limit);
      const done = result.kind === 'failed' ? undefined : await this.#save(result, stored, 'ixfr');
      if (done !== undefined) return done;
      this.#signal.throwIfAborted();
      this.#notIncremental ??= result.kind === 'failed' ? result.message : undefined;
    }
    return await this.#transferWhole(primary, stored, limit, isUsual);
  }

  async #transferWhole(
    primary: Primary,
    stored: StoredPrimary,
    limit: TransferLimit,
    isUsual: boolean,
  ): Promise<RefreshOutcome | 'too_large' | undefined> {
    const result = await this.#transfer(primary, stored, 'axfr', limit);
    if (result.kind !== 'failed') return await this.#save(result, stored, 'axfr');
    return isUsual && result.code === 'TRANSFER_TOO_LARGE' ? 'too_large' : this.#note(result);
  }

  async #transfer(
    primary: Primary,
    stored: StoredPrimary,
    form: 'axfr' | 'ixfr',
    limit: TransferLimit,
  ): Promise<TransferResult> {
    this.#form = form;
    const { records: maxRecords, octets: maxOctets } = limit;
    const order = { apex: this.#secondary.apex, form, serial: this.#copySerial, maxRecords, maxOctets };
    const deadlineMs = transferMs(limit);
    const signal = boundSignal(this.#signal, deadlineMs);
    try {
      return await this.#options.client.transferZone(primary, order, { ...this.#optionsOf(stored), signal });
    } catch (error) {
      if (this.#signal.aborted || !signal.aborted) throw error;
      const message = `${printListenAddress(stored)} did not complete the transfer in ${deadlineMs / 1000} s`;
      return { kind: 'failed', code: 'PRIMARY_SILENT', message };
    }
  }

  /** Returns undefined if the result cannot be used. */
  async #save(
    result: Exclude<TransferResult, TransferFailure>,
    stored: StoredPrimary,
    asked: 'axfr' | 'ixfr',
  ): Promise<RefreshOutcome | undefined> {
    if (result.kind === 'current') return await this.#noteCurrent();
    const { db, random = Math.random } = this.#options;
    const { apex, isExpired } = this.#secondary;
    const { serial, dropped } = result;
    const form = result.kind === 'zone' ? 'axfr' : 'ixfr';
    const timers = timersOf(soaOf(result));
    const saved = await saveTransfer(db, this.#secondary, result, {
      refreshInMs: refreshInMs(timers, random()),
      expireMs: timers.expireMs,
      copy: { serial, form },
    });
    if (saved.kind === 'conflict') return { kind: 'conflict' };
    if (saved.kind === 'saved') {
      return {
        kind: 'transferred',
        zone: printName(apex),
        ...{ serial, form, dropped },
        isChanged: saved.version !== undefined,
        records: saved.records,
        wasExpired: isExpired,
        notIncremental: asked === 'axfr' ? this.#notIncremental : undefined,
      };
    }
    const message = `${printListenAddress(stored)} sent a zone that ${saved.why}`;
    if (saved.kind === 'needs_whole') this.#notIncremental = saved.why;
    else this.#note({ code: 'TRANSFER_INVALID', message });
    return undefined;
  }

  async #noteCurrent(): Promise<RefreshOutcome> {
    const { db, random = Math.random } = this.#options;
    const { apex, soa, failures } = this.#secondary;
    const timers = timersOf(soa);
    const isSaved = await saveSuccess(db, this.#secondary, {
      refreshInMs: refreshInMs(timers, random()),
      expireMs: timers.expireMs,
    });
    if (!isSaved) return { kind: 'conflict' };
    return { kind: 'current', zone: printName(apex), wasFailing: failures > 0 };
  }

  async #fail(): Promise<RefreshOutcome> {
    const { db } = this.#options;
    const { apex, soa, failures, lastError, isPastExpiry, isExpired, seq } = this.#secondary;
    const none: RefreshFailure = { code: 'PRIMARY_SILENT', message: 'the primaries have no address' };
    const finding = worstOf(this.#failures) ?? none;
    const retry = retryInMs(timersOf(soa), failures + 1, finding.code);
    if (!(await saveFailure(db, this.#secondary, { ...finding, retryInMs: retry })))
      return { kind: 'conflict' };
    const failed = { zone: printName(apex), finding, form: this.#form, isNew: finding.code !== lastError };
    const outcome = { kind: 'failed', ...failed, expiry: undefined } as const;
    if (!isPastExpiry || isExpired) return outcome;
    if (holdsExpiry(await countExpiring(db))) return { ...outcome, expiry: 'held' };
    const expires = await expireCopy(db, { ...this.#secondary, seq: seq + 1 });
    return expires ? { ...outcome, expiry: 'expired' } : outcome;
  }

  #note({ code, message }: RefreshFailure): undefined {
    this.#failures.push({ code, message });
  }

  #optionsOf({ isOperators }: StoredPrimary): PrimaryOptions {
    const { allowed, source } = this.#options;
    const sources = source === undefined ? [] : [source];
    return { signal: this.#signal, allowed: isOperators ? 'any' : allowed, sources };
  }

  /** Returns undefined, and records why, if the key of the primary cannot be used. */
  #withKey(stored: StoredPrimary): Primary | undefined {
    const { address, port, key } = stored;
    const primary = { address, port, tls: tlsOf(stored) };
    if (key === null) return { ...primary, key: undefined };
    const fail = (why: string) =>
      this.#note({
        code: 'PRIMARY_TSIG',
        message: `${printListenAddress({ address, port })} is not queried: ${why}`,
      });
    if (key.isRevoked) return fail(`the key ${key.name} is revoked`);
    const secret = unsealTsigKey(this.#options.tsigSecrets, key);
    if (secret === undefined) return fail(`TSIG_SECRETS does not open the key ${key.name}`);
    return { ...primary, key: { name: parseName(key.name), algorithm: key.algorithm, secret } };
  }
}

function tlsOf({ tls: { mode, port, name, pins } }: StoredPrimary): PrimaryTls | undefined {
  return mode === 'off' ? undefined : { isStrict: mode === 'strict', port, name: name ?? undefined, pins };
}

/** Returns the rdata of the SOA after the transfer. */
function soaOf(result: Extract<TransferResult, { kind: 'zone' | 'differences' }>): Uint8Array | undefined {
  // The first record of a zone, and of what each difference adds.
  if (result.kind === 'zone') return result.records[0]?.rdata;
  return result.differences.at(-1)?.added[0]?.rdata;
}
