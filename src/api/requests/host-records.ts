// Under which name the hosts of one batch are kept for long: that of the record that is theirs. Visitors make up hosts under a wildcard,
// as many as they like, and records are the customer's, and counted.

import { recordNamesFor } from '../../edge/uptime/monitored-hosts.ts';
import { loadProxiedNames } from '../../store/edges/load-proxied-names.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { HostOwner } from './host-owners.ts';

const MOST_REMEMBERED = 50_000;
/** Names that one batch may have looked up: a host of many labels has as many wildcards above it. */
const MOST_LOOKED_UP = 300_000;

export class HostRecords {
  readonly #db: Database;
  /** By domain and name, whether there is a proxied record. */
  readonly #known = new Map<string, boolean>();
  #left = MOST_LOOKED_UP;

  constructor(db: Database) {
    this.#db = db;
  }

  /**
   * By host, the nearest wildcard, where it has no record of its own. Without any record, and beyond what one batch may look up, it is
   * that of the domain, whether it is there or not.
   */
  async wildcards(owners: ReadonlyMap<string, HostOwner>): Promise<Map<string, string>> {
    if (this.#known.size > MOST_REMEMBERED) this.#known.clear();
    const candidates = [...owners].map(([host, { domainId, apex }]) => ({
      host,
      apex,
      names: recordNamesFor(host, apex).map((name) => ({ domainId, name })),
    }));
    await this.#look(candidates.flatMap(({ names }) => names));
    const wildcards = new Map<string, string>();
    for (const { host, apex, names } of candidates) {
      const own = names.find((each) => this.#known.get(keyOf(each)) === true)?.name ?? `*.${apex}`;
      if (own !== host) wildcards.set(host, own);
    }
    return wildcards;
  }

  async #look(names: readonly NameOf[]): Promise<void> {
    const unknown = new Map(
      names.map((each) => [keyOf(each), each] as const).filter(([key]) => !this.#known.has(key)),
    );
    const asked = [...unknown].slice(0, Math.max(0, this.#left));
    this.#left -= asked.length;
    if (asked.length === 0) return;
    for (const [key] of asked) this.#known.set(key, false);
    const found = await loadProxiedNames(
      this.#db,
      asked.map(([, each]) => each),
    );
    for (const each of found) this.#known.set(keyOf(each), true);
  }
}

interface NameOf {
  readonly domainId: number;
  readonly name: string;
}

function keyOf({ domainId, name }: NameOf): string {
  return `${domainId} ${name}`;
}
