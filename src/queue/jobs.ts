// Every job's name and payload. Ids and not contents: a job says what to look at, and what is true is in Postgres.

export const CHECK_QUEUE = 'check-delegation';

export type CheckKind = 'background' | 'manual' | 'operator';

/** Observe a domain's delegation, judge it, save what follows. */
export interface CheckJob {
  readonly domainId: number;
  readonly kind: CheckKind;
  /** A UUID that the run is saved with, by which whoever asked finds it; only for `manual` and `operator`. */
  readonly request?: string;
}
