// Evidence of a DS observation without its interpretation: the answer of each address of the parent's servers to a direct
// DS query for the domain.

import type { Name } from '../../dns/name.ts';

export type DsOutcome =
  /** The reply has AA and the DS set. */
  | 'positive'
  /** The reply has AA, the parent's SOA and no DS set: NODATA or NXDOMAIN. */
  | 'none'
  /** No reply, or an unclear one. It never changes anything. */
  | 'unknown';

/** Answer of one address of the parent. */
export interface DsAnswer {
  readonly server: Name;
  /** Address as text without a port. Empty if this fleet serves the parent and Postgres was queried. */
  readonly address: string;
  readonly outcome: DsOutcome;
  /** Rdata of the DS set for `positive`. Otherwise empty. */
  readonly ds: readonly Uint8Array[];
  /** TTL of the DS set, or the negative TTL, in seconds. Undefined for `unknown`. */
  readonly ttl: number | undefined;
  /** Human-readable error. Undefined if there was none. */
  readonly error: string | undefined;
}

export interface DsEvidence {
  readonly domain: Name;
  /** Undefined if the walk failed before it reached the parent. No address was queried then. */
  readonly parent: Name | undefined;
  /** Every address of every server of the parent, without duplicates. */
  readonly answers: readonly DsAnswer[];
  /** True if the parent's zone is signed up to the root. Undefined if this is not known. */
  readonly parentIsSecure: boolean | undefined;
  /** Milliseconds since 1970. */
  readonly observedAt: number;
}

/** Formats the rdata as registrars show it: `12345 13 2 ABCD…` (RFC 4034 §5.3). Equal DS records have equal texts. */
export function dsText(rdata: Uint8Array): string {
  const tag = ((rdata[0] ?? 0) << 8) | (rdata[1] ?? 0);
  return `${tag} ${rdata[2] ?? 0} ${rdata[3] ?? 0} ${Buffer.from(rdata.subarray(4)).toString('hex').toUpperCase()}`;
}

interface DsFields {
  readonly keyTag: number;
  readonly algorithm: number;
  readonly digestType: number;
  readonly digest: string;
}

/** `text` is the result of `dsText`. */
export function dsFields(text: string): DsFields {
  const [keyTag, algorithm, digestType, digest = ''] = text.split(' ');
  return { keyTag: Number(keyTag), algorithm: Number(algorithm), digestType: Number(digestType), digest };
}
