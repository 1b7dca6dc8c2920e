// The rows of one owner after a change: its sets, the signatures to keep, and those to make.

import type { Name } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { EDGE_MARK_TYPE, type RecordSet, type ZoneRecord } from '../zone.ts';
import type { SetToSign } from './sign-set.ts';
import { type Depth, isSigned } from './signed-types.ts';
import type { ZoneKeys } from './signing-key.ts';
import { isKept, isSameSet, type StandingName } from './standing.ts';

/** The content of an owner after the change. */
export interface OwnerRows {
  readonly owner: Name;
  /** Only rows of these types are replaced. If absent, all rows of the owner are. */
  readonly types?: readonly number[];
  /** True if nothing is published at the owner, so that no row is replaced. */
  readonly isNew?: boolean;
  readonly records: readonly ZoneRecord[];
}

/** Rows without the signatures that are still to be made. */
export interface PlannedRows extends OwnerRows {
  readonly toSign: readonly SetToSign[];
}

export interface Signers {
  readonly apex: Name;
  readonly keys: ZoneKeys;
  /** Signatures that expire before this are renewed, in seconds since 1970. */
  readonly remakeBefore: number;
}

/** Sets at the apex that must be signed by a key to which the parent's DS refers (RFC 7344 §4.1). */
const OF_ENTRY: ReadonlySet<number> = new Set([TYPE.DNSKEY, TYPE.CDS, TYPE.CDNSKEY]);

/** Returns undefined if no row changes. `sets` are all sets that the owner has after the change. */
export function planOwner(
  owner: Name,
  { sets, depth, before }: { sets: readonly RecordSet[]; depth: Depth; before: StandingName },
  signers: Signers,
): PlannedRows | undefined {
  const records: ZoneRecord[] = [];
  const toSign: SetToSign[] = [];
  let isSame = sets.length === before.sets.size;
  for (const given of sets) {
    const existing = before.sets.get(given.type);
    // the publisher of the name only knows that it is the edge's; signatures over edge sets of regions are made separately
    const set = given.type === EDGE_MARK_TYPE && existing !== undefined ? existing : given;
    const { type, ttl } = set;
    isSame &&= existing !== undefined && hasSameOctets(set, existing);
    for (const rdata of set.rdata) records.push({ owner, type, ttl, rdata });
    const planned = isSigned(type, depth) ? planSignatures(set, before, signers) : NONE;
    records.push(...planned.kept);
    toSign.push(...planned.toSign);
    isSame &&= planned.kept.length === (before.signatures.get(type)?.length ?? 0);
  }
  for (const covered of before.signatures.keys()) isSame &&= before.sets.has(covered);
  return isSame && toSign.length === 0 ? undefined : { owner, records, toSign };
}

/** Plans the NSEC of a name that is otherwise unchanged. Its signatures over other sets are kept. */
export function planNeighbour(set: RecordSet, before: StandingName, signers: Signers): PlannedRows {
  const { owner, type, ttl } = set;
  const others = [...before.signatures].filter(([covered]) => covered !== type);
  const { kept, toSign } = planSignatures(set, before, signers);
  const records = [
    ...set.rdata.map((rdata) => ({ owner, type, ttl, rdata })),
    ...others.flatMap(([, signatures]) => signatures.map((rdata) => signatureRecord(owner, rdata))),
    ...kept,
  ];
  return { owner, types: [type, TYPE.RRSIG], records, toSign };
}

const NONE = { kept: [], toSign: [] } as const;

/** Plans one signature by each key that signs sets of the type. */
export function planSignatures(
  set: RecordSet,
  before: StandingName,
  { apex, keys, remakeBefore }: Signers,
): { kept: ZoneRecord[]; toSign: SetToSign[] } {
  const { owner, type, ttl } = set;
  const existing = before.sets.get(type);
  const found = existing !== undefined && isSameSet(existing, set) ? (before.signatures.get(type) ?? []) : [];
  const kept: ZoneRecord[] = [];
  const toSign: SetToSign[] = [];
  for (const key of owner === apex && OF_ENTRY.has(type) ? keys.entry : keys.data) {
    const one = found.find((rdata) => isKept(rdata, { key, ttl, before: remakeBefore }));
    if (one === undefined) toSign.push({ set, key });
    else kept.push({ owner, type: TYPE.RRSIG, ttl, rdata: one });
  }
  return { kept, toSign };
}

/** Returns the rows with the signatures, one for each in `toSign`. */
export function signedRows(
  { owner, types, records, toSign }: PlannedRows,
  signatures: Iterator<Uint8Array>,
): OwnerRows {
  const fresh = toSign.map(() => signatureRecord(owner, signatures.next().value as Uint8Array));
  return { owner, ...(types !== undefined && { types }), records: [...records, ...fresh] };
}

/** Uses the original TTL of the signature, which is the set's (RFC 4034 §3). */
function signatureRecord(owner: Name, rdata: Uint8Array): ZoneRecord {
  const ttl = new DataView(rdata.buffer, rdata.byteOffset).getUint32(ORIGINAL_TTL);
  return { owner, type: TYPE.RRSIG, ttl, rdata };
}

const ORIGINAL_TTL = 4;

function hasSameOctets(a: RecordSet, b: RecordSet): boolean {
  if (a.ttl !== b.ttl || a.rdata.length !== b.rdata.length) return false;
  const sorted = ({ rdata }: RecordSet) => [...rdata].sort(Buffer.compare);
  const others = sorted(b);
  return sorted(a).every((octets, i) => Buffer.compare(octets, others[i] as Uint8Array) === 0);
}
