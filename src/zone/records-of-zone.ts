// Lists a zone's records. Building a zone from them yields the same zone. Marks are left out.

import { TYPE } from '../dns/type-codes.ts';
import type { RecordSet, Zone, ZoneRecord } from './zone.ts';

/** Each set has one TTL and distinct rdata. Signatures have the TTL of their set (RFC 4034 §3). */
export function* recordsOfZone({ nodes, denials, idleDenials = [] }: Zone): Generator<ZoneRecord> {
  for (const node of nodes.values()) for (const set of node.sets.values()) yield* recordsOfSet(set);
  if (denials?.kind === 'nsec3') for (const { set } of denials.entries) yield* recordsOfSet(set);
  for (const set of idleDenials) yield* recordsOfSet(set);
}

function* recordsOfSet({ owner, type, ttl, rdata, signatures = [] }: RecordSet): Generator<ZoneRecord> {
  for (const one of rdata) yield { owner, type, ttl, rdata: one };
  for (const one of signatures) yield { owner, type: TYPE.RRSIG, ttl, rdata: one };
}
