// Decides what a purge of caches is about, how far it is, and which reported entries are valid.

/** Hosts are in lower case, without port. A path begins with `/`; a query has no `?`. */
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
      /** The edge fetches it anew when it has taken it out. */
      readonly refresh?: true;
    }
  /** One row of the cache registry, as its edge has named it. */
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

/** `domain`: without the final dot. An empty wish is everything. */
export function readPurgeTarget(domain: string, wish: PurgeWish): PurgeTarget | { problem: PurgeProblem } {
  const fields = FIELDS.filter((field) => wish[field] !== undefined);
  if (wish.store_path !== undefined && wish.hostname === undefined)
    return wrong('hostname', 'expected beside store_path, as a row of cache/keys has both');
  if (wish.hostname !== undefined && wish.store_path === undefined)
    return wrong('store_path', 'expected beside hostname, as a row of cache/keys has both');
  const [field, other] = fields;
  if (field === undefined) return { kind: 'all' };
  if (other !== undefined) return wrong(other, `only one of ${fields.join(', ')} can be given`);
  const text = wish[field] as string;
  if (field === 'host' || field === 'hostname') {
    const host = readHost(text);
    if (host === undefined) return wrong(field, 'expected the name of a host, without scheme, port and path');
    if (!isWithin(host, domain)) return wrong(field, foreign(host, domain));
    if (field === 'host') return { kind: 'host', host };
    return { kind: 'stored', hostname: host, store_path: wish.store_path as string };
  }
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text))
    return wrong(field, 'expected a whole URL that begins with http:// or https://');
  const { hostname, pathname, search, hash, username, password } = new URL(text);
  if (username !== '' || password !== '' || hash !== '')
    return wrong(field, 'a URL with a user, a password or a fragment is in no cache');
  const host = hostname.replace(/\.$/, '');
  if (!isWithin(host, domain)) return wrong(field, foreign(host, domain));
  if (field === 'url') return { kind: 'url', host, path: pathname, query: search.slice(1) };
  if (search !== '') return wrong(field, 'a prefix has no query: it takes paths with any query');
  return { kind: 'prefix', host, path: pathname };
}

/** In lower case, as A-labels. */
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
  /** It is heard: an edge that is silent gets no visitors, and does the purge when it is back. */
  readonly isLive: boolean;
  readonly doneAt: Date | null;
}

interface Progress {
  /** Those that have to do it: they are heard, or have done it. */
  readonly edges: number;
  readonly done: number;
  readonly finished: boolean;
}

/** `replacedBy`: the purge that edges do in its place. */
export function purgeProgress(edges: readonly AtEdge[], replacedBy: number | null): Progress {
  const counted = edges.filter(({ isLive, doneAt }) => isLive || doneAt !== null);
  const done = counted.filter(({ doneAt }) => doneAt !== null).length;
  // Edges that are all silent may serve visitors still.
  const isSilent = counted.length === 0 && edges.length > 0;
  const finished = replacedBy === null && done === counted.length && !isSilent;
  return { edges: counted.length, done, finished };
}

/** One answer that an edge has cached. Times are those of the edge. */
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

export type CacheWord =
  | ({ readonly op: 'stored' } & ReportedEntry)
  | { readonly op: 'evicted'; readonly domain_id: number; readonly key_hash: string; readonly at: string }
  /** Everything of the domain is gone. */
  | { readonly op: 'cleared'; readonly domain_id: number; readonly at: string }
  /** Everything that the edge had before is gone. */
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
  /** By domain: when it was cleared last. */
  readonly cleared: ReadonlyMap<number, string>;
  readonly evicted: readonly Eviction[];
  readonly stored: readonly StoredEntry[];
  /** Entries of hosts that the edge does not serve. */
  readonly foreign: number;
}

/** `domainOf`: the domain by which the edge serves a host. */
export function foldReport(
  words: readonly CacheWord[],
  domainOf: (host: string) => number | undefined,
): FoldedReport {
  let restartedAt: string | undefined;
  const cleared = new Map<number, string>();
  const last = new Map<string, { evicted: Eviction } | { stored: StoredEntry }>();
  let foreign = 0;
  for (const word of words) {
    if (word.op === 'restarted') {
      restartedAt = word.at;
      cleared.clear();
      last.clear();
    } else if (word.op === 'cleared') {
      cleared.set(word.domain_id, word.at);
      for (const key of last.keys()) if (key.startsWith(`${word.domain_id} `)) last.delete(key);
    } else if (word.op === 'evicted') {
      const { op: _, ...evicted } = word;
      last.set(`${word.domain_id} ${word.key_hash}`, { evicted });
    } else {
      const { op: _, ...entry } = word;
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

/** `hostname` is what a host's entries are stored under: itself, or the wildcard record that it comes by. */
export function isStorageHostOf(hostname: string, host: string): boolean {
  return hostname === host || (hostname.startsWith('*.') && host.endsWith(hostname.slice(1)));
}
