// Which addresses and parents are silent, for all workers (RFC 9520): what this process notices is told to the others,
// and theirs is learnt, a few times a minute.

import { rememberedMs } from '../../checks/shares/silence.ts';
import { ExpiringCache } from '../cache/expiring-cache.ts';

/** One key's silence; without a count, it has answered. Times are milliseconds since 1970. */
interface Silence {
  readonly key: string;
  readonly count: number;
  readonly until: number;
}

interface Known {
  count: number;
  until: number;
  /** While one question finds out whether it answers again, the others wait for that. */
  probeUntil: number;
}

const CAPACITY = 20_000;
/** How many changes wait to be told: further ones are told when they change again. */
const MAX_NEWS = 2000;
/** Silences within this time of each other are in a row. */
const IN_A_ROW_MS = 2 * 3_600_000;
const PROBE_MS = 20_000;

export class Silences {
  readonly #now: () => number;
  readonly #known = new ExpiringCache<Known>(CAPACITY);
  readonly #news = new Map<string, Silence>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether the key is not to be asked now. When its time is over, the first who asks is told that it may be. */
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
    // Questions that were open together are one silence.
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

  /** What others have to know. */
  takeNews(): Silence[] {
    const news = [...this.#news.values()];
    this.#news.clear();
    return news;
  }

  /** What another process has noticed. */
  learn({ key, count, until }: Silence): void {
    if (count === 0) this.#known.delete(key);
    else this.#known.set(key, { count, until, probeUntil: 0 }, until + IN_A_ROW_MS);
  }

  #tell(silence: Silence): void {
    if (this.#news.size < MAX_NEWS || this.#news.has(silence.key)) this.#news.set(silence.key, silence);
  }
}
