// Queries the nodes and the resolver at a steady rate, and compares each answer with the edits of its name.

import { setTimeout as pause } from 'node:timers/promises';
import { type Asker, type Reply, valueIn } from './ask-names.ts';
import type { EditedName, EditedNames } from './edited-names.ts';
import type { Freshness } from './freshness.ts';
import type { Journal } from './journal.ts';

export interface WatchPlan {
  /** A node, or the resolver. */
  readonly label: string;
  /** The nodes that may answer. */
  readonly nodes: readonly string[];
  readonly asker: Asker;
  /** The answer may be this much older than that of a node. */
  readonly cacheMs: number;
  readonly perSecond: number;
  readonly names: EditedNames;
  readonly freshness: Freshness;
  readonly journal: Journal;
  readonly signal: AbortSignal;
  /** Changes when another process answers, whose answers may be older than those of the former one. */
  readonly incarnation: () => number;
}

export interface WatchCounts {
  asked: number;
  answered: number;
  wrong: number;
}

const TRIES = { node: { tries: 2, timeoutMs: 3000 }, resolver: { tries: 3, timeoutMs: 5000 } };

export class Watch {
  readonly counts: WatchCounts = { asked: 0, answered: 0, wrong: 0 };
  readonly running: Promise<void>;
  readonly #plan: WatchPlan;
  readonly #newest = new Map<string, { value: number; answeredMs: number; incarnation: number }>();

  constructor(plan: WatchPlan) {
    this.#plan = plan;
    this.running = this.#run();
  }

  async #run(): Promise<void> {
    const { perSecond, signal, names } = this.#plan;
    const open = new Set<Promise<void>>();
    while (!signal.aborted) {
      await pause((1000 / perSecond) * (0.5 + Math.random()));
      const query = this.#ask(names.any()).finally(() => open.delete(query));
      open.add(query);
    }
    await Promise.all(open);
  }

  async #ask(edited: EditedName): Promise<void> {
    const { asker, cacheMs, freshness, journal, label, nodes, incarnation } = this.#plan;
    const type = Math.random() < 0.5 ? 'A' : 'TXT';
    const isResolver = cacheMs > 0;
    this.counts.asked++;
    const startedMs = performance.now();
    const before = incarnation();
    const reply = await asker.ask({ name: edited.name, type }, TRIES[isResolver ? 'resolver' : 'node']);
    const isDisturbed = nodes.some((node) => freshness.isDisturbed(node, startedMs));
    // While a fault lasts, a resolver may have found no node that answers.
    const hasFailed = reply === undefined || (isResolver && reply.rcode === 'SERVFAIL');
    if (hasFailed) {
      if (!isDisturbed) journal.event('unanswered', `${label}: ${edited.name} ${type} ${reply?.rcode ?? ''}`);
      return;
    }
    this.counts.answered++;
    const fault = this.#faultOf(edited, type, reply, before);
    if (fault === undefined) return;
    this.counts.wrong++;
    journal.event('wrong', `${label}: ${edited.name} ${type}: ${fault}`);
  }

  #faultOf(edited: EditedName, type: 'A' | 'TXT', reply: Reply, before: number): string | undefined {
    const { cacheMs, freshness, nodes, incarnation } = this.#plan;
    try {
      const { askedMs, answeredMs } = reply;
      const value = valueIn(reply, type);
      const freshMs = Math.min(...nodes.map((node) => freshness.freshMs(node, askedMs - cacheMs)));
      const fault = edited.history.fault({ value, answeredMs, freshMs });
      if (fault !== undefined) return fault;
      if (cacheMs > 0) {
        const shouldBeSecure = edited.domain.ds !== undefined;
        return reply.isSecure === shouldBeSecure ? undefined : `AD is ${reply.isSecure}`;
      }
      if (value === undefined || before !== incarnation()) return undefined;
      const newest = this.#newest.get(edited.name);
      const isSame = newest !== undefined && newest.incarnation === before;
      if (isSame && value < newest.value && newest.answeredMs < askedMs)
        return `${value} after ${newest.value} by the same process`;
      if (!isSame || value > newest.value)
        this.#newest.set(edited.name, { value, answeredMs, incarnation: before });
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  }
}
