// Reads the jobs of the API. A compromised API must not be able to direct an observer anywhere: each job must be a
// name that a customer could have, with a short deadline.

import * as z from 'zod/mini';
import type { Name } from '../../src/dns/name.ts';
import { judgeDomainName, parseDomainName } from '../../src/zone/domain/domain-name.ts';

export interface VantageJob {
  readonly id: string;
  /** The name as the API wrote it. */
  readonly text: string;
  readonly name: Name;
  /** Time until the deadline. */
  readonly leftMs: number;
  readonly fresh: boolean;
  readonly thorough: boolean;
}

interface ReadJobs {
  readonly jobs: readonly VantageJob[];
  /** Log texts about rejected jobs. */
  readonly refused: readonly string[];
}

/** A job's time is 30 s. A longer time is reduced to this. */
const LONGEST_MS = 60_000;
const SHOWN_CHARACTERS = 100;

/** More than an observer ever requests. A response with more jobs is not from the API. */
const MOST_JOBS = 64;

const body = z.object({ jobs: z.array(z.unknown()).check(z.maxLength(MOST_JOBS)) });
const job = z.object({
  id: z.uuid(),
  name: z.string(),
  deadline: z.iso.datetime(),
  fresh: z.boolean(),
  thorough: z.boolean(),
});

/** Returns undefined if the text is not a list of jobs. `nowMs` is the API's time. */
export function readJobs(
  text: string,
  { nowMs, max }: { readonly nowMs: number; readonly max: number },
): ReadJobs | undefined {
  const parsed = body.safeParse(parseJson(text));
  if (!parsed.success) return undefined;
  const jobs: VantageJob[] = [];
  const refused: string[] = [];
  for (const each of parsed.data.jobs) {
    const read = jobs.length < max ? readJob(each, nowMs) : 'there are more jobs than requested';
    if (typeof read === 'string') refused.push(read);
    else jobs.push(read);
  }
  return { jobs, refused };
}

function readJob(value: unknown, nowMs: number): VantageJob | string {
  const parsed = job.safeParse(value);
  if (!parsed.success) return `the job is malformed: ${shown(JSON.stringify(value))}`;
  const { id, name: text, deadline, fresh, thorough } = parsed.data;
  const domain = parseDomainName(text);
  if (domain.kind === 'problem') return domain.message;
  const problem = judgeDomainName(domain.name, { allowReserved: true, dnsMode: 'managed' });
  if (problem !== undefined) return problem.message;
  const leftMs = Math.min(LONGEST_MS, Date.parse(deadline) - nowMs);
  if (leftMs <= 0) return `the deadline has passed: ${shown(text)}`;
  return { id, text, name: domain.name, leftMs, fresh, thorough };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function shown(text: string): string {
  return text.length <= SHOWN_CHARACTERS ? text : `${text.slice(0, SHOWN_CHARACTERS - 1)}…`;
}
