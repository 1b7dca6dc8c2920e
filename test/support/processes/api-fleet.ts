// Some API processes that are killed and come back, and a client that asks again until one of them answers.

import { setTimeout as pause } from 'node:timers/promises';
import { type ApiProcess, startApi } from './api-process.ts';

export interface Asked {
  readonly token: string;
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly key?: string;
}

export interface FleetAnswer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it freely
  readonly body: any;
  /** It says that the call was carried out before. */
  readonly isReplay: boolean;
  /** Broken connections and 5xx before it. */
  readonly failures: number;
}

const ANSWER_MS = 60_000;
const MOST_FAILURES = 2000;

export class ApiFleet {
  readonly #apis: (ApiProcess | undefined)[];
  readonly #start: () => Promise<ApiProcess>;
  readonly #coming = new Set<Promise<void>>();
  #turn = 0;
  #isOver = false;
  kills = 0;

  private constructor(start: () => Promise<ApiProcess>, apis: readonly ApiProcess[]) {
    this.#start = start;
    this.#apis = [...apis];
  }

  static async start(
    databaseUrl: string,
    count: number,
    env: Record<string, string> = {},
  ): Promise<ApiFleet> {
    const start = () => startApi(databaseUrl, { env });
    const apis: ApiProcess[] = [];
    for (let i = 0; i < count; i++) apis.push(await start());
    return new ApiFleet(start, apis);
  }

  /** At once and without a word, where another is up; one more is started. */
  async kill(): Promise<void> {
    const alive = this.#apis.flatMap((api, i) => (api === undefined ? [] : [i]));
    if (alive.length < 2) return;
    const i = alive[this.kills++ % alive.length] as number;
    const api = this.#apis[i] as ApiProcess;
    this.#apis[i] = undefined;
    await api.stop('SIGKILL');
    const coming = this.#restart(i).finally(() => this.#coming.delete(coming));
    this.#coming.add(coming);
  }

  /** Until somebody answers with less than 500. */
  async ask(asked: Asked): Promise<FleetAnswer> {
    for (let failures = 0; failures < MOST_FAILURES; failures++) {
      const answer = await this.#askOnce(asked).catch(() => undefined);
      if (answer !== undefined && answer.status < 500) return { ...answer, failures };
      await pause(50);
    }
    throw new Error(`nobody answers ${asked.method} ${asked.path}`);
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#coming);
    await Promise.all(this.#apis.map((api) => api?.stop('SIGKILL')));
  }

  async #restart(i: number): Promise<void> {
    while (!this.#isOver) {
      try {
        this.#apis[i] = await this.#start();
        return;
      } catch {
        await pause(200); // Postgres may be away
      }
    }
  }

  async #askOnce({
    token,
    method,
    path,
    body,
    key,
  }: Asked): Promise<Omit<FleetAnswer, 'failures'> | undefined> {
    const api = this.#apis[this.#turn++ % this.#apis.length];
    if (api === undefined) return undefined;
    const response = await fetch(`${api.url}${path}`, {
      method,
      body: JSON.stringify(body),
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        ...(key !== undefined && { 'idempotency-key': key }),
      },
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    const isReplay = response.headers.get('idempotent-replay') === 'true';
    return { status: response.status, body: await response.json(), isReplay };
  }
}
