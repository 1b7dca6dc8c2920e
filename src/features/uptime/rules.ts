// Decides whether the origins of a domain are down, minute by minute, and writes the mails about it.

import type { Letter } from '../../mail/mailer.ts';

export interface UptimeRules {
  /** A minute is down if at least this percentage of its requests failed. */
  readonly thresholdPct: number;
  /** This many minutes without a clear one open an incident. */
  readonly windowMin: number;
  /** Minimum number of requests in these minutes. */
  readonly minRequests: number;
  /** Minimum number of these minutes that have requests. */
  readonly minActiveMin: number;
  /** This many consecutive clear minutes end an incident. */
  readonly recoverMin: number;
}

interface Counted {
  readonly requests: number;
  readonly failures: number;
}

/** `minute` is counted since 1970. */
interface Minute extends Counted {
  readonly minute: number;
}

/** Minutes that are down, before there are enough of them for an incident. */
interface Run {
  readonly kind: 'run';
  readonly since: number;
  /** Minutes of the window, oldest first. */
  readonly downs: readonly Minute[];
}

interface OpenIncident extends Counted {
  readonly kind: 'incident';
  readonly startedAt: number;
  /** The consecutive clear minutes until now. */
  readonly clear: (Counted & { readonly since: number; readonly minutes: number }) | null;
}

/** Undefined if no outage is suspected. */
export type UptimeState = Run | OpenIncident | undefined;

interface Judged {
  readonly state: UptimeState;
  readonly began?: true;
  /** The first of the clear minutes that ended the incident, and the counts until then. */
  readonly ended?: Counted & { readonly at: number };
}

/** The minutes of a domain must be evaluated in order, each once. */
export function judgeMinute(state: UptimeState, minute: Minute, rules: UptimeRules): Judged {
  if (minute.requests === 0) return { state };
  return state?.kind === 'incident' ? goOn(state, minute, rules) : suspect(state, minute, rules);
}

/** Returns the percentage of failures, with one decimal. */
export function errorPct({ requests, failures }: Counted): number {
  return requests === 0 ? 0 : Math.round((1000 * failures) / requests) / 10;
}

function isDown({ requests, failures }: Counted, { thresholdPct }: UptimeRules): boolean {
  return 100 * failures >= thresholdPct * requests;
}

function suspect(run: Run | undefined, minute: Minute, rules: UptimeRules): Judged {
  if (!isDown(minute, rules)) return { state: undefined };
  const { windowMin, minRequests, minActiveMin } = rules;
  const last = run?.downs.at(-1)?.minute;
  // A run restarts after a whole window without requests.
  const before =
    run !== undefined && last !== undefined && minute.minute - last <= windowMin ? run : undefined;
  const first = minute.minute - windowMin + 1;
  const downs = [...(before?.downs ?? []), minute].filter((each) => each.minute >= first);
  const since = before?.since ?? minute.minute;
  const all = sum(downs);
  const isEnough = all.requests >= minRequests && downs.length >= Math.min(minActiveMin, windowMin);
  if (since > first || !isEnough) return { state: { kind: 'run', since, downs } };
  const startedAt = (downs[0] as Minute).minute;
  return { began: true, state: { kind: 'incident', startedAt, ...all, clear: null } };
}

function goOn(incident: OpenIncident, minute: Minute, rules: UptimeRules): Judged {
  const { clear } = incident;
  if (isDown(minute, rules))
    return {
      state: { ...incident, ...sum([incident, minute, ...(clear === null ? [] : [clear])]), clear: null },
    };
  const minutes = (clear?.minutes ?? 0) + 1;
  const since = clear?.since ?? minute.minute;
  if (minutes >= rules.recoverMin) {
    const { requests, failures } = incident;
    return { state: undefined, ended: { at: since, requests, failures } };
  }
  const counted = sum(clear === null ? [minute] : [clear, minute]);
  return { state: { ...incident, clear: { since, minutes, ...counted } } };
}

function sum(parts: readonly Counted[]): Counted {
  let requests = 0;
  let failures = 0;
  for (const part of parts) {
    requests += part.requests;
    failures += part.failures;
  }
  return { requests, failures };
}

interface Span {
  readonly begin: Date;
  readonly end: Date;
}

/** Returns the percentage with three decimals. `incidents` must not overlap. Returns undefined if the span is empty. */
export function uptimePct({ begin, end }: Span, incidents: readonly Span[]): number | undefined {
  const whole = end.getTime() - begin.getTime();
  if (whole <= 0) return undefined;
  let down = 0;
  for (const incident of incidents) {
    const from = Math.max(incident.begin.getTime(), begin.getTime());
    const to = Math.min(incident.end.getTime(), end.getTime());
    down += Math.max(0, to - from);
  }
  return Math.round(100_000 * (1 - down / whole)) / 1000;
}

interface OutageNews {
  /** Without the final dot. */
  readonly domain: string;
  readonly isOver: boolean;
  /** Describes what was observed. */
  readonly message: string;
  readonly publicUrl: string;
}

export function writeOutageLetter(to: string, { domain, isOver, message, publicUrl }: OutageNews): Letter {
  const subject = isOver ? 'origins respond again' : 'origins are down';
  return {
    to,
    subject: `${domain}: ${subject}`,
    text: `This is about ${domain}, which belongs to your account.\n\n${message}\n\nYou receive this mail because outage_alerts is enabled for the domain. Its settings define what counts as an outage.\n\nView the domain: ${publicUrl}\n`,
  };
}
