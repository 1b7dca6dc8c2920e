// autocannon: repeats one HTTP call over several connections, each as soon as the previous one is answered, and counts the
// responses.

import { createRequire } from 'node:module';
import { runToEnd } from '../program.ts';
import type { RepeatedCall } from './api-under-test.ts';

/** Number of concurrent calls. */
export const CONNECTIONS = 10;
const GRACE_MS = 20_000;
/** Fraction of calls that may get no answer: PowerDNS ends the connection after each one, sometimes while the next is being sent. */
const LOST_PART = 0.05;
const PROGRAM = createRequire(import.meta.url).resolve('autocannon');

export interface Answered {
  readonly requestsPerSecond: number;
  /** Median time of an answer. */
  readonly p50Ms: number;
}

/** Throws if too many calls got no answer, or if a call did not succeed. */
export async function runAutocannon(
  call: RepeatedCall,
  { seconds, cpu }: { readonly seconds: number; readonly cpu: number | undefined },
): Promise<Answered> {
  const command = [process.execPath, PROGRAM, ...wordsOf(call, seconds)];
  return readAnswered(await runToEnd(command, { cpu, timeoutMs: seconds * 1000 + GRACE_MS }));
}

function wordsOf({ url, method, headers, body }: RepeatedCall, seconds: number): string[] {
  const given = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}=${value}`]);
  const sent = body === undefined ? [] : ['-b', body, '-I'];
  return ['-j', '-n', '-c', String(CONNECTIONS), '-d', String(seconds), '-m', method, ...given, ...sent, url];
}

interface Told {
  readonly requests: { readonly average: number };
  readonly latency: { readonly p50: number };
  readonly errors: number;
  readonly '2xx': number;
  readonly non2xx: number;
}

export function readAnswered(output: string): Answered {
  const told = JSON.parse(output.slice(output.indexOf('{'))) as Told;
  const { requests, latency, errors, non2xx } = told;
  if (errors > LOST_PART * told['2xx'] || non2xx > 0 || told['2xx'] === 0) {
    throw new Error(`autocannon: ${told['2xx']} calls succeeded, ${non2xx} failed, ${errors} got no answer`);
  }
  return { requestsPerSecond: requests.average, p50Ms: latency.p50 };
}
