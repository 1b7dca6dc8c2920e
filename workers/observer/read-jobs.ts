// Reads the jobs that the API gives. Whoever has taken over the API must not send us anywhere: each job is a name that a
// customer could have, with little time.

import * as z from 'zod/mini';
import type { Name } from '../../src/dns/name.ts';
import { judgeDomainName, parseDomainName } from '../../src/zone/domain/domain-name.ts';

export interface VantageJob {
  readonly id: string;
  /** As the API wrote it. */
  readonly text: string;
  readonly name: Name;
  /** Until the answer must be there. */
  readonly leftMs: number;
  readonly fresh: boolean;
  readonly thorough: boolean;
}

interface ReadJobs {
  readonly jobs: readonly VantageJob[];
  /** Why others are not done, in words for the log. */
  readonly refused: readonly string[];
}

/** A job's time is 30 s; none is kept longer, whatever the API says. */
const LONGEST_MS = 60_000;
const SHOWN_CHARACTERS = 100;

/** More than was ever asked for: what sends so many is no API of ours. */
const MOST_JOBS = 64;

const body = z.object({ jobs: z.array(z.unknown()).check(z.maxLength(MOST_JOBS)) });
const job = z.object({
  id: z.uuid(),
  name: z.string(),
  deadline: z.iso.datetime(),
  fresh: z.boolean(),
  thorough: z.boolean(),
});

/** Undefined when the text is no such answer. `nowMs`: the API's time. */
export function readJobs(
  text: string,
  { nowMs, max }: { readonly nowMs: number; readonly max: number },
): ReadJobs | undefined {
  const parsed = body.safeParse(parseJson(text));
  if (!parsed.success) return undefined;
  const jobs: VantageJob[] = [];
  const refused: string[] = [];
  for (const each of parsed.data.jobs) {
    const read = jobs.length < max ? readJob(each, nowMs) : 'it is more than was asked for';
    if (typeof read === 'string') refused.push(read);
    else jobs.push(read);
  }
  return { jobs, refused };
}

function readJob(value: unknown, nowMs: number): VantageJob | string {
  const parsed = job.safeParse(value);
  if (!parsed.success) return `it has another form: ${shown(JSON.stringify(value))}`;
  const { id, name: text, deadline, fresh, thorough } = parsed.data;
  const domain = parseDomainName(text);
  if (domain.kind === 'problem') return domain.message;
  const problem = judgeDomainName(domain.name, { allowReserved: true, dnsMode: 'managed' });
  if (problem !== undefined) return problem.message;
  const leftMs = Math.min(LONGEST_MS, Date.parse(deadline) - nowMs);
  if (leftMs <= 0) return `its time is over: ${shown(text)}`;
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
