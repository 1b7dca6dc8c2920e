// The traffic of domains in their quota period, for responses that also contain other data. They wait briefly for it,
// and omit it if the store does not answer.

import type { Analytics } from '../../analytics/open-analytics.ts';
import { loadVolume, trafficHours } from '../../analytics/requests/load-summary.ts';
import type { Subscription } from '../../store/accounts/subscriptions.ts';
import type { Api } from '../calls/call.ts';

type Volume = Awaited<ReturnType<typeof loadVolume>>;

const WAIT_SECONDS = 2;
const FRESH_MS = 60_000;
/** After an error, the store is not queried for this long. */
const QUIET_MS = 10_000;
const MOST_KEPT = 10_000;
const MOST_ASKED = 2;

class KnownTraffic {
  readonly #kept = new Map<
    string,
    { readonly untilMs: number; readonly volume: Promise<Volume | undefined> }
  >();
  #asked = 0;
  #quietUntilMs = Number.NEGATIVE_INFINITY;

  async of(
    store: Analytics,
    domainId: number,
    hours: { from: Date; until: Date },
  ): Promise<Volume | undefined> {
    const key = `${domainId} ${hours.from.getTime()}`;
    const nowMs = performance.now();
    const known = this.#kept.get(key);
    if (known !== undefined && nowMs < known.untilMs) return await known.volume;
    if (nowMs < this.#quietUntilMs || this.#asked >= MOST_ASKED) return undefined;
    const volume = this.#ask(store, domainId, hours);
    this.#kept.delete(key);
    this.#kept.set(key, { untilMs: nowMs + FRESH_MS, volume });
    if (this.#kept.size > MOST_KEPT) this.#kept.delete(this.#kept.keys().next().value as string);
    const found = await volume;
    if (found === undefined) this.#kept.delete(key);
    return found;
  }

  async #ask(
    store: Analytics,
    domainId: number,
    hours: { from: Date; until: Date },
  ): Promise<Volume | undefined> {
    this.#asked++;
    const ended = new AbortController();
    const late = new Promise<undefined>((resolve) => {
      const timer = setTimeout(() => {
        ended.abort();
        this.#quietUntilMs = performance.now() + QUIET_MS;
        resolve(undefined);
      }, WAIT_SECONDS * 1000);
      ended.signal.addEventListener('abort', () => clearTimeout(timer));
    });
    const asking = { store, seconds: WAIT_SECONDS, signal: ended.signal };
    try {
      return await Promise.race([
        loadVolume(asking, { domainId, from: hours.from, until: hours.until }),
        late,
      ]);
    } catch {
      this.#quietUntilMs = performance.now() + QUIET_MS;
      return undefined;
    } finally {
      ended.abort();
      this.#asked--;
    }
  }
}

const BY_STORE = new WeakMap<Analytics, KnownTraffic>();

/** Returns undefined if the traffic is not known now. The value is at most a minute old. */
export async function knownTraffic(
  { analytics: store }: Pick<Api, 'analytics'>,
  domainId: number,
  subscription: Subscription | undefined,
  now: Date,
): Promise<Volume | undefined> {
  if (store === undefined || subscription === undefined) return undefined;
  const known = BY_STORE.get(store) ?? new KnownTraffic();
  BY_STORE.set(store, known);
  return await known.of(store, domainId, trafficHours(subscription, now));
}
