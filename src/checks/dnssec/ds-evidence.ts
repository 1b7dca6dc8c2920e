// The evidence of a DS observation, without what it means: what each address of the parent's servers said when it was asked
// for the DS set of the domain directly.

import type { Name } from '../../dns/name.ts';

export type DsOutcome =
  /** The reply has AA and the DS set. */
  | 'positive'
  /** The reply has AA, the parent's SOA and no DS set: NODATA or NXDOMAIN. */
  | 'none'
  /** No reply, or one that shows neither: it never moves anything. */
  | 'unknown';

/** What one address of the parent said. */
export interface DsAnswer {
  readonly server: Name;
  /** The address as text without a port; empty where this fleet serves the parent and Postgres was asked. */
  readonly address: string;
  readonly outcome: DsOutcome;
  /** The rdata of the DS set, for `positive`; else empty. */
  readonly ds: readonly Uint8Array[];
  /** The TTL of the DS set, or the negative TTL, in seconds; undefined for `unknown`. */
  readonly ttl: number | undefined;
  /** What was wrong, in words for people; undefined if nothing was. */
  readonly error: string | undefined;
}

export interface DsEvidence {
  readonly domain: Name;
  /** Undefined when the walk failed before it; then no address was asked. */
  readonly parent: Name | undefined;
  /** Every address of every server of the parent, each once. */
  readonly answers: readonly DsAnswer[];
  /** Whether the parent's zone is signed up to the root; undefined: not known. */
  readonly parentIsSecure: boolean | undefined;
  /** Milliseconds since 1970. */
  readonly observedAt: number;
}

/** Prints the rdata as registrars show it: `12345 13 2 ABCD…` (RFC 4034 §5.3). Equal DS have equal texts. */
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

/** `text` is one of `dsText`. */
export function dsFields(text: string): DsFields {
  const [keyTag, algorithm, digestType, digest = ''] = text.split(' ');
  return { keyTag: Number(keyTag), algorithm: Number(algorithm), digestType: Number(digestType), digest };
}
