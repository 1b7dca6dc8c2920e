// The change of one catalog in a round, before it is written.

import type { Name } from '../../dns/name.ts';
import { decodeNameColumn } from '../../store/postgres/name-column.ts';
import type { LockedZone } from '../../store/zones/write-zone.ts';
import type { Listing } from '../../zone/catalog/plan-members.ts';
import { memberRows } from '../../zone/catalog/print-catalog.ts';
import type { OwnerRows } from '../../zone/signing/plan-rows.ts';
import type { ComparedZone } from './sql-compare.ts';

export interface ChangedListing {
  readonly zoneId: number;
  readonly name: string;
  readonly before: Listing | undefined;
  readonly after: Listing | undefined;
}

/** The change of one catalog, whose zone is locked. */
export class Draft {
  readonly catalogId: number;
  readonly zone: LockedZone;
  readonly apex: Name;
  joined = 0;
  left = 0;
  isChanged = false;
  /** Growth of the zone's number of records. */
  growth = 0;
  #listings: ChangedListing[] = [];

  constructor(catalogId: number, zone: LockedZone) {
    this.catalogId = catalogId;
    this.zone = zone;
    this.apex = decodeNameColumn(zone.name);
  }

  /** Adds the change of a zone's listing in this catalog, if it changes. */
  add({ id: zoneId, name, stored }: ComparedZone, planned: readonly Listing[]): void {
    const isHere = ({ catalogId }: Listing) => catalogId === this.catalogId;
    const listed = stored.find(isHere);
    const before: Listing | undefined = listed;
    const after = planned.find(isHere);
    const isSame =
      before?.label === after?.label && before?.group === after?.group && before?.coo === after?.coo;
    if (isSame) return;
    this.#listings.push({ zoneId, name: (listed?.name ?? name) as string, before, after });
    if (after !== undefined && before?.label !== after.label) this.joined++;
    if (before !== undefined && before.label !== after?.label) this.left++;
    this.isChanged = true;
  }

  /** Returns the listings added since the last call. */
  take(): readonly ChangedListing[] {
    const taken = this.#listings;
    this.#listings = [];
    return taken;
  }

  /** Returns the rows of listings. `names` are the names of catalogs. */
  rowsOf(listings: readonly ChangedListing[], names: ReadonlyMap<number, Name>): OwnerRows[] {
    return listings.flatMap(({ name, before, after }) => {
      const member = decodeNameColumn(name);
      // A former catalog that was removed has no name. Only the owner of a removed record matters.
      const listed = (listing: Listing | undefined) =>
        listing && {
          name: member,
          label: listing.label,
          group: listing.group ?? undefined,
          coo: listing.coo === undefined ? undefined : (names.get(listing.coo) ?? this.apex),
        };
      return memberRows(this.apex, listed(before), listed(after));
    });
  }
}
