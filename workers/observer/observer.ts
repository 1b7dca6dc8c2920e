// Takes jobs from the API, observes each, and answers before its deadline or not at all. It continues whatever the
// API does.
//
//   ask for jobs (long poll) ──> observe, up to MAX_RUNNING at once ──> answer, again until the deadline
//     └ no answer, or not 200 ──> pause, longer each time

import type { Evidence } from '../../src/checks/delegation/evidence.ts';
import { encodeEvidence } from '../../src/checks/delegation/evidence-json.ts';
import { createBackoff, pauseUnless, Wakeup } from '../../src/process/reconnect.ts';
import { VANTAGE_CLOCK_MS } from '../../src/process/vantage-signature.ts';
import { unwatchAbort, watchAbort } from '../../src/resolver/exchange/abort-watch.ts';
import type { Resolver } from '../../src/resolver/resolver.ts';
import { JobBudget } from './job-budget.ts';
import { readJobs, type VantageJob } from './read-jobs.ts';
import { explainFailure, type VantageClient, type VantageReply } from './vantage-client.ts';

/** Result of a job. */
export type JobOutcome =
  /** The API accepted the answer. */
  | 'taken'
  /** The API rejected the answer. */
  | 'dropped'
  /** The job was not finished in time, or could not be answered in time. */
  | 'late'
  /** The name, form or time of the job is not acceptable, or there are too many jobs. */
  | 'refused'
  /** An internal error. */
  | 'failed';

interface ObserverOptions {
  readonly client: VantageClient;
  readonly resolver: Pick<Resolver, 'observeDelegation'>;
  readonly onOutcome: (outcome: JobOutcome, detail?: string) => void;
  /** Called when the API becomes unusable, with the reason, or usable again, with undefined. */
  readonly onApi: (trouble: string | undefined) => void;
  readonly now?: () => number;
}

const JOBS_PATH = '/vantage/v1/jobs';
const ANSWERS_PATH = '/vantage/v1/answers';
const MAX_RUNNING = 64;
const MAX_JOBS = 16;
const WAIT_SECONDS = 20;
/** Added to the time that the API was asked to wait. */
const TIMEOUT_MS = 10_000;
/** Pause after a response without jobs, which may come immediately. */
const EMPTY_MS = 200;
const FULL_MS = 100;

export class Observer {
  readonly #options: ObserverOptions;
  readonly #now: () => number;
  readonly #stopping = new AbortController();
  readonly #budget: JobBudget;
  readonly #running = new Map<string, Promise<void>>();
  readonly #wakeup = new Wakeup();
  #polling: Promise<void> | undefined;
  #trouble: string | undefined = 'the API has not been reached yet';
  #hasAsked = false;

  constructor(options: ObserverOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#budget = new JobBudget(this.#now());
  }

