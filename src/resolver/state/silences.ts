// Tracks silent addresses and parents for all workers (RFC 9520). Each process exchanges its observations with the others a
// few times per minute.

import { rememberedMs } from '../../checks/shares/silence.ts';
import { ExpiringCache } from '../cache/expiring-cache.ts';

/** Silence of one key. Without a count, it has answered. Times are milliseconds since 1970. */
interface Silence {
  readonly key: string;
  readonly count: number;
  readonly until: number;
}

interface Known {
  count: number;
  until: number;
  /** While one query tests if it answers again, the others wait for the result. */
  probeUntil: number;
}

const CAPACITY = 20_000;
/** Maximum number of changes waiting to be shared. Further ones are shared when they change again. */
const MAX_NEWS = 2000;
/** Timeouts within this time of each other are consecutive. */
const IN_A_ROW_MS = 2 * 3_600_000;
const PROBE_MS = 20_000;

export class Silences {
  readonly #now: () => number;
  readonly #known = new ExpiringCache<Known>(CAPACITY);
  readonly #news = new Map<string, Silence>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** True if the key must not be queried now. After the silence has expired, only the first caller may query. */
  isSilent(key: string): boolean {
    const now = this.#now();
    const known = this.#known.get(key, now);
    if (known === undefined || rememberedMs(known.count) === 0) return false;
    if (known.until > now || known.probeUntil > now) return true;
    known.probeUntil = now + PROBE_MS;
    return false;
  }

  noteSilence(key: string): void {
    const now = this.#now();
    const known = this.#known.get(key, now);
    // Queries that were open at the same time count as one timeout.
    if (known !== undefined && known.until > now && rememberedMs(known.count) > 0) return;
    const count = (known?.count ?? 0) + 1;
    const until = now + rememberedMs(count);
    this.#known.set(key, { count, until, probeUntil: 0 }, until + IN_A_ROW_MS);
    if (until > now) this.#tell({ key, count, until });
  }

  noteReply(key: string): void {
    const known = this.#known.get(key, this.#now());
    if (known === undefined) return;
    this.#known.delete(key);
    if (rememberedMs(known.count) > 0) this.#tell({ key, count: 0, until: 0 });
  }

  /** Returns the changes to share. */
  takeNews(): Silence[] {
    const news = [...this.#news.values()];
    this.#news.clear();
    return news;
  }

  /** Stores the observation of another process. */
  learn({ key, count, until }: Silence): void {
    if (count === 0) this.#known.delete(key);
    else this.#known.set(key, { count, until, probeUntil: 0 }, until + IN_A_ROW_MS);
  }

  #tell(silence: Silence): void {
    if (this.#news.size < MAX_NEWS || this.#news.has(silence.key)) this.#news.set(silence.key, silence);
  }
}
