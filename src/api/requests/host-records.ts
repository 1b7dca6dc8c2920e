// Finds the domains of the hosts of one batch, and the record name under which each host is counted. Visitors can
// invent any number of hosts under a wildcard, but the number of records is limited.

import { recordNamesFor } from '../../edge/monitored-hosts.ts';
import { namesAbove } from '../../edge/requests/host-names.ts';
import {
  type HostDomain,
  loadHostDomains,
  loadProxiedNames,
  type NameIn,
} from '../../store/edges/edge-requests.ts';
import type { Database } from '../../store/postgres/database.ts';

/** A batch takes seconds, during which cached results stay valid. */
const MOST_REMEMBERED = 50_000;
/** Names that one batch may look up, because visitors can invent any number of hosts. */
const MOST_HOSTS = 300_000;

interface HostOwner {
  readonly domainId: number;
  /** The name of the domain, without the final dot. */
  readonly apex: string;
}

export class HostOwners {
  readonly #db: Database;
  readonly #region: string;
  readonly #known = new Map<string, HostDomain | undefined>();
  #left = MOST_HOSTS;

  constructor(db: Database, region: string) {
    this.#db = db;
    this.#region = region;
  }

  /** Returns, by host, the domain that it belongs to if edges of the region serve it. */
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

/** Names that one batch may look up, in total and per domain, so that invented ones affect only their domain. */
const MOST_LOOKED_UP = 20_000;
const MOST_OF_DOMAIN = 2_000;

export class HostRecords {
  readonly #db: Database;
  /** By domain and name: true if there is a proxied record. */
  readonly #known = new Map<string, boolean>();
  /** Number of names that were looked up, by domain. */
  readonly #looked = new Map<number, number>();

  constructor(db: Database) {
    this.#db = db;
  }

  /**
   * Returns, by host, the nearest wildcard, for hosts without a record of their own. If there is no record, or the
   * limit of lookups is reached, it is the wildcard of the domain, whether or not it exists. The apex always counts
   * as itself.
   */
  async find(
    lines: readonly { readonly host: string }[],
    owners: ReadonlyMap<string, HostOwner>,
  ): Promise<Map<string, string>> {
    const candidates = [...owners]
      .filter(([host, { apex }]) => host !== apex)
      .map(([host, { domainId, apex }]) => ({
        host,
        apex,
        names: recordNamesFor(host, apex).map((name) => ({ domainId, name })),
      }));
    // Hosts that occur often, and names with few labels, are probably not invented. They are looked up first.
    const times = countsOf(lines);
    const first = candidates.toSorted(
      (a, b) => (times.get(b.host) ?? 0) - (times.get(a.host) ?? 0) || a.names.length - b.names.length,
    );
    await this.#look(first.flatMap(({ names }) => names));
    const counted = new Map<string, string>();
    for (const { host, apex, names } of candidates) {
      const own = names.find((each) => this.#known.get(keyOf(each)) === true)?.name ?? `*.${apex}`;
      if (own !== host) counted.set(host, own);
    }
    return counted;
  }

  async #look(names: readonly NameIn[]): Promise<void> {
    const asked: NameIn[] = [];
    for (const each of names) {
      const key = keyOf(each);
      if (this.#known.has(key) || !this.#mayLook(each.domainId)) continue;
      this.#known.set(key, false);
      asked.push(each);
    }
    if (asked.length === 0) return;
    for (const found of await loadProxiedNames(this.#db, asked)) this.#known.set(keyOf(found), true);
  }

  #mayLook(domainId: number): boolean {
    const looked = this.#looked.get(domainId) ?? 0;
    if (this.#known.size >= MOST_LOOKED_UP || looked >= MOST_OF_DOMAIN) return false;
    this.#looked.set(domainId, looked + 1);
    return true;
  }
}

function countsOf(lines: readonly { readonly host: string }[]): Map<string, number> {
  const times = new Map<string, number>();
  for (const { host } of lines) times.set(host, (times.get(host) ?? 0) + 1);
  return times;
}

function keyOf({ domainId, name }: NameIn): string {
  return `${domainId} ${name}`;
}
