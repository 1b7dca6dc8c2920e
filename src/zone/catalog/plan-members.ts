// Decides how a zone is listed in the catalogs that this fleet produces. A zone is a member of one catalog. If it moves to
// another one, both list it for an hour, and the former one names the new one (RFC 9432 §4.3.1).

import { memberLabel } from './print-catalog.ts';

/** A zone, as far as membership depends on it. */
export interface MemberZone {
  readonly id: number;
  readonly version: number;
  /** The catalog that selects the zone, and its group there. Undefined while nodes do not serve the zone whole. */
  readonly wanted: { readonly catalogId: number; readonly group: string | null } | undefined;
  /** True if the zone was deleted since the last round: consumers must discard its content. */
  readonly isReplaced: boolean;
}

/** How a catalog lists the zone. */
export interface Listing {
  readonly catalogId: number;
  readonly label: string;
  readonly group: string | null;
  /** The catalog to which the member moves, or has moved. Undefined if the listing is not of a former member. */
  readonly coo: number | undefined;
}

/** A stored listing. */
export interface StoredListing extends Listing {
  /** True if the member has moved, and consumers had time to notice. */
  readonly isOver: boolean;
}

interface PlannedListings {
  /** All listings after the change. */
  readonly listings: readonly Listing[];
  /** True if the zone must be compared again in the next round, which completes a move. */
  readonly isUnfinished: boolean;
}

/** @param isFull returns true if a catalog takes no further members */
export function planListings(
  { id, version, wanted, isReplaced }: MemberZone,
  stored: readonly StoredListing[],
  isFull: (catalogId: number) => boolean,
): PlannedListings {
  if (wanted === undefined) return { listings: [], isUnfinished: false };
  const { catalogId, group } = wanted;
  const kept = isReplaced ? [] : stored;
  const current = kept.find(({ coo }) => coo === undefined);
  const label = kept[0]?.label ?? memberLabel(id, version); // a member that moves keeps its label
  const member: Listing = { catalogId, label, group, coo: undefined };
  const former = kept.filter(({ coo, isOver }) => coo !== undefined && !isOver);
  const elsewhere = former.filter((listing) => listing.catalogId !== catalogId);
  const done = (...listings: readonly Listing[]) => ({ listings, isUnfinished: false });

  if (current?.catalogId === catalogId) return done(member, ...elsewhere);
  const isListedThere = stored.some((listing) => listing.catalogId === catalogId);
  if (isFull(catalogId) && !isListedThere)
    return current === undefined
      ? done(...kept.slice(0, 1).map((listing) => ({ ...listing, coo: undefined })))
      : done(current, ...former);
  if (current !== undefined)
    return { listings: [{ ...current, coo: catalogId }, ...former], isUnfinished: true };
  // Consumers must know the new catalog before it lists the member.
  const isAnnounced = kept.every((listing) => listing.catalogId === catalogId || listing.coo === catalogId);
  if (isAnnounced || isListedThere) return done(member, ...elsewhere);
  return { listings: kept.map((listing) => ({ ...listing, coo: catalogId })), isUnfinished: true };
}
