// Plans the signatures over edge sets of regions at a proxied name of a signed zone: those to keep and those to make.

import { readSignature } from '../../dns/dnssec/signed-octets.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { type EdgeSets, idOfSet, rdataOfSet, SET_ID_OCTETS } from '../edge-sets.ts';
import { EDGE_MARK_TYPE, edgeMarkOf, type ZoneRecord } from '../zone.ts';
import type { SetToSign } from './sign-set.ts';
import type { SigningKey } from './signing-key.ts';
import { isKept, type StandingName } from './standing.ts';

export interface RegionalSet {
  readonly type: number;
  readonly id: Uint8Array;
  readonly rdata: readonly Uint8Array[];
}

/** Returns the newest sets of all regions, over which names need signatures. */
export function setsToSign({ regions }: EdgeSets): RegionalSet[] {
  const sets = regions.flatMap(({ v4, v6 }) => [
    { type: TYPE.A, rdata: rdataOfSet(TYPE.A, v4[0] ?? []) },
    { type: TYPE.AAAA, rdata: rdataOfSet(TYPE.AAAA, v6[0] ?? []) },
  ]);
  const known = new Map<string, RegionalSet>();
  for (const set of sets) {
    if (set.rdata.length === 0) continue;
    const id = idOfSet(set.type, set.rdata);
    known.set(Buffer.from(id).toString('hex'), { ...set, id });
  }
  return [...known.values()];
}

export interface PlannedMarks {
  readonly kept: readonly ZoneRecord[];
  readonly toSign: readonly (SetToSign & { readonly id: Uint8Array })[];
  /** True if nothing has to be written. */
  readonly isSame: boolean;
  /** The earliest expiration of the kept signatures, in seconds since 1970. */
  readonly expiresAt: number | undefined;
}

/** `existing` is the name with an edge mark. Signatures that expire before `remakeBefore` are renewed. */
export function planEdgeMarks(
  existing: StandingName,
  sets: readonly RegionalSet[],
  keys: readonly SigningKey[],
  remakeBefore: number,
): PlannedMarks {
  const marks = existing.sets.get(EDGE_MARK_TYPE);
  if (marks === undefined) return { kept: [], toSign: [], isSame: true, expiresAt: undefined };
  const { owner } = marks;
  const kept: ZoneRecord[] = [edgeMarkOf(owner)];
  const toSign: PlannedMarks['toSign'][number][] = [];
  let expiresAt: number | undefined;
  for (const { type, id, rdata } of sets) {
    const own = existing.sets.get(type);
    if (own === undefined) continue; // the name's denial does not list this type, so it cannot be answered (RFC 4035 §3.1.3.1)
    const { ttl } = own;
    const over = marks.rdata.filter((one) => Buffer.compare(one.subarray(0, SET_ID_OCTETS), id) === 0);
    const signing = (existing.signatures.get(type) ?? []).map(readSignature);
    for (const { algorithm, keyTag: tag } of [...signing, ...keys.map(asSigned)]) {
      const isMade = (one: ZoneRecord) => over.includes(one.rdata) && isOf(one.rdata, algorithm, tag);
      if (kept.some(isMade)) continue;
      const one = over.find((mark) =>
        isKept(mark.subarray(SET_ID_OCTETS), { key: { tag, algorithm }, ttl, before: remakeBefore }),
      );
      if (one !== undefined) {
        kept.push({ ...edgeMarkOf(owner), rdata: one });
        const { expiration } = readSignature(one.subarray(SET_ID_OCTETS));
        expiresAt = Math.min(expiresAt ?? expiration, expiration);
        continue;
      }
      const key = keys.find((known) => known.tag === tag && known.algorithm === algorithm);
      const isPlanned = toSign.some((planned) => planned.id === id && planned.key === key);
      if (key !== undefined && !isPlanned) toSign.push({ set: { owner, type, ttl, rdata }, key, id });
    }
  }
  return { kept, toSign, isSame: toSign.length === 0 && kept.length === marks.rdata.length, expiresAt };
}

function asSigned({ algorithm, tag }: SigningKey): { algorithm: number; keyTag: number } {
  return { algorithm, keyTag: tag };
}

function isOf(mark: Uint8Array, algorithm: number, tag: number): boolean {
  const signature = readSignature(mark.subarray(SET_ID_OCTETS));
  return signature.algorithm === algorithm && signature.keyTag === tag;
}

/** Returns the mark with a signature over a region's set. */
export function markOfSignature({ set, id }: PlannedMarks['toSign'][number], rdata: Uint8Array): ZoneRecord {
  return { ...edgeMarkOf(set.owner), rdata: Uint8Array.from([...id, ...rdata]) };
}