  /** Returns why the API cannot be used, or undefined if it can. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  running(): number {
    return this.#running.size;
  }

  start(): void {
    this.#polling = this.#poll();
  }

  /** Abandons running jobs. The API asks other observers. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wakeup.wake();
    await this.#polling;
    await Promise.all(this.#running.values());
  }

  async #poll(): Promise<void> {
    const { signal } = this.#stopping;
    const backoff = createBackoff();
    while (!signal.aborted) {
      const max = Math.min(MAX_JOBS, MAX_RUNNING - this.#running.size, this.#budget.available(this.#now()));
      if (max < 1) {
        await this.#wakeup.wait(FULL_MS);
        continue;
      }
      try {
        const got = await this.#takeJobs(max);
        this.#tell(undefined);
        backoff.reset();
        if (got === 0) await pauseUnless(signal, EMPTY_MS);
      } catch (error) {
        if (signal.aborted) return;
        this.#tell(explainFailure(error));
        await pauseUnless(signal, backoff.nextMs());
      }
    }
  }

  async #takeJobs(max: number): Promise<number> {
    const asked = { max, waitSeconds: WAIT_SECONDS };
    const timeoutMs = WAIT_SECONDS * 1000 + TIMEOUT_MS;
    const reply = await this.#post(JOBS_PATH, asked, timeoutMs, this.#stopping.signal);
    if (reply.status !== 200) throw new Error(explainRefusal(reply));
    const read = readJobs(reply.text, { nowMs: this.#now() + reply.clockAheadMs, max });
    if (read === undefined) throw new Error('the response is not from the API: it has no list of jobs');
    for (const reason of read.refused) this.#options.onOutcome('refused', reason);
    this.#budget.take(read.jobs.length);
    for (const job of read.jobs) this.#begin(job);
    return read.jobs.length;
  }

  #tell(trouble: string | undefined): void {
    const isNews = !this.#hasAsked || (trouble === undefined) !== (this.#trouble === undefined);
    this.#hasAsked = true;
    this.#trouble = trouble;
    if (isNews) this.#options.onApi(trouble);
  }

  #begin(job: VantageJob): void {
    if (this.#running.has(job.id)) {
      this.#options.onOutcome('refused', 'the job is already running');
      return;
    }
    const ending = new AbortController();
    const timer = setTimeout(() => ending.abort(LATE), job.leftMs);
    const stop = () => ending.abort();
    watchAbort(this.#stopping.signal, stop);
    const work = this.#run(job, ending.signal).finally(() => {
      clearTimeout(timer);
      unwatchAbort(this.#stopping.signal, stop);
      this.#running.delete(job.id);
      this.#wakeup.wake();
    });
    this.#running.set(job.id, work);
  }

  async #run(job: VantageJob, signal: AbortSignal): Promise<void> {
    const { resolver, onOutcome } = this.#options;
    try {
      const evidence = await resolver.observeDelegation(job.name, {
        signal,
        fresh: job.fresh,
        isThorough: job.thorough,
      });
      const body = { id: job.id, name: job.text, evidence: encodeEvidence(withoutGlue(evidence)) };
      const refusal = await this.#answer(body, signal);
      if (refusal === undefined) onOutcome('taken');
      else onOutcome('dropped', refusal);
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      if (signal.aborted) onOutcome('late', job.text);
      else onOutcome('failed', String(error));
    }
  }

  /** Repeats the answer until the API accepts or rejects it. Returns why it was rejected. */
  async #answer(body: object, signal: AbortSignal): Promise<string | undefined> {
    const backoff = createBackoff();
    for (;;) {
      const reply = await this.#post(ANSWERS_PATH, body, TIMEOUT_MS, signal).catch(() => undefined);
      if (reply?.status === 200) return refusalIn(reply);
      if (reply !== undefined && reply.status >= 400 && reply.status < 500 && reply.status !== 429)
        return explainRefusal(reply);
      await pauseUnless(signal, backoff.nextMs());
      signal.throwIfAborted();
    }
  }

  #post(path: string, body: object, timeoutMs: number, signal: AbortSignal): Promise<VantageReply> {
    return this.#options.client.post(path, body, { timeoutMs, signal });
  }
}

const LATE = new Error('the deadline has passed');

function refusalIn({ text }: VantageReply): string | undefined {
  try {
    const { taken, reason } = JSON.parse(text) as { taken?: unknown; reason?: unknown };
    return taken === true ? undefined : String(reason ?? 'the API gives no reason').slice(0, 200);
  } catch {
    return 'the API does not report whether it accepts the answer';
  }
}

function explainRefusal({ status, clockAheadMs }: VantageReply): string {
  if (status !== 401) return `the API responds with status ${status}`;
  const seconds = Math.round(Math.abs(clockAheadMs) / 1000);
  if (Math.abs(clockAheadMs) > VANTAGE_CLOCK_MS)
    return `the API responds with status 401: the clock here is ${seconds} s ${clockAheadMs > 0 ? 'behind' : 'ahead of'} that of the API`;
  return 'the API responds with status 401: it knows no observer with this name and key (zonefleet vantage list)';
}

/** Omits the glue, which the API does not need from observers. */
function withoutGlue(evidence: Evidence): Evidence {
  return { ...evidence, servers: evidence.servers.map(({ glue: _, ...server }) => server) };
}
