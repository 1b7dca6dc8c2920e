// Parses purge targets, computes the progress of purges, and combines the operations of reports.

/** Hosts are in lowercase, without a port. A path begins with `/`; a query has no `?`. */
export type PurgeTarget =
  | { readonly kind: 'all' }
  | { readonly kind: 'host'; readonly host: string }
  /** Every path that begins with `path`, with any query. */
  | { readonly kind: 'prefix'; readonly host: string; readonly path: string }
  | {
      readonly kind: 'url';
      readonly host: string;
      readonly path: string;
      readonly query: string;
      /** The edge fetches the URL again after deleting its entry. */
      readonly refresh?: true;
    }
  /** One row of the cache registry, as its edge named it. */
  | { readonly kind: 'stored'; readonly hostname: string; readonly store_path: string };

interface PurgeWish {
  readonly host?: string | undefined;
  readonly url?: string | undefined;
  readonly prefix?: string | undefined;
  readonly hostname?: string | undefined;
  readonly store_path?: string | undefined;
}

interface PurgeProblem {
  readonly field: string;
  readonly error: string;
}

const FIELDS = ['host', 'url', 'prefix', 'hostname'] as const;
const HOST = /^(?:\*\.)?[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/;

/** Parses what a purge selects. `domain` has no final dot. An empty wish selects everything. */
export function readPurgeTarget(domain: string, wish: PurgeWish): PurgeTarget | { problem: PurgeProblem } {
  const fields = FIELDS.filter((field) => wish[field] !== undefined);
  if (wish.store_path !== undefined && wish.hostname === undefined)
    return wrong('hostname', 'required with store_path: a row of cache/keys has both');
  if (wish.hostname !== undefined && wish.store_path === undefined)
    return wrong('store_path', 'required with hostname: a row of cache/keys has both');
  const [field, other] = fields;
  if (field === undefined) return { kind: 'all' };
  if (other !== undefined) return wrong(other, `only one of ${fields.join(', ')} can be given`);
  const text = wish[field] as string;
  if (field === 'host' || field === 'hostname') {
    const host = readHost(text);
    if (host === undefined) return wrong(field, 'expected a host name, without scheme, port and path');
    if (!isWithin(host, domain)) return wrong(field, foreign(host, domain));
    if (field === 'host') return { kind: 'host', host };
    return { kind: 'stored', hostname: host, store_path: wish.store_path as string };
  }
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text))
    return wrong(field, 'expected a full URL that begins with http:// or https://');
  const { hostname, pathname, search, hash, username, password } = new URL(text);
  if (username !== '' || password !== '' || hash !== '')
    return wrong(field, 'URLs with a user, a password or a fragment are never cached');
  const host = hostname.replace(/\.$/, '');
  if (!isWithin(host, domain)) return wrong(field, foreign(host, domain));
  if (field === 'url') return { kind: 'url', host, path: pathname, query: search.slice(1) };
  if (search !== '') return wrong(field, 'a prefix must not have a query: it selects paths with any query');
  return { kind: 'prefix', host, path: pathname };
}

