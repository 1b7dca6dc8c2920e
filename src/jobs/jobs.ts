// The queue, name and payload of every job. A job holds ids and no content: it says what to look at, and Postgres has
// the data.

/** One kind of job: a queue of its own. */
export interface JobKind<J> {
  readonly queue: string;
  /** Of background jobs with the same key only one waits or runs. */
  readonly key: (job: J) => string;
  /** The same for jobs that a caller waits for; but a request during a run causes another run after it. */
  readonly keyNow?: (job: J) => string;
  /** Jobs go in the order of this number, the lowest first; undefined: as all of their kind do. */
  readonly turn?: (job: J) => number | undefined;
  /** How long until a killed process's jobs count as lost, if not the usual time. */
  readonly lockMs?: number;
  /** How many connections its worker has in BullMQ's Postgres backend. */
  readonly connections: number;
}

/** Callers wait for these: what a killed process was at is begun by another within 5 seconds. */
const SHORT_LOCK_MS = 3000;

export type CheckKind = 'background' | 'manual' | 'operator';

/** Observe a domain's delegation, judge it, save what follows. */
export interface CheckJob {
  readonly domainId: number;
  readonly kind: CheckKind;
  /** A UUID that is saved with the run, by which the caller finds it; only for `manual` and `operator`. */
  readonly request?: string;
  /** When it is its turn among the jobs that wait: the lowest number goes first. */
  readonly turn?: number;
}

export const CHECK_DELEGATION: JobKind<CheckJob> = {
  queue: 'check-delegation',
  key: ({ domainId }) => `check:${domainId}`,
  turn: ({ turn }) => turn,
  lockMs: SHORT_LOCK_MS,
  connections: 4,
};

export function backgroundChecks(domainIds: readonly number[], turns: readonly number[] = []): CheckJob[] {
  return domainIds.map((domainId, i) => {
    const turn = turns[i];
    return { domainId, kind: 'background', ...(turn !== undefined && { turn }) };
  });
}

/** Look for the TXT record of a domain. */
export interface VerifyJob {
  readonly domainId: number;
  readonly kind: CheckKind;
  /** The same as for a check. */
  readonly request?: string;
  readonly turn?: number;
}

export const VERIFY_TXT: JobKind<VerifyJob> = {
  queue: 'verify-txt',
  key: ({ domainId }) => `verify:${domainId}`,
  keyNow: ({ domainId }) => `verify-now:${domainId}`,
  turn: ({ turn }) => turn,
  lockMs: SHORT_LOCK_MS,
  connections: 2,
};

/** Find the records that a domain has elsewhere, and import them where that is wanted. */
export interface ScanJob {
  readonly scanId: number;
  /** As for a check. */
  readonly turn?: number;
}

export const SCAN_IMPORT: JobKind<ScanJob> = {
  queue: 'scan-import',
  key: ({ scanId }) => `scan:${scanId}`,
  turn: ({ turn }) => turn,
  connections: 2,
};

/** Look at a domain's own zone, at its nameservers. */
export interface ChildJob {
  readonly domainId: number;
}

export const CHECK_CHILD: JobKind<ChildJob> = {
  queue: 'check-child',
  key: ({ domainId }) => `child:${domainId}`,
  connections: 2,
};

/** Send a mail. The row says to whom and of what kind; the job's worker makes its link. */
export interface MailJob {
  readonly mailId: number;
}

export const SEND_MAIL: JobKind<MailJob> = {
  queue: 'send-mail',
  key: ({ mailId }) => `mail:${mailId}`,
  connections: 2,
};

/** Look at the keys of a signed zone, and take the next step with them. */
export interface KeyJob {
  readonly signedZoneId: number;
  /** As for a check. */
  readonly turn?: number;
}

export const ROLL_KEYS: JobKind<KeyJob> = {
  queue: 'roll-keys',
  key: ({ signedZoneId }) => `keys:${signedZoneId}`,
  turn: ({ turn }) => turn,
  connections: 2,
};

export const JOB_KINDS: readonly JobKind<never>[] = [
  CHECK_DELEGATION,
  VERIFY_TXT,
  SCAN_IMPORT,
  CHECK_CHILD,
  SEND_MAIL,
  ROLL_KEYS,
];

/** True for the members of jobs, all of which operators may see: ids, kinds and turns. */
export function isJobMember(name: string): boolean {
  return /^(\w+Id|kind|request|turn)$/.test(name);
}
