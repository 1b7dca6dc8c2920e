// The queue, name and payload of every kind of job. A job contains ids but no data, which are in Postgres.

import { groupBy } from '../zone/records/group-by.ts';

/** A kind of job, which has its own queue. */
export interface JobKind<J> {
  readonly queue: string;
  /** Returns the key of a background job. Only one job with a key waits or runs. */
  readonly key: (job: J) => string;
  /** The same for jobs that a caller waits for, but a request during a run causes another run after it. */
  readonly keyNow?: (job: J) => string;
  /** Position of the job, lowest first. Undefined for the default position of its kind. */
  readonly turn?: (job: J) => number | undefined;
  /** Time after which jobs of a killed process count as lost, if it differs from the default. */
  readonly lockMs?: number;
  /** Number of connections of its worker in BullMQ's Postgres backend. */
  readonly connections: number;
}

/** Used for jobs that callers wait for: another process starts the jobs of a killed one within 5 seconds. */
const SHORT_LOCK_MS = 3000;

export type CheckKind = 'background' | 'manual' | 'operator';

/** Maximum number of domains in one background job: the queue costs more than the check of a domain. */
export const CHECK_GROUP = 8;

/** Observes a domain's delegation, evaluates it, and saves the result. */
export interface CheckJob {
  readonly domainId: number;
  /** Further domains, which are checked after it. Only for `background`. */
  readonly others?: readonly number[];
  readonly kind: CheckKind;
  /** A UUID that is saved with the run, so that the caller finds it. Only for `manual` and `operator`. */
  readonly request?: string;
  /** Position among the waiting jobs, lowest first. */
  readonly turn?: number;
}

export const CHECK_DELEGATION: JobKind<CheckJob> = {
  queue: 'check-delegation',
  key: ({ domainId, others = [] }) => `check:${[domainId, ...others].join()}`,
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

/** Merges background jobs of one domain each. Jobs of a group have the same turn. */
export function groupChecks(jobs: readonly CheckJob[]): CheckJob[] {
  return group(jobs, CHECK_GROUP, ({ domainId }) => domainId);
}

function group<J extends { readonly turn?: number }>(
  jobs: readonly J[],
  size: number,
  idOf: (job: J) => number,
): (J & { readonly others?: readonly number[] })[] {
  return [...groupBy(jobs, ({ turn }) => turn).values()].flatMap((same) =>
    Array.from({ length: Math.ceil(same.length / size) }, (_, i) => {
      const [first, ...others] = same.slice(i * size, (i + 1) * size);
      return { ...(first as J), ...(others.length > 0 && { others: others.map(idOf) }) };
    }),
  );
}

/** Looks up the TXT record of a domain. */
export interface VerifyJob {
  readonly domainId: number;
  readonly kind: CheckKind;
  /** As for a delegation check. */
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

/** Finds the records that a domain has elsewhere, and imports them if requested. */
export interface ScanJob {
  readonly scanId: number;
  /** As for a delegation check. */
  readonly turn?: number;
}

export const SCAN_IMPORT: JobKind<ScanJob> = {
  queue: 'scan-import',
  key: ({ scanId }) => `scan:${scanId}`,
  turn: ({ turn }) => turn,
  connections: 2,
};

/** Checks a domain's zone on its own nameservers. */
export interface ChildJob {
  readonly domainId: number;
}

export const CHECK_CHILD: JobKind<ChildJob> = {
  queue: 'check-child',
  key: ({ domainId }) => `child:${domainId}`,
  connections: 2,
};

/** Sends a mail. Its row has the address and the kind, and the worker makes its link. */
export interface MailJob {
  readonly mailId: number;
}

export const SEND_MAIL: JobKind<MailJob> = {
  queue: 'send-mail',
  key: ({ mailId }) => `mail:${mailId}`,
  connections: 2,
};

/** Maximum number of zones in one job. Smaller than a group of checks, because each zone may need 120 queries. */
export const KEY_GROUP = 4;

/** Checks the keys of a signed zone, and takes the next step with them. */
export interface KeyJob {
  readonly signedZoneId: number;
  /** Further zones, whose keys are checked after those of the first. */
  readonly others?: readonly number[];
  /** As for a delegation check. */
  readonly turn?: number;
}

export const ROLL_KEYS: JobKind<KeyJob> = {
  queue: 'roll-keys',
  key: ({ signedZoneId, others = [] }) => `keys:${[signedZoneId, ...others].join()}`,
  turn: ({ turn }) => turn,
  connections: 2,
};

/** Merges jobs of one zone each. Jobs of a group have the same turn. */
export function groupKeyJobs(jobs: readonly KeyJob[]): KeyJob[] {
  return group(jobs, KEY_GROUP, ({ signedZoneId }) => signedZoneId);
}

export const JOB_KINDS: readonly JobKind<never>[] = [
  CHECK_DELEGATION,
  VERIFY_TXT,
  SCAN_IMPORT,
  CHECK_CHILD,
  SEND_MAIL,
  ROLL_KEYS,
];

/** True for fields of jobs that operators may see: ids, kinds and turns. */
export function isJobMember(name: string): boolean {
  return /^(\w+Id|others|kind|request|turn)$/.test(name);
}
