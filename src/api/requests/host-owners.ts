// Finds the domains of the hosts of one batch, many at a time, and remembers some of them.

import { namesAbove } from '../../edge/requests/host-names.ts';
import { type HostDomain, loadHostDomains } from '../../store/edges/load-host-domains.ts';
import type { Database } from '../../store/postgres/database.ts';

/** A batch is worked on for seconds: what was found is still true then. */
const MOST_REMEMBERED = 50_000;
/** Names that one batch may have looked up: hosts that visitors make up are as many as they like. */
const MOST_LOOKED_UP = 300_000;

export interface HostOwner {
  readonly domainId: number;
  /** The name of the domain, without the final dot. */
  readonly apex: string;
}

export class HostOwners {
  readonly #db: Database;
  readonly #region: string;
  readonly #known = new Map<string, HostDomain | undefined>();
  #left = MOST_LOOKED_UP;

  constructor(db: Database, region: string) {
    this.#db = db;
    this.#region = region;
  }

  /** By host, the domain that it belongs to, where edges of the region serve it. */
  async find(hosts: Iterable<string>): Promise<Map<string, HostOwner>> {
    if (this.#known.size > MOST_REMEMBERED) this.#known.clear();
    const wanted = new Map([...new Set(hosts)].map((host) => [host, namesAbove(host)]));
    const unknown = [...new Set([...wanted.values()].flat())].filter((name) => !this.#known.has(name));
    const asked = unknown.slice(0, Math.max(0, this.#left));
    this.#left -= asked.length;
    if (asked.length > 0) {
      const found = await loadHostDomains(this.#db, this.#region, asked);
      for (const name of asked) this.#known.set(name, found.get(name));
    }
    const isCut = asked.length < unknown.length;
    const owners = new Map<string, HostOwner>();
    for (const [host, names] of wanted) {
      // A longer name that was not looked up may be another customer's domain.
      if (isCut && names.some((name) => !this.#known.has(name))) continue;
      const name = names.find((each) => this.#known.get(each) !== undefined);
      if (name === undefined) continue;
      const owner = this.#known.get(name);
      if (owner?.isHere === true) owners.set(host, { domainId: owner.id, apex: name });
    }
    return owners;
  }
}
