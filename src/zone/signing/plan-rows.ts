// The rows of one owner after a change: its sets, the signatures that stay, and those that are to be made.

import type { Name } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { EDGE_MARK_TYPE, type RecordSet, type ZoneRecord } from '../zone.ts';
import type { SetToSign } from './sign-set.ts';
import { type Depth, isSigned } from './signed-types.ts';
import type { ZoneKeys } from './signing-key.ts';
import { isKept, isSameSet, type StandingName } from './standing.ts';

/** What stands at an owner after the change. */
export interface OwnerRows {
  readonly owner: Name;
  /** Rows of these types are replaced; absent: all rows of the owner. */
  readonly types?: readonly number[];
  readonly records: readonly ZoneRecord[];
}

/** Rows without the signatures that are to be made. */
export interface PlannedRows extends OwnerRows {
  readonly toSign: readonly SetToSign[];
}

export interface Signers {
  readonly apex: Name;
  readonly keys: ZoneKeys;
  /** Signatures that end before this are made anew, in seconds since 1970. */
  readonly remakeBefore: number;
}

/** At the apex. RFC 7344 §4.1: the parent must find these signed by a key that its DS names. */
const OF_ENTRY: ReadonlySet<number> = new Set([TYPE.DNSKEY, TYPE.CDS, TYPE.CDNSKEY]);

/** Undefined when all rows stay as they are. `sets` are all that the owner has after the change. */
export function planOwner(
  owner: Name,
  { sets, depth, before }: { sets: readonly RecordSet[]; depth: Depth; before: StandingName },
  signers: Signers,
): PlannedRows | undefined {
  const records: ZoneRecord[] = [];
  const toSign: SetToSign[] = [];
  let isSame = sets.length === before.sets.size;
  for (const given of sets) {
    const stood = before.sets.get(given.type);
    // whoever publishes the name knows only that it is the edge's; signatures over sets of regions are made apart
    const set = given.type === EDGE_MARK_TYPE && stood !== undefined ? stood : given;
    const { type, ttl } = set;
    isSame &&= stood !== undefined && hasSameOctets(set, stood);
    for (const rdata of set.rdata) records.push({ owner, type, ttl, rdata });
    const planned = isSigned(type, depth) ? planSignatures(set, before, signers) : NONE;
    records.push(...planned.kept);
    toSign.push(...planned.toSign);
    isSame &&= planned.kept.length === (before.signatures.get(type)?.length ?? 0);
  }
  for (const covered of before.signatures.keys()) isSame &&= before.sets.has(covered);
  return isSame && toSign.length === 0 ? undefined : { owner, records, toSign };
}

/** The NSEC of a name that is not touched itself. Its signatures over other sets stay. */
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

/** One signature of each key that signs sets of the type. */
export function planSignatures(
  set: RecordSet,
  before: StandingName,
  { apex, keys, remakeBefore }: Signers,
): { kept: ZoneRecord[]; toSign: SetToSign[] } {
  const { owner, type, ttl } = set;
  const stood = before.sets.get(type);
  const found = stood !== undefined && isSameSet(stood, set) ? (before.signatures.get(type) ?? []) : [];
  const kept: ZoneRecord[] = [];
  const toSign: SetToSign[] = [];
  for (const key of owner === apex && OF_ENTRY.has(type) ? keys.entry : keys.data) {
    const one = found.find((rdata) => isKept(rdata, { key, ttl, before: remakeBefore }));
    if (one === undefined) toSign.push({ set, key });
    else kept.push({ owner, type: TYPE.RRSIG, ttl, rdata: one });
  }
  return { kept, toSign };
}

/** With as many of these signatures as are to be made. */
export function signedRows(
  { owner, types, records, toSign }: PlannedRows,
  signatures: Iterator<Uint8Array>,
): OwnerRows {
  const fresh = toSign.map(() => signatureRecord(owner, signatures.next().value as Uint8Array));
  return { owner, ...(types !== undefined && { types }), records: [...records, ...fresh] };
}

/** The TTL of a signature is the one that it was made over, the set's (RFC 4034 §3). */
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
