// The job that refreshes the copy of a primary's zone, and the rules for when it is due and when the copy expires.

import type { JobKind } from '../../jobs/jobs.ts';

export interface RefreshJob {
  readonly secondaryId: number;
  /** Position among the waiting jobs, lowest first. */
  readonly turn?: number;
}

export const REFRESH_ZONE: JobKind<RefreshJob> = {
  queue: 'refresh-zone',
  key: ({ secondaryId }) => `refresh:${secondaryId}`,
  turn: ({ turn }) => turn,
  connections: 4,
};

/** Maximum number of primaries of a zone. */
export const MOST_PRIMARIES = 4;

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

interface Timers {
  readonly refreshMs: number;
  readonly retryMs: number;
  readonly expireMs: number;
}

/** For zones that were never transferred. */
const FIRST_TIMERS: Timers = { refreshMs: DAY_MS, retryMs: 10 * SECOND_MS, expireMs: 28 * DAY_MS };

/** Returns the timers of an SOA's rdata within the bounds that this fleet accepts. */
export function timersOf(soa: Uint8Array | undefined): Timers {
  if (soa === undefined) return FIRST_TIMERS;
  // The rdata ends with SERIAL REFRESH RETRY EXPIRE MINIMUM (RFC 1035 §3.3.13).
  const numbers = new DataView(soa.buffer, soa.byteOffset + soa.byteLength - 20, 20);
  const within = (at: number, least: number, most: number) =>
    Math.min(Math.max(numbers.getUint32(at) * SECOND_MS, least), most);
  return {
    refreshMs: within(4, 30 * SECOND_MS, DAY_MS),
    retryMs: within(8, 10 * SECOND_MS, DAY_MS),
    expireMs: within(12, HOUR_MS, 28 * DAY_MS),
  };
}

/** Largest part of REFRESH by which a refresh may be early, so that zones that were added together do not stay together. */
const SPREAD = 0.1;

/** @param random from 0 to 1 */
export function refreshInMs({ refreshMs }: Timers, random: number): number {
  return Math.round(refreshMs * (1 - SPREAD * random));
}

const FIRST_RETRY_MS = 10 * SECOND_MS;
/** Limit of the delays after failures that cost little. */
const LONGEST_CHEAP_MS = MINUTE_MS;
const LONGEST_COSTLY_MS = HOUR_MS;
/** At least this many attempts are made until the zone expires. */
const LEAST_ATTEMPTS = 20;

/** Returns the delay after this many consecutive failures: RETRY, or longer while each attempt costs a whole transfer. */
export function retryInMs({ retryMs, expireMs }: Timers, failures: number, code: RefreshFinding): number {
  const isCostly = COSTLY_FINDINGS.includes(code);
  const longestMs = isCostly ? Math.min(LONGEST_COSTLY_MS, expireMs / LEAST_ATTEMPTS) : LONGEST_CHEAP_MS;
  return Math.max(retryMs, Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), longestMs));
}

/** Within this time before they expire, zones are counted. */
export const EXPIRY_WINDOW_MS = 15 * MINUTE_MS;
const MOST_EXPIRING = 20;
const MOST_EXPIRING_SHARE = 0.1;

/**
 * Returns true if no zone may expire, because so many would that a fault of this fleet is more likely than one of their
 * primaries.
 *
 * @param expiring number of zones that have expired within EXPIRY_WINDOW_MS, or would
 */
export function holdsExpiry({
  copies,
  expiring,
}: {
  readonly copies: number;
  readonly expiring: number;
}): boolean {
  return expiring > MOST_EXPIRING && expiring > MOST_EXPIRING_SHARE * copies;
}

/** The finding of a refresh that failed: why the copy is not current. The one that came furthest is first. */
export const REFRESH_FINDINGS = [
  'TRANSFER_INVALID',
  'TRANSFER_TOO_LARGE',
  'PRIMARY_SERIAL_BACK',
  'PRIMARY_TSIG',
  'PRIMARY_REFUSED',
  'PRIMARY_TLS',
  'PRIMARY_SILENT',
  'PRIMARY_ADDRESS',
] as const;
export type RefreshFinding = (typeof REFRESH_FINDINGS)[number];

/** Found only after a transfer. */
export const COSTLY_FINDINGS: readonly RefreshFinding[] = ['TRANSFER_TOO_LARGE', 'TRANSFER_INVALID'];

export interface RefreshFailure {
  readonly code: RefreshFinding;
  /** A sentence with the server. */
  readonly message: string;
}

/** Returns the failure that is reported if every primary failed: the one that came furthest, of equals the first. */
export function worstOf(failures: readonly RefreshFailure[]): RefreshFailure | undefined {
  const weight = ({ code }: RefreshFailure) => REFRESH_FINDINGS.indexOf(code);
  return failures.toSorted((a, b) => weight(a) - weight(b))[0];
}

/** A limit of one transfer. */
export interface TransferLimit {
  readonly records: number;
  readonly octets: number;
}

/** Average size of the records of a large zone. */
const OCTETS_PER_RECORD = 256;
const LEAST_OCTETS = 4 * 2 ** 20;
/** Assumed for a zone without a copy. */
const UNKNOWN_RECORDS = 16_000;
const LEAST_RECORDS = 1000;

/**
 * Returns the limits of a transfer: first those of a zone of about the present size, and then, if one is exceeded, the
 * largest. Therefore a zone occupies only as much of the memory for transfers as it needs.
 */
export function transferLimits({
  records,
  maxRecords,
}: {
  readonly records: number | undefined;
  readonly maxRecords: number;
}): [TransferLimit, TransferLimit?] {
  const most = limitOf(maxRecords);
  const usual = limitOf(records === undefined ? UNKNOWN_RECORDS : Math.max(2 * records, LEAST_RECORDS));
  return usual.records >= most.records ? [most] : [usual, most];
}

export function limitOf(records: number): TransferLimit {
  return { records, octets: Math.max(records * OCTETS_PER_RECORD, LEAST_OCTETS) };
}

const OCTETS_PER_SECOND = 2 ** 15;

/** Returns the time limit of a transfer, because a slow one also occupies memory. The network client has another limit. */
export function transferMs({ octets }: Pick<TransferLimit, 'octets'>): number {
  return Math.ceil(octets / OCTETS_PER_SECOND) * SECOND_MS;
}

/** Admits transfers in their order, so that those in progress together have at most this many octets. */
export class TransferTurns {
  readonly #most: number;
  #free: number;
  readonly #waiting: { readonly octets: number; readonly begin: () => void }[] = [];

  constructor({ octets }: Pick<TransferLimit, 'octets'>) {
    this.#most = octets;
    this.#free = octets;
  }

  /** A transfer with a larger limit is admitted if no other is in progress. */
  async take<T>(limit: Pick<TransferLimit, 'octets'>, work: () => Promise<T>): Promise<T> {
    const octets = Math.min(limit.octets, this.#most);
    await new Promise<void>((begin) => {
      this.#waiting.push({ octets, begin });
      this.#admit();
    });
    try {
      return await work();
    } finally {
      this.#free += octets;
      this.#admit();
    }
  }

  #admit(): void {
    for (
      let next = this.#waiting[0];
      next !== undefined && next.octets <= this.#free;
      next = this.#waiting[0]
    ) {
      this.#waiting.shift();
      this.#free -= next.octets;
      next.begin();
    }
  }
}
