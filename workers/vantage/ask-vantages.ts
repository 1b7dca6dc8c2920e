// Asks observers elsewhere about a change, and waits until enough of them have answered to decide (docs/rules.md
// "Vantage points"). One query of Postgres every 100 ms serves all waiting checks of this process; without waiting
// checks there is none.

import type { AsnOf } from '../../src/checks/child/observation.ts';
import type { Evidence } from '../../src/checks/delegation/evidence.ts';
import type { VoiceView } from '../../src/checks/delegation/seen.ts';
import { SLOW_AFTER_MS, type Slots } from '../../src/checks/shares/slots.ts';
import { type VantageWord, viewsOf } from '../../src/checks/vantage/judge-change.ts';
import { type Answer, judgeVoices } from '../../src/checks/vantage/judge-voices.ts';
import { areAsked, inForce, type Voice, voicesOf } from '../../src/checks/vantage/voices.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import {
  endAsk,
  loadVantageAnswers,
  makeVantageJobs,
  type VantageAnswer,
} from '../../src/store/vantage/vantage-jobs.ts';
import { listVantages } from '../../src/store/vantage/vantages.ts';

export interface VantageQuestion {
  /** Encoded as in its column. */
  readonly nameText: string;
  /** True if a caller waits, so that recently failed queries are repeated. */
  readonly fresh: boolean;
  /** True if every address of the parent is queried. */
  readonly thorough: boolean;
  /** True if the change gives a name that no other account has. */
  readonly isUnheld: boolean;
  /** Time limit for the answers. */
  readonly deadlineMs: number;
  readonly judge: (there: Evidence) => VantageWord;
  readonly signal: AbortSignal;
}

type Asked =
  /** There are too few observers, so none was asked. */
  | { readonly kind: 'off' }
  | { readonly kind: 'agreed' | 'differ' | 'away'; readonly views: readonly VoiceView[] };

interface AskOptions {
  readonly asnOf?: AsnOf | undefined;
  /** Absent if no check is slow. */
  readonly slots?: Pick<Slots, 'takeSlow' | 'giveBack'>;
  readonly onAsked?: (asked: Asked['kind']) => void;
  /** The question's own time limit by default. */
  readonly deadlineMs?: number;
  readonly pollMs?: number;
}

const POLL_MS = 100;
const NOTHING: VantageWord = { word: 'silent', kind: 'nothing', ns: [] };

interface Waiter {
  readonly heard: Set<string>;
  hear(answers: readonly VantageAnswer[]): void;
  fail(error: unknown): void;
}

export class VantageAsker {
  readonly #db: Database;
  readonly #options: AskOptions;
  /** By the id of the ask. */
  readonly #waiters = new Map<string, Waiter>();
  #isLooking = false;

  constructor(db: Database, options: AskOptions = {}) {
    this.#db = db;
    this.#options = options;
  }

  /** Number of waiting checks. */
  get waiting(): number {
    return this.#waiters.size;
  }

  async ask(question: VantageQuestion): Promise<Asked> {
    const { asnOf, onAsked, deadlineMs = question.deadlineMs } = this.#options;
    const known = inForce(await listVantages(this.#db));
    if (!areAsked(known)) return { kind: 'off' };
    const jobs = await makeVantageJobs(this.#db, { ...question, deadlineSeconds: deadlineMs / 1000 });
    try {
      const asked = await this.#wait({ ...question, deadlineMs }, voicesOf(known, asnOf), jobs);
      onAsked?.(asked.kind);
      return asked;
    } finally {
      await endAsk(this.#db, jobs.ask).catch(() => {}); // no observer takes them after their deadline
    }
  }

  /** Ends when the answers decide, at the deadline, or when the check is slow and no slot for slow checks is free. */
  #wait(
    { isUnheld, judge, deadlineMs, signal }: VantageQuestion,
    voices: readonly Voice[],
    { ask, asked }: { readonly ask: string; readonly asked: readonly string[] },
  ): Promise<Asked> {
    const { slots } = this.#options;
    const words = new Map<string, VantageWord>();
    return new Promise((resolve, reject) => {
      let isSlow = false;
      const leave = () => {
        for (const timer of timers) clearTimeout(timer);
        signal.removeEventListener('abort', abort);
        this.#waiters.delete(ask);
        if (isSlow) slots?.giveBack();
        isSlow = false;
      };
      const settle = (isOver: boolean) => {
        const answers = new Map(
          asked.map((name): [string, Answer] => [
            name,
            words.get(name)?.word ?? (isOver ? 'silent' : 'open'),
          ]),
        );
        const judgement = judgeVoices(voices, answers, { isUnheld });
        if (judgement !== 'open') end(judgement);
      };
      const end = (kind: 'agreed' | 'differ' | 'away') => {
        leave();
        resolve({ kind, views: viewsOf(voices, words) });
      };
      const abort = () => {
        leave();
        reject(signal.reason);
      };
      const timers = [
        setTimeout(() => settle(true), deadlineMs),
        setTimeout(() => {
          isSlow = slots === undefined || slots.takeSlow();
          // Observers that may still answer are not silent: a client that occupies the slow slots must not choose
          // which answers count.
          if (!isSlow) end('away');
        }, SLOW_AFTER_MS),
      ];
      signal.addEventListener('abort', abort);
      this.#waiters.set(ask, {
        heard: new Set(),
        hear(answers) {
          for (const { vantage, evidence } of answers) words.set(vantage, wordOn(judge, evidence));
          settle(false);
        },
        fail(error) {
          leave();
          reject(error);
        },
      });
      if (signal.aborted) return abort();
      settle(false);
      if (!this.#isLooking) void this.#look();
    });
  }

  async #look(): Promise<void> {
    this.#isLooking = true;
    while (this.#waiters.size > 0) {
      const asked = [...this.#waiters];
      try {
        const known = asked.flatMap(([, { heard }]) => [...heard]);
        const answers = await loadVantageAnswers(
          this.#db,
          asked.map(([ask]) => ask),
          known,
        );
        for (const [ask, waiter] of asked) {
          const own = answers.filter((answer) => answer.ask === ask);
          for (const { id } of own) waiter.heard.add(id);
          if (own.length > 0 && this.#waiters.get(ask) === waiter) waiter.hear(own);
        }
      } catch (error) {
        for (const [ask, waiter] of asked) if (this.#waiters.get(ask) === waiter) waiter.fail(error);
      }
      const { pollMs = POLL_MS } = this.#options;
      if (this.#waiters.size > 0) await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
    this.#isLooking = false;
  }
}

/** An observer whose evidence cannot be evaluated counts as silent. */
function wordOn(judge: VantageQuestion['judge'], evidence: Evidence): VantageWord {
  try {
    return judge(evidence);
  } catch {
    return NOTHING;
  }
}
