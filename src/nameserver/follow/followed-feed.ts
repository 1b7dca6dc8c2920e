// Reads the change feed from successive connections and loads the zones that it names. Keeps the position in the feed,
// and sometimes compares all zones.

import {
  type FeedCursor,
  type FeedRead,
  newest,
  readFeed,
  type SeenChange,
  type ZoneState,
} from '../../store/feed/change-feed.ts';
import type { Connection } from '../../store/postgres/connection.ts';
import type { FeedPlace } from '../snapshot/snapshot-entry.ts';
import type { FollowOptions } from './follow-options.ts';
import type { RemovalHold } from './hold-removals.ts';
import type { FollowedZonesLoader } from './load-followed-zones.ts';

const COMPARE_FIRST_MS = 1000;
const COMPARE_EVERY_MS = 60_000;

type FeedOptions = Pick<FollowOptions, 'nodeName' | 'log' | 'snapshot' | 'place'> & {
  readonly loader: FollowedZonesLoader;
  readonly hold: RemovalHold;
  /** Called when the position has changed. */
  readonly onMoved: () => void;
  /** Called after zones were changed, with the age of the oldest change. */
  readonly onApplied: (applied: { readonly zones: number; readonly delaySeconds: number }) => void;
};

export class FollowedFeed {
  readonly #options: FeedOptions;
  #cursor: FeedCursor | undefined;
  #position: number | undefined;
  #loaded = false;
  #standby = false;
  #compareAtMs = 0;
  #compareEveryMs = COMPARE_EVERY_MS;
  /** True until the feed has been read from the snapshot's position. */
  #isPlaceUntried = false;

  constructor(options: FeedOptions) {
    this.#options = options;
    const { place } = options;
    if (place === undefined) return;
    this.#cursor = place.cursor;
    this.#position = place.position;
    this.#loaded = true;
    this.#isPlaceUntried = true;
  }

  get cursor(): FeedCursor | undefined {
    return this.#cursor;
  }

  /** Number of the newest applied change. */
  get position(): number | undefined {
    return this.#position;
  }

  /** True if all zones were loaded once, and the position in the feed is known. */
  get loaded(): boolean {
    return this.#loaded;
  }

  /** True if the server that was read last is a standby. */
  get standby(): boolean {
    return this.#standby;
  }

  /** The position that the image has reached, for the snapshot. */
  get place(): FeedPlace | undefined {
    const cursor = this.#cursor;
    return cursor && { cursor, position: this.#position ?? 0 };
  }

  /** Discards a position from a snapshot that the server does not accept: it would refuse every later attempt too. */
  doubtPlace(error: unknown): void {
    if (!this.#isPlaceUntried || !isDataException(error)) return;
    this.#isPlaceUntried = false;
    this.#cursor = undefined;
    this.#options.log.warn({}, "the snapshot's feed cursor is invalid: loading all zones again");
  }

  /** Applies all changes in the feed. Returns false if the feed cannot be read at the moment. */
  async catchUp(connection: Connection): Promise<boolean> {
    let first: FeedRead | undefined;
    let after: SeenChange | undefined;
    let recent: readonly SeenChange[] = [];
    const { nodeName, loader, hold, onMoved } = this.#options;
    const gone = new Set<number>();
    for (;;) {
      const read = await readFeed(connection, nodeName, this.#cursor, after);
      this.#standby = read.standby;
      first ??= read;
      if (read.kind !== 'changes') {
        // In the middle of a backlog, the cursor is still the one before it: start over.
        return read === first ? this.#catchUpWithout(connection, read) : this.catchUp(connection);
      }
      await this.#applyChanges(connection, read, gone);
      recent = newest([...recent, ...read.cursor.recent]);
      after = read.changes.at(-1);
      if (!read.more) break;
    }
    loader.removeIds(gone);
    this.#cursor = { ...first.cursor, recent };
    this.#isPlaceUntried = false;
    const confirmed = hold.confirm(first.confirmedId);
    loader.remove(confirmed, true);
    if (first.changes.length + confirmed.length > 0) onMoved();
    return true;
  }

  async #catchUpWithout(connection: Connection, read: FeedRead): Promise<boolean> {
    const { log, loader, onMoved } = this.#options;
    switch (read.kind) {
      case 'behind':
      case 'incomplete':
        return false;
      case 'expired':
        log.info({}, 'this node was offline for longer than the feed keeps changes: comparing all zones');
        await loader.compare(connection);
        break;
      case 'another-epoch':
        log.warn(
          { from: this.#cursor?.epoch, to: read.cursor.epoch },
          'the database has another history: loading all zones again',
        );
        await this.#loadEverything(connection);
        break;
      case 'start':
        await this.#loadEverything(connection);
        break;
      case 'changes':
        throw new Error('unreachable');
      default:
        read.kind satisfies never;
    }
    this.#cursor = read.cursor;
    this.#isPlaceUntried = false;
    onMoved();
    this.#position = read.cursor.recent[0]?.id ?? 0;
    return true;
  }

  async #loadEverything(connection: Connection): Promise<void> {
    this.#cursor = undefined;
    this.#options.snapshot?.abandon();
    await this.#options.loader.loadEverything(connection);
    this.#loaded = true;
    this.#compareEveryMs = COMPARE_FIRST_MS;
    this.#compareAtMs = Date.now() + this.#compareEveryMs;
  }

  /** @param gone zones deleted so far without a successor; a zone that reappears on a later page is removed from it */
  async #applyChanges(connection: Connection, read: FeedRead, gone: Set<number>): Promise<void> {
    const { changes } = read;
    const newestId = changes.reduce((id, change) => Math.max(id, change.id), 0);
    const states = new Map<number, ZoneState>();
    for (const { zoneId, zone } of changes) {
      if (zone === undefined) gone.add(zoneId);
      else states.set(zoneId, zone);
    }
    for (const id of states.keys()) gone.delete(id);
    const applied = await this.#options.loader.load(connection, [...states.values()]);
    for (const id of applied.gone) gone.add(id);
    this.#position = Math.max(this.#position ?? 0, newestId);
    if (applied.zones > 0) {
      const oldestMs = changes.reduce((ms, { at }) => Math.min(ms, at.getTime()), Number.POSITIVE_INFINITY);
      this.#options.onApplied({
        zones: applied.zones,
        delaySeconds: Math.max(0, Date.now() - oldestMs) / 1000,
      });
    }
  }

  /** Schedules a comparison after a reconnect: a server that crashed may have reused transaction ids before the cursor. */
  compareSoon(): void {
    this.#compareAtMs = 0;
  }

  /**
   * Compares all zones if that is due: soon after a load or a reconnect, then once a minute. Only a comparison finds
   * changes that were not written through the feed, such as a restored table or commits that a server lost.
   */
  async compareIfDue(connection: Connection, nowMs: number): Promise<void> {
    if (nowMs < this.#compareAtMs) return;
    await this.#options.loader.compare(connection);
    this.#compareAtMs = Date.now() + this.#compareEveryMs * (0.8 + Math.random() * 0.4);
    this.#compareEveryMs = Math.min(COMPARE_EVERY_MS, this.#compareEveryMs * 2);
  }
}

/** Returns true if the error has an SQLSTATE of class 22: a value of the query is not valid for its type. */
function isDataException(error: unknown): boolean {
  return /^22/.test(String((error as { code?: unknown }).code));
}
