// Follows the root's keys (RFC 5011): queries them once a day, and stores in Postgres, for all workers, which keys
// are trusted. The resolver reads `current` at each check.

import {
  type AnchorState,
  anchorsToTrust,
  type RolledAnchor,
  rollAnchors,
} from '../../src/checks/validation/roll-anchors.ts';
import type { RootKeys } from '../../src/checks/validation/root-keys.ts';
import { keyTag } from '../../src/dns/dnssec/key-tag.ts';
import { type Rounds, runRounds } from '../../src/jobs/run-rounds.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import { loadAnchors, rollSavedAnchors } from '../../src/store/resolver/trust-anchors.ts';

/** RFC 5011 §2.3: half of the TTL, which is two days. */
const LOOK_MS = 86_400_000;
/** Interval of reading other workers' results, and of retrying after a failed query. */
const ROUND_MS = 3_600_000;

interface AnchorOptions {
  readonly db: Database;
  /** Rdata of DS records. */
  readonly configured: readonly Uint8Array[];
  readonly observe: (signal: AbortSignal) => Promise<RootKeys | undefined>;
  readonly onChange: (change: {
    keyTag: number;
    from: AnchorState | 'new';
    to: AnchorState | 'gone';
  }) => void;
  readonly onTrouble: (error: unknown) => void;
  readonly now?: () => number;
  readonly idleMs?: number;
}

export class AnchorWatch {
  readonly #options: AnchorOptions;
  readonly #stopping = new AbortController();
  #trusted: readonly Uint8Array[];
  #lookedAt = Number.NEGATIVE_INFINITY;
  #rounds: Rounds | undefined;

  constructor(options: AnchorOptions) {
    this.#options = options;
    this.#trusted = options.configured;
  }

  /** Returns the rdata of the DS records that are trusted now. */
  readonly current = (): readonly Uint8Array[] => this.#trusted;

  /** Does nothing without anchors. */
  start(): void {
    const { configured, onTrouble, idleMs = ROUND_MS } = this.#options;
    if (configured.length === 0) return;
    this.#rounds = runRounds({ round: () => this.#round(), idleMs, onTrouble });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#rounds?.stop();
  }

  async #round(): Promise<{ isMore: boolean }> {
    const { db, configured, now = Date.now } = this.#options;
    this.#trust(await loadAnchors(db, configured));
    if (Math.abs(now() - this.#lookedAt) >= LOOK_MS) await this.#look();
    return { isMore: false };
  }

  async #look(): Promise<void> {
    const { db, configured, observe, onChange, now = Date.now } = this.#options;
    const { signal } = this.#stopping;
    const seen = await observe(signal).catch((error: unknown) => {
      if (signal.aborted) return undefined;
      throw error;
    });
    if (seen === undefined) return;
    let before: readonly RolledAnchor[] = [];
    const after = await rollSavedAnchors(db, configured, (known) => {
      before = known;
      return rollAnchors(known, seen, configured, now());
    });
    if (seen.present !== undefined) this.#lookedAt = now();
    this.#trust(after);
    for (const change of changesOf(before, after)) onChange(change);
  }

  #trust(rolled: readonly RolledAnchor[]): void {
    this.#trusted = anchorsToTrust(this.#options.configured, rolled);
  }
}

function changesOf(before: readonly RolledAnchor[], after: readonly RolledAnchor[]) {
  const stateIn = (anchors: readonly RolledAnchor[], key: Uint8Array) =>
    anchors.find((anchor) => Buffer.compare(anchor.key, key) === 0)?.state;
  const keys = [...after, ...before.filter(({ key }) => stateIn(after, key) === undefined)];
  return keys.flatMap(({ key }) => {
    const [from, to] = [stateIn(before, key) ?? ('new' as const), stateIn(after, key) ?? ('gone' as const)];
    return from === to ? [] : [{ keyTag: keyTag(key), from, to }];
  });
}
