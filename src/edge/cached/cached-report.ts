// What an edge says of its cache, folded to what is true at the end of a report: of each entry the last word counts.

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
