// Carries out the dynamic updates that nodes forward. Every API process claims messages. The messages of one zone take turns,
// and several zones are changed concurrently.

import { Counter, Histogram, type Registry } from 'prom-client';
import { RCODE, rcodeMnemonic } from '../../dns/message/rcodes.ts';
import { printName } from '../../dns/name.ts';
import { type Log, warnOncePerMinute } from '../../process/reconnect.ts';
import type { Database } from '../../store/postgres/database.ts';
import { listenTo } from '../../store/postgres/listen-changes.ts';
import { outageOf } from '../../store/postgres/outage.ts';
import {
  answerUpdate,
  type ClaimedUpdate,
  claimUpdates,
  renewClaims,
  UPDATE_WAIT_MS,
  UPDATES_CHANNEL,
} from '../../store/updates/queue.ts';
import { NoTurn, Turns } from '../calls/turns.ts';
import { Gate } from '../edge/waiting.ts';
import { answerFailure, type CarriedOut, carryOut, type UpdateTools } from './carry-out.ts';
import { UpdateRates } from './update-rates.ts';

interface RunOptions extends Omit<UpdateTools, 'admits' | 'whenFree' | 'inTurn' | 'nowMs'> {
  readonly db: Database;
  readonly databaseUrl: string;
  /** Updates per second and key. Undefined means no limit. */
  readonly perSecond: number | undefined;
  readonly registry: Registry;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** The time in milliseconds since 1970. */
  readonly nowMs?: () => number;
}

type Unanswered = Omit<CarriedOut, 'answer'> & { readonly answer: undefined };

export interface UpdateRunner {
  /** Stops claiming, and waits until claimed messages are answered. */
  stop(): Promise<void>;
}

/** Messages are also claimed this often, because notifications can be lost and processes can crash. */
const POLL_MS = 500;
/** Maximum number of claimed messages. */
const MOST_CLAIMED = 128;
/** Maximum number of connections that lookups, transactions and answers use, so that calls of the API find one. */
const MOST_CONNECTIONS = 8;
const WAITING_PER_ZONE = 100;
const SECONDS = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** Starts immediately. Updates are carried out while the database is available. */
export function runUpdates(options: RunOptions): UpdateRunner {
  const runner = new Runner(options);
  const listening = listenTo(options.databaseUrl, {
    applicationName: 'zonefleet api updates',
    channels: [UPDATES_CHANNEL],
    onListening: () => runner.wake(),
    onNotification: () => runner.wake(),
  });
  const poll = setInterval(() => {
    runner.wake();
    runner.renew();
  }, POLL_MS);
  return {
    async stop() {
      await Promise.all([listening.stop(), runner.stop()]).finally(() => clearInterval(poll));
    },
  };
}

class Runner {
  readonly #options: RunOptions;
  readonly #nowMs: () => number;
  readonly #rates: UpdateRates | undefined;
  readonly #turns = new Turns({ waitMs: UPDATE_WAIT_MS, waiting: WAITING_PER_ZONE });
  readonly #connections = new Gate(MOST_CONNECTIONS);
  readonly #metrics: ReturnType<typeof createMetrics>;
  /** Once per minute, because every message may cause an error. */
  readonly #warn: ReturnType<typeof warnOncePerMinute>;
  /** The claimed messages, by their rows. */
  readonly #claimed = new Map<string, { readonly update: ClaimedUpdate; readonly work: Promise<void> }>();
  #claiming: Promise<void> | undefined;
  #renewing: Promise<void> | undefined;
  #mustClaim = false;
  #isStopped = false;

  constructor(options: RunOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? Date.now;
    this.#rates = options.perSecond === undefined ? undefined : new UpdateRates(options.perSecond);
    this.#metrics = createMetrics(options.registry);
    this.#warn = warnOncePerMinute(options.log);
  }

