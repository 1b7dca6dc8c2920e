// Edits names at a steady rate, each edit with two record sets per name, and measures when each node answers with it.

import { setTimeout as pause } from 'node:timers/promises';
import { type Asker, addressOf, valueIn } from './ask-names.ts';
import type { EditedName, EditedNames } from './edited-names.ts';
import type { Journal } from './journal.ts';
import type { Value } from './name-history.ts';
import type { Owner } from './owner.ts';

interface EditorPlan {
  readonly names: EditedNames;
  readonly owner: Owner;
  readonly journal: Journal;
  readonly perSecond: number;
  readonly signal: AbortSignal;
  /** Receives each value that was stored. */
  readonly onStored: (name: EditedName, value: Value, sentMs: number) => void;
}

/** One of this many edits deletes its names. */
const DELETES = 6;
const TTL = 60;

export class Editor {
  readonly #plan: EditorPlan;
  readonly #open = new Set<Promise<void>>();
  #isPaused = false;
  readonly #running: Promise<void>;
  readonly changeIds: number[] = [];
  edits = 0;

  constructor(plan: EditorPlan) {
    this.#plan = plan;
    this.#running = this.#run();
  }

  /** Resolves when no edit is open. */
  async pause(): Promise<void> {
    this.#isPaused = true;
    await Promise.all(this.#open);
  }

  resume(): void {
    this.#isPaused = false;
  }

  async stop(): Promise<void> {
    await this.pause();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { perSecond, signal, names } = this.#plan;
    while (!signal.aborted) {
      await pause((1000 / perSecond) * (0.5 + Math.random()));
      const taken = this.#isPaused ? undefined : names.take();
      if (taken === undefined) continue;
      const edit = this.#edit(taken).finally(() => this.#open.delete(edit));
      this.#open.add(edit);
    }
  }

  async #edit(names: readonly EditedName[]): Promise<void> {
    const { owner, journal, onStored } = this.#plan;
    const value = Math.random() * DELETES < 1 ? undefined : this.#plan.names.nextValue();
    const sentMs = performance.now();
    for (const { history } of names) history.send(value, sentMs);
    const replace = names.flatMap(({ owner: name }) => [
      { name, type: 'TXT', ttl: TTL, records: value === undefined ? [] : [{ destination: `n${value}` }] },
      { name, type: 'A', ttl: TTL, records: value === undefined ? [] : [{ destination: addressOf(value) }] },
    ]);
    const [{ domain }] = names as [EditedName];
    const path = `/domains/${domain.label}.zz/records/batch`;
    const { status, changeId, body } = await owner.call({ method: 'PUT', path, body: { replace } });
    const storedMs = performance.now();
    if (status === 200) {
      this.edits++;
      if (changeId !== undefined) this.changeIds.push(changeId);
      for (const { history } of names) history.confirm(storedMs);
      for (const name of names) onStored(name, value, sentMs);
    } else {
      for (const { history } of names) history.withdraw();
      journal.event('refused', `${path}: ${status} ${JSON.stringify(body).slice(0, 300)}`);
    }
    this.#plan.names.release(names);
  }
}

const POLL_MS = 20;
const GIVE_UP_MS = 120_000;

/** Returns the milliseconds from `sentMs` until the server answers with this value or a later one. Undefined if it does not. */
export async function measureLag(
  asker: Asker,
  { name, value, sentMs }: { name: string; value: number; sentMs: number },
): Promise<number | undefined> {
  while (performance.now() - sentMs < GIVE_UP_MS) {
    const reply = await asker.ask({ name, type: 'TXT' }, { tries: 1, timeoutMs: 1000 });
    if (reply?.rcode === 'NOERROR' && (valueIn(reply, 'TXT') ?? 0) >= value) return reply.answeredMs - sentMs;
    await pause(POLL_MS);
  }
  return undefined;
}
