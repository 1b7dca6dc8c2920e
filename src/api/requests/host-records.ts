// Finds the domains of the hosts of one batch, and the record name under which each host is counted: visitors can invent any
// number of hosts under a wildcard, but records are limited.

import { recordNamesFor } from '../../edge/monitored-hosts.ts';
import { namesAbove } from '../../edge/requests/host-names.ts';
import {
  type HostDomain,
  loadHostDomains,
  loadProxiedNames,
  type NameIn,
} from '../../store/edges/edge-requests.ts';
import type { Database } from '../../store/postgres/database.ts';

/** A batch is worked on for seconds: what was found is still true then. */
const MOST_REMEMBERED = 50_000;
/** Names that one batch may have looked up: hosts that visitors make up are as many as they like. */
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

/** Names that one batch may have looked up, and of these those of one domain: what is made up in one does not use up the others'. */
const MOST_LOOKED_UP = 20_000;
const MOST_OF_DOMAIN = 2_000;

export class HostRecords {
  readonly #db: Database;
  /** By domain and name, whether there is a proxied record. */
  readonly #known = new Map<string, boolean>();
  /** By domain, how many names were looked up. */
  readonly #looked = new Map<number, number>();

  constructor(db: Database) {
    this.#db = db;
  }

  /**
   * By host, the nearest wildcard, where it has no record of its own. Without any record, and beyond what one batch may look up, it is
   * that of the domain, whether it is there or not. The apex is one name in any case, and its own.
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
    // Hosts that are asked for again and again, and names of few labels, are hardly made up: they come first.
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