  /** Claims messages. Call it when there may be new ones. */
  wake(): void {
    if (this.#isStopped) return;
    this.#mustClaim = true;
    this.#claiming ??= this.#claimAll().finally(() => {
      this.#claiming = undefined;
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#claiming;
    await Promise.all([...this.#claimed.values()].map(({ work }) => work));
    await this.#renewing;
  }

  /** Keeps other processes from carrying out the messages that wait here. */
  renew(): void {
    this.#renewing ??= this.#renewAll().finally(() => {
      this.#renewing = undefined;
    });
  }

  async #renewAll(): Promise<void> {
    try {
      const claimed = [...this.#claimed.values()].map(({ update }) => update);
      await renewClaims(this.#options.db, claimed);
    } catch (error) {
      this.#warn(error, 'claims of dynamic updates cannot be renewed');
    }
  }

  async #claimAll(): Promise<void> {
    const { db } = this.#options;
    while (this.#mustClaim && !this.#isStopped) {
      this.#mustClaim = false;
      const room = MOST_CLAIMED - this.#claimed.size;
      if (room <= 0) return; // the next finished message wakes this up
      try {
        const claimed = await claimUpdates(db, room);
        if (claimed.length === room) this.#mustClaim = true;
        for (const one of claimed) this.#begin(one);
      } catch (error) {
        this.#warn(error, 'dynamic updates cannot be claimed');
      }
    }
  }

  #begin(claimed: ClaimedUpdate): void {
    const row = `${claimed.node} ${claimed.slot} ${claimed.at}`;
    if (this.#claimed.has(row)) return; // it has waited so long that it was claimed again
    const work = this.#answer(claimed)
      .catch((error: unknown) => this.#warn(error, 'a dynamic update cannot be answered'))
      .finally(() => {
        const wasFull = this.#claimed.size >= MOST_CLAIMED;
        this.#claimed.delete(row);
        if (wasFull) this.wake();
      });
    this.#claimed.set(row, { update: claimed, work });
  }

  async #answer(claimed: ClaimedUpdate): Promise<void> {
    const { db, log } = this.#options;
    const { address, ageMs, leftMs } = claimed;
    const startMs = performance.now() - ageMs;
    const tools = this.#toolsUntil(performance.now() + leftMs);
    const done = await this.#carryOut(tools, claimed);
    const { answer, rcode, message, change, records, zone, keyName } = done;
    // If this fails, the message is claimed again and gets its stored rcode.
    if (answer !== undefined) await this.#connections.run(() => answerUpdate(db, claimed, answer, change));
    this.#count(rcode, startMs);
    const names = {
      ...(zone !== undefined && { zone: printName(zone) }),
      ...(keyName !== undefined && { key: printName(keyName) }),
    };
    const serial = change?.serial;
    log.info({ ...names, address, rcode: rcodeMnemonic(rcode), serial, records, reason: message }, 'update');
  }

  /** Returns no answer if the database is unavailable or the node no longer waits: it answers after its deadline. */
  async #carryOut(tools: UpdateTools, claimed: ClaimedUpdate): Promise<CarriedOut | Unanswered> {
    try {
      return await carryOut(tools, claimed);
    } catch (error) {
      const unanswered = { answer: undefined, rcode: RCODE.SERVFAIL, records: 0 };
      if (error instanceof NoTurn) return { ...unanswered, message: error.message };
      this.#warn(error, 'a dynamic update failed');
      const answered = outageOf(error) === undefined ? await answerFailure(tools, claimed) : unanswered;
      return { ...answered, message: 'an error' };
    }
  }

  #toolsUntil(deadlineMs: number): UpdateTools {
    const rates = this.#rates;
    const whenFree: UpdateTools['whenFree'] = (query) =>
      this.#connections.run(async () => {
        if (performance.now() >= deadlineMs) throw new NoTurn('the node no longer waits for the answer');
        return await query();
      });
    return {
      ...this.#options,
      nowMs: this.#nowMs,
      admits: (keyId) => rates?.take(keyId) ?? true,
      whenFree,
      inTurn: (zoneId, work) => this.#turns.run(zoneId, () => whenFree(work)),
    };
  }

  #count(rcode: number, startMs: number): void {
    this.#metrics.updates.inc({ rcode: rcodeMnemonic(rcode) });
    this.#metrics.seconds.observe((performance.now() - startMs) / 1000);
  }
}

function createMetrics(registry: Registry) {
  const registers = [registry];
  return {
    updates: new Counter({
      name: 'zonefleet_updates_total',
      help: 'Dynamic updates answered, by rcode.',
      labelNames: ['rcode'],
      registers,
    }),
    seconds: new Histogram({
      name: 'zonefleet_update_seconds',
      help: 'Time from the arrival of a dynamic update in the queue to its answer.',
      buckets: SECONDS,
      registers,
    }),
  };
}
