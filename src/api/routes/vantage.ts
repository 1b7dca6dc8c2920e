// Assigns jobs to observers and accepts their results (docs/rules.md "Vantage points"). One query every 200 ms serves
// all calls of this process that wait for a job.

import { type JsonEvidence, readJsonName } from '../../checks/delegation/evidence-json.ts';
import type { Database } from '../../store/postgres/database.ts';
import { saveVantageAnswer, takeVantageJobs, vantagesWithJobs } from '../../store/vantage/vantage-jobs.ts';
import { noteVantageSeen } from '../../store/vantage/vantages.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { invalid, Problem } from '../answers/problem.ts';
import { outsideAddress } from '../callers/caller.ts';
import { type Route, route, vantage } from '../calls/route.ts';
import { Jobs, JobsWanted, Taken, VantageAnswer } from '../schemas/vantage.ts';

const POLL_MS = 200;
/** Maximum number of waiting calls per observer. It needs one, and a second one after its connection broke. */
const MOST_CALLS = 4;

interface Call {
  readonly vantage: string;
  end(outcome: 'there' | 'over'): void;
  fail(error: unknown): void;
}

class JobWatch {
  readonly #db: Database;
  readonly #calls = new Set<Call>();
  #isPolling = false;

  constructor(db: Database) {
    this.#db = db;
  }

  wait(vantage: string, timeoutMs: number, gone: AbortSignal): Promise<'there' | 'over' | 'too_many'> {
    const own = [...this.#calls].filter((call) => call.vantage === vantage);
    if (own.length >= MOST_CALLS) return Promise.resolve('too_many');
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer);
        gone.removeEventListener('abort', over);
        this.#calls.delete(call);
      };
      const over = () => call.end('over');
      const timer = setTimeout(over, timeoutMs);
      const call: Call = {
        vantage,
        end(outcome) {
          leave();
          resolve(outcome);
        },
        fail(error) {
          leave();
          reject(error);
        },
      };
      gone.addEventListener('abort', over);
      this.#calls.add(call);
      if (gone.aborted) return over();
      if (!this.#isPolling) void this.#poll();
    });
  }

  async #poll(): Promise<void> {
    this.#isPolling = true;
    while (this.#calls.size > 0) {
      const asking = [...this.#calls];
      try {
        const there = new Set(
          await vantagesWithJobs(this.#db, [...new Set(asking.map(({ vantage }) => vantage))]),
        );
        for (const call of asking) if (this.#calls.has(call) && there.has(call.vantage)) call.end('there');
      } catch (error) {
        for (const call of asking) if (this.#calls.has(call)) call.fail(error);
      }
      if (this.#calls.size > 0) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    this.#isPolling = false;
  }
}

const watches = new WeakMap<Database, JobWatch>();

/** `there`: another call may still take the job. `over`: the time is over, or the client has disconnected. */
function waitForVantageJob(
  db: Database,
  vantage: string,
  timeoutMs: number,
  gone: AbortSignal,
): Promise<'there' | 'over' | 'too_many'> {
  const watch = watches.get(db) ?? new JobWatch(db);
  watches.set(db, watch);
  return watch.wait(vantage, timeoutMs, gone);
}

const tag = 'Observers';
const ANSWER_BYTES = 256 * 1024;
const WANTED_BYTES = 1024;

const takeJobs = route(vantage, {
  method: 'POST',
  path: '/vantage/v1/jobs',
  operationId: 'takeVantageJobs',
  audit: { none: 'observers take jobs; their results are in the checks' },
  tag,
  summary: 'Takes jobs for this observer, and waits for one if there are none.',
  description:
    'Each job is assigned once. The observer must sign the request with its key. API keys are not accepted.',
  waits: true,
  bodyBytes: WANTED_BYTES,
  body: JobsWanted,
  response: Jobs,
  async run({ api: { db }, vantage, address, gone, body: { max, waitSeconds } }) {
    await noteVantageSeen(db, vantage, outsideAddress(address));
    let jobs = await takeVantageJobs(db, vantage, max);
    if (jobs.length === 0 && waitSeconds > 0) {
      const waited = await waitForVantageJob(db, vantage, waitSeconds * 1000, gone);
      if (waited === 'too_many') return new Problem(429, 'too many waiting calls of this observer', RETRY);
      if (waited === 'there') jobs = await takeVantageJobs(db, vantage, max);
    }
    return {
      jobs: jobs.map(({ id, name, deadline, fresh, thorough }) => ({
        id,
        name: printWithoutDot(name),
        deadline: deadline.toISOString(),
        fresh,
        thorough,
      })),
    };
  },
});

const RETRY = { headers: { 'Retry-After': '1' } };

const answerVantageJob = route(vantage, {
  method: 'POST',
  path: '/vantage/v1/answers',
  operationId: 'answerVantageJob',
  audit: { none: 'observers report; their results are in the checks' },
  tag,
  summary: 'Submits the result of a job.',
  description:
    'Accepted once, from the observer that has the job, before its deadline and for its name. Other results are dropped and counted.',
  bodyBytes: ANSWER_BYTES,
  body: VantageAnswer,
  response: Taken,
  async run({ api: { db, countVantageAnswer }, vantage, body: { id, name, evidence } }) {
    const nameText = readJsonName(name);
    if (nameText === undefined) return invalid([{ field: 'name', error: 'must be a domain name' }]);
    if (evidence.domain !== nameText)
      return invalid([{ field: 'evidence.domain', error: 'must be the name of the answer' }]);
    const outcome = await saveVantageAnswer(db, {
      id,
      vantage,
      nameText,
      evidence: evidence as JsonEvidence, // absent members are absent in JSON too
    });
    countVantageAnswer?.(outcome);
    return outcome === 'taken' ? { taken: true } : { taken: false, reason: outcome };
  },
});

export const VANTAGE_ROUTES: readonly Route[] = [takeJobs, answerVantageJob];