/** Returns the host in lowercase, as A-labels. Returns undefined if it is invalid. */
function readHost(text: string): string | undefined {
  const [, star = '', name = ''] = /^(\*\.)?([^\s/:?#@%*\\[\]]+)$/.exec(text) ?? [];
  if (name === '' || !URL.canParse(`http://${name}/`)) return undefined;
  const host = star + new URL(`http://${name}/`).hostname.replace(/\.$/, '');
  return HOST.test(host) ? host : undefined;
}

function wrong(field: string, error: string): { problem: PurgeProblem } {
  return { problem: { field, error } };
}

function foreign(host: string, domain: string): string {
  return `${host.slice(0, 255)} does not belong to the domain ${domain}`;
}

function isWithin(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`);
}

interface AtEdge {
  /** False if the edge is offline. Such an edge gets no visitors, and does the purge when it is back. */
  readonly isLive: boolean;
  readonly doneAt: Date | null;
}

interface Progress {
  /** Number of edges that must complete the purge: they are online, or have already completed it. */
  readonly edges: number;
  readonly done: number;
  readonly finished: boolean;
}

/** `replacedBy` is the purge that edges do instead. */
export function purgeProgress(edges: readonly AtEdge[], replacedBy: number | null): Progress {
  const counted = edges.filter(({ isLive, doneAt }) => isLive || doneAt !== null);
  const done = counted.filter(({ doneAt }) => doneAt !== null).length;
  // Edges that are all offline may still serve visitors.
  const isSilent = counted.length === 0 && edges.length > 0;
  const finished = replacedBy === null && done === counted.length && !isSilent;
  return { edges: counted.length, done, finished };
}

/** A response that an edge cached. Times are from the edge's clock. */
interface ReportedEntry {
  readonly host: string;
  readonly path: string;
  readonly query: string;
  readonly variant: string;
  readonly method: string;
  readonly hostname: string;
  readonly store_path: string;
  readonly key_hash: string;
  readonly cache_key: string;
  readonly l2_key: string;
  readonly size: number;
  readonly cached_at: string;
  readonly expires_at: string;
}

export type CacheOperation =
  | ({ readonly op: 'stored' } & ReportedEntry)
  | { readonly op: 'evicted'; readonly domain_id: number; readonly key_hash: string; readonly at: string }
  /** All entries of the domain were deleted. */
  | { readonly op: 'cleared'; readonly domain_id: number; readonly at: string }
  /** All earlier entries of the edge were deleted. */
  | { readonly op: 'restarted'; readonly at: string };

interface Eviction {
  readonly domain_id: number;
  readonly key_hash: string;
  readonly at: string;
}

interface StoredEntry extends ReportedEntry {
  readonly domain_id: number;
}

export interface FoldedReport {
  readonly restartedAt: string | undefined;
  /** Time of the last clearing, by domain id. */
  readonly cleared: ReadonlyMap<number, string>;
  readonly evicted: readonly Eviction[];
  readonly stored: readonly StoredEntry[];
  /** Number of entries whose host the edge does not serve. */
  readonly foreign: number;
}

/** Combines the operations of a report. `domainOf` returns the domain by which the edge serves a host. */
export function foldReport(
  operations: readonly CacheOperation[],
  domainOf: (host: string) => number | undefined,
): FoldedReport {
  let restartedAt: string | undefined;
  const cleared = new Map<number, string>();
  const last = new Map<string, { evicted: Eviction } | { stored: StoredEntry }>();
  let foreign = 0;
  for (const operation of operations) {
    if (operation.op === 'restarted') {
      restartedAt = operation.at;
      cleared.clear();
      last.clear();
    } else if (operation.op === 'cleared') {
      cleared.set(operation.domain_id, operation.at);
      for (const key of last.keys()) if (key.startsWith(`${operation.domain_id} `)) last.delete(key);
    } else if (operation.op === 'evicted') {
      const { op: _, ...evicted } = operation;
      last.set(`${operation.domain_id} ${operation.key_hash}`, { evicted });
    } else {
      const { op: _, ...entry } = operation;
      const domainId = domainOf(entry.host);
      if (domainId === undefined) foreign++;
      else last.set(`${domainId} ${entry.key_hash}`, { stored: { ...entry, domain_id: domainId } });
    }
  }
  const all = [...last.values()];
  return {
    restartedAt,
    cleared,
    evicted: all.flatMap((each) => ('evicted' in each ? [each.evicted] : [])),
    stored: all.flatMap((each) => ('stored' in each ? [each.stored] : [])),
    foreign,
  };
}

/** True if entries of `host` may be stored under `hostname`: the host itself, or a wildcard record that matches it. */
export function isStorageHostOf(hostname: string, host: string): boolean {
  return hostname === host || (hostname.startsWith('*.') && host.endsWith(hostname.slice(1)));
}
