// Determines how a zone proves denials, from its records: with NSEC3 if the apex has the parameters of a chain, else
// with NSEC. Without a signed SOA there are no proofs.

import { readNsec3 } from '../dns/dnssec/denial.ts';
import { NSEC3_SHA1 } from '../dns/dnssec/nsec3-hash.ts';
import { sortNames } from '../dns/dnssec/sort-names.ts';
import type { Name } from '../dns/name.ts';
import { NSEC3PARAM } from '../dns/record/types/dnssec.ts';
import { WireReader } from '../dns/record/wire-reader.ts';
import { TYPE } from '../dns/type-codes.ts';
import type { Denials, HashedDenial, RecordSet, ZoneNode } from './zone.ts';

export type HashParameters = ReturnType<typeof NSEC3PARAM.decode>;

/** Returns the parameters of the chain that answers use. Records with other flags must be ignored (RFC 5155 §4.1.2). */
export function hashParameters(set: RecordSet | undefined): HashParameters[] {
  const all = (set?.rdata ?? []).map((rdata) => NSEC3PARAM.decode(new WireReader(rdata)));
  return all.filter(({ flags }) => flags === 0);
}

/** How answers prove denials: not at all, with NSEC, or with NSEC3 and these parameters. */
export type DenialStyle = 'none' | 'nsec' | HashParameters;

/** @param sets the sets of the apex */
export function denialStyle(sets: ReadonlyMap<number, RecordSet> | undefined): DenialStyle {
  if ((sets?.get(TYPE.SOA)?.signatures?.length ?? 0) === 0) return 'none';
  const [chain] = hashParameters(sets?.get(TYPE.NSEC3PARAM));
  return chain !== undefined && chain.hashAlgorithm === NSEC3_SHA1 ? chain : 'nsec';
}

export function isSameStyle(one: DenialStyle, other: DenialStyle): boolean {
  if (typeof one === 'string' || typeof other === 'string') return one === other;
  return one.iterations === other.iterations && Buffer.compare(one.salt, other.salt) === 0;
}

/** @param hashed the NSEC3 sets */
export function findDenials(
  apex: Name,
  nodes: ReadonlyMap<Name, ZoneNode>,
  hashed: Iterable<RecordSet>,
): { denials?: Denials; idleDenials?: readonly RecordSet[] } {
  const style = denialStyle(nodes.get(apex)?.sets);
  if (style === 'none') return idleOf([...hashed]);
  if (style === 'nsec') {
    return { denials: { kind: 'nsec', owners: sortNames(nsecOwners(nodes)) }, ...idleOf([...hashed]) };
  }
  const chain = style;
  const { iterations, salt } = chain;
  const entries: HashedDenial[] = [];
  const idle: RecordSet[] = [];
  for (const set of hashed) {
    const hash = hashIn(set, chain, apex);
    if (hash === undefined) idle.push(set);
    else entries.push({ hash, set });
  }
  entries.sort((a, b) => Buffer.compare(a.hash, b.hash));
  return { denials: { kind: 'nsec3', iterations, salt, entries }, ...idleOf(idle) };
}

function idleOf(idle: readonly RecordSet[]): { idleDenials?: readonly RecordSet[] } {
  return idle.length === 0 ? {} : { idleDenials: idle };
}

function* nsecOwners(nodes: ReadonlyMap<Name, ZoneNode>): Generator<Name> {
  for (const { name, sets } of nodes.values()) if (sets.has(TYPE.NSEC)) yield name;
}

/** Returns the hash in the owner of an NSEC3 set. Returns undefined if none of its records belongs to the chain. */
export function hashIn(
  { owner, rdata }: RecordSet,
  chain: HashParameters,
  apex: Name,
): Uint8Array | undefined {
  for (const octets of rdata) {
    const read = readNsec3(owner, octets, apex);
    const isOfChain = read?.iterations === chain.iterations && Buffer.compare(read.salt, chain.salt) === 0;
    if (isOfChain) return read.hash;
  }
  return undefined;
}
