// The denials of a zone after a change: the names that have one, the types that it lists, and its target.

import { type Name, parentOf } from '../../dns/name.ts';
import type { RecordSet } from '../zone.ts';
import { denialOwner, denialSet, denialType, type Link, placeOf, readLink } from './denial-records.ts';
import { BrokenRing, linkAll, linkDenials } from './link-denials.ts';
import { type DenialKind, denialTypes, namesBetween } from './signed-types.ts';
import type { ZoneDraft } from './zone-draft.ts';

/** A name with a denial, and the types that the denial lists. */
interface Shown {
  readonly name: Name;
  readonly types: readonly number[];
}

interface RingOrder {
  readonly kind: DenialKind;
  readonly ttl: number;
  /** Names whose denials may be added, removed or list other types, except empty non-terminals. */
  readonly names: ReadonlySet<Name>;
  /** Names with a name below them that is not in `names`. */
  readonly peopled: ReadonlySet<Name>;
  /** True if `names` contains all names of the zone: the whole ring is rebuilt. */
  readonly isWhole: boolean;
}

interface DraftedRing {
  /** The denials of the affected names after the change, and those with a new target. */
  readonly sets: readonly RecordSet[];
  /** Owners of removed denials. */
  readonly gone: readonly Name[];
}

export function draftRing(draft: ZoneDraft, order: RingOrder): DraftedRing {
  const { kind, ttl, isWhole } = order;
  const { apex } = draft;
  const shown = shownPlaces(draft, order);
  const links = readLinks(draft, kind);
  const gone = new Set<string>();
  for (const name of concerned(draft, order)) {
    const place = placeOf(name, apex, kind);
    if (!shown.has(place) && links.has(place)) gone.add(place);
  }
  const standing = new Map([...links].map(([place, { link }]) => [place, link.nextPlace]));
  const come = [...shown.keys()].filter((place) => !links.has(place));
  const next = isWhole ? linkAll(shown.keys()) : linkDenials({ standing, come, gone });
  const nameAt = kind === 'nsec' ? nameFinder(shown, links) : undefined;
  const sets: RecordSet[] = [];
  for (const [place, nextPlace] of next) {
    const link = links.get(place);
    const made = shown.get(place);
    if (made === undefined && link?.link.nextPlace === nextPlace) continue;
    const owner = link?.owner ?? denialOwner(place, made?.name as Name, apex, kind);
    const types = made?.types ?? (link as StandingLink).link.types;
    sets.push(denialSet({ owner, ttl, nextPlace, nextName: nameAt?.(nextPlace), types }, kind));
  }
  return { sets, gone: [...gone].map((place) => (links.get(place) as StandingLink).owner) };
}

/** Yields names whose denials may be added or removed: the given ones and, with NSEC3, the empty non-terminals above them. */
function* concerned(draft: ZoneDraft, { kind, names }: RingOrder): Generator<Name> {
  yield* names;
  if (kind === 'nsec') return;
  const seen = new Set<Name>();
  for (const name of names)
    for (const above of namesBetween(name, draft.apex)) {
      if (names.has(above) || seen.has(above)) continue;
      seen.add(above);
      if (draft.setsAt(above).size === 0) yield above;
    }
}

function shownPlaces(draft: ZoneDraft, { kind, names, peopled }: RingOrder): Map<string, Shown> {
  const { apex } = draft;
  const shown = new Map<Name, readonly number[]>();
  for (const name of names) {
    const sets = draft.setsAt(name);
    const depth = draft.depthOf(name);
    if (sets.size > 0 && depth !== 'below') shown.set(name, denialTypes(sets.keys(), depth, kind));
  }
  if (kind === 'nsec3') {
    for (const name of [...shown.keys(), ...peopled])
      for (let above = name; above !== apex; ) {
        above = parentOf(above);
        if (shown.has(above) || draft.setsAt(above).size > 0) continue;
        shown.set(above, []); // an empty non-terminal (RFC 5155 §7.1)
      }
    for (const name of peopled) if (!shown.has(name)) shown.set(name, []);
  }
  return new Map([...shown].map(([name, types]) => [placeOf(name, apex, kind), { name, types }]));
}

interface StandingLink {
  readonly owner: Name;
  readonly link: Link;
}

function readLinks(draft: ZoneDraft, kind: DenialKind): Map<string, StandingLink> {
  const links = new Map<string, StandingLink>();
  for (const [owner, { sets }] of draft.standing.names()) {
    const set = sets.get(denialType(kind));
    const link = set === undefined ? undefined : readLink(set, draft.apex, kind);
    if (link !== undefined) links.set(link.place, { owner, link });
  }
  return links;
}

function nameFinder(
  shown: ReadonlyMap<string, Shown>,
  links: ReadonlyMap<string, StandingLink>,
): (place: string) => Name {
  const names = new Map<string, Name>();
  for (const { owner, link } of links.values()) {
    names.set(link.place, owner);
    if (link.nextName !== undefined) names.set(link.nextPlace, link.nextName);
  }
  for (const [place, { name }] of shown) names.set(place, name);
  return (place) => {
    const name = names.get(place);
    if (name === undefined) throw new BrokenRing('a denial points to a name that was not read');
    return name;
  };
}
