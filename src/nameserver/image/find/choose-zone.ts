// Chooses the zone that answers a query, and keeps an alias chain in it.

import { TYPE } from '../../../dns/type-codes.ts';
import type { Image } from '../image.ts';
import { NameFinder, PLACE } from './find-name.ts';
import { ZoneFinder } from './find-zone.ts';
import type { FoldedName } from './folded-name.ts';

export class ZoneChooser {
  readonly #zones: ZoneFinder;
  /** Checks whether the zone above delegates a name. */
  readonly #parent: NameFinder;

  constructor(image: Image) {
    this.#zones = new ZoneFinder(image);
    this.#parent = new NameFinder(image);
  }

  /**
   * Returns the root of the zone whose apex is the nearest ancestor of a name, or 0. DS belongs to the parent's side of
   * a zone cut (RFC 4035 §3.1.4.1).
   */
  choose(name: FoldedName, qtype: number): number {
    const zones = this.#zones;
    const root = zones.find(name, 0, name.labels);
    if (root === 0 || qtype !== TYPE.DS || zones.apexLabel !== 0 || name.labels === 0) return root;
    const above = zones.find(name, 1, name.labels);
    if (above !== 0) {
      // Only a zone that delegates exactly this name is its parent. NXDOMAIN from another zone would deny the child.
      this.#parent.enter(above);
      if (this.#parent.isNotServed) return above; // it might delegate the name
      const isPublic = !this.#parent.isPrivate; // a zone that is refused must not hide another one
      if (isPublic && this.#parent.walk(name, TYPE.NS) === PLACE.CUT && this.#parent.label === 0)
        return above;
    }
    zones.apexLabel = 0;
    return root;
  }

  /**
   * Returns true if `choose` would select this zone. Compares apexes, because the zone may have been replaced in the meantime.
   */
  leadsTo(zone: NameFinder, name: FoldedName, qtype: number): boolean {
    if (!this.isWithin(zone, name)) return false;
    const apexLabel = name.labels - zone.apexLabels;
    if (qtype !== TYPE.DS) return this.#zones.find(name, 0, apexLabel - 1) === 0;
    return this.choose(name, qtype) !== 0 && name.labels - this.#zones.apexLabel === zone.apexLabels;
  }

  /** Returns true if a name is at or below the apex of the zone. */
  isWithin(zone: NameFinder, name: FoldedName): boolean {
    const label = name.labels - zone.apexLabels;
    return label >= 0 && this.#zones.hasApex(zone.root, name, label);
  }
}
