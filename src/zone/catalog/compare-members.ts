// Compares the members of a catalog's new version with those that are copied, and decides which names a catalog of
// another operator may take.

import { isWildcard, type Name, ROOT } from '../../dns/name.ts';
import { isPublicSuffix } from '../domain/public-suffix.ts';
import type { CatalogMember } from './read-catalog.ts';

/** A member as it is to be stored. */
export interface WantedMember {
  readonly name: string;
  readonly label: string;
  readonly group: string | null;
  readonly coo: string | null;
}

export interface StoredMember extends WantedMember {
  /** True if the member is not copied, because its name is taken. */
  readonly isSkipped: boolean;
}

export interface Comparison {
  /** Members to copy, and skipped ones whose properties have changed. */
  readonly joins: readonly WantedMember[];
  /** Members that are no longer listed. Skipped ones are only forgotten. */
  readonly leaves: readonly StoredMember[];
  /** Copied members with another label: their zones are removed and transferred again (RFC 9432 §5.4, §5.6). */
  readonly resets: readonly WantedMember[];
  /** Copied members with another group or `coo`. */
  readonly updates: readonly WantedMember[];
  /** Number of members that are copied, and how many of them would be removed or reset. */
  readonly copied: number;
  readonly removals: number;
}

/** @param groups the groups that have a local policy */
export function compareMembers(
  stored: Iterable<StoredMember>,
  listed: ReadonlyMap<string, CatalogMember>,
  groups: ReadonlySet<string>,
): Comparison {
  const joins: WantedMember[] = [];
  const leaves: StoredMember[] = [];
  const resets: WantedMember[] = [];
  const updates: WantedMember[] = [];
  const known = new Set<string>();
  let copied = 0;
  let removals = 0;
  for (const member of stored) {
    known.add(member.name);
    if (!member.isSkipped) copied++;
    const now = listed.get(member.name);
    if (!member.isSkipped && now?.label !== member.label) removals++;
    if (now === undefined) {
      leaves.push(member);
      continue;
    }
    const want = wanted(now, groups);
    if (isSame(member, want)) continue;
    if (member.isSkipped) joins.push(want);
    else if (want.label !== member.label) resets.push(want);
    else updates.push(want);
  }
  for (const member of listed.values()) if (!known.has(member.name)) joins.push(wanted(member, groups));
  return { joins, leaves, resets, updates, copied, removals };
}

/** If a member has several groups, the first with a policy applies (RFC 9432 §4.3.2). A group without one is only shown. */
function wanted({ name, label, groups, coo }: CatalogMember, known: ReadonlySet<string>): WantedMember {
  const group = groups.find((each) => known.has(each)) ?? groups[0] ?? null;
  return { name, label, group, coo: coo ?? null };
}

function isSame(a: WantedMember, b: WantedMember): boolean {
  return a.label === b.label && a.group === b.group && a.coo === b.coo;
}

const LEAST_HELD = 100;

/** Returns true if a version needs a confirmation, because it would empty most of the catalog. */
export function needsConfirmation({ copied, removals }: Pick<Comparison, 'copied' | 'removals'>): boolean {
  return removals >= LEAST_HELD && removals > copied / 2;
}

/** A domain, zone or member that has the name of a member or one above it, or a nameserver around that name. */
export type Occupant = { readonly name: string } & (
  | { readonly kind: 'domain' | 'zone' | 'nameserver' }
  /** A member that a consumed catalog copies. */
  | {
      readonly kind: 'member';
      readonly catalog: string;
      /** The catalog that may take it over. */
      readonly coo: string | null;
      /** True if both catalogs have a primary in common. */
      readonly hasSamePeer: boolean;
    }
);

type Claim =
  | { readonly kind: 'free' }
  /** The member moves from another catalog (RFC 9432 §4.3.1). */
  | { readonly kind: 'moves' }
  /** `why` is a predicate whose subject is the member. */
  | { readonly kind: 'taken'; readonly why: string };

/**
 * Returns the reason why no catalog may have this name, as a predicate, or undefined. Customers cannot claim names around
 * copied zones, so a public suffix would reserve all names below it.
 */
export function whyNeverMember(name: Name): string | undefined {
  if (name === ROOT) return 'is the root';
  if (isWildcard(name)) return 'is a wildcard';
  return isPublicSuffix(name) ? 'is a public suffix' : undefined;
}

/** The reason for not copying a member that its new catalog has taken. It is not reported as a finding. */
export const HAS_MOVED = 'moved to its new catalog';

/**
 * Decides whether a catalog may copy a member. A name that exists is never taken over (RFC 9432 §5.2), except from
 * another catalog of the same peer that allows it. A member must not hide a part of another account's zone
 * either, so names below such zones are refused, too. A member above a zone does not change the zone's answers.
 */
export function judgeMember(
  { name, coo }: Pick<WantedMember, 'name' | 'coo'>,
  catalog: string,
  occupants: readonly Occupant[],
): Claim {
  const taken = (why: string): Claim => ({ kind: 'taken', why });
  const others = occupants.filter((other) => other.kind !== 'member' || other.catalog !== catalog);
  const at = others.find((other) => other.kind === 'member' && other.name === name);
  if (at?.kind === 'member') {
    if (at.coo === catalog && at.hasSamePeer) return { kind: 'moves' };
    return taken(coo === at.catalog ? HAS_MOVED : `is a member of ${at.catalog}`);
  }
  const [other] = others;
  if (other === undefined) return { kind: 'free' };
  if (other.kind === 'member') return taken(`is below ${other.name}, a member of ${other.catalog}`);
  const isAt = other.name === name;
  if (other.kind === 'nameserver') return taken(`is a name around the nameserver ${other.name}`);
  if (other.kind === 'domain')
    return taken(isAt ? "is a customer's domain" : `is below the customer's domain ${other.name}`);
  return taken(isAt ? 'is a zone of this fleet' : `is below the zone ${other.name} of this fleet`);
}
