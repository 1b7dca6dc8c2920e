// Whether a domain's origins are down, minute by minute (docs/rules.md "Uptime"). A minute without requests says nothing: it neither
// begins nor ends an incident by itself.

export interface UptimeRules {
  /** From this share of failures on, in percent, a minute is down. */
  readonly thresholdPct: number;
  /** So many minutes without a clear one open an incident. */
  readonly windowMin: number;
  /** In these there were so many requests, */
  readonly minRequests: number;
  /** and so many minutes with requests. */
  readonly minActiveMin: number;
  /** So many clear minutes in succession end it. */
  readonly recoverMin: number;
}

interface Counted {
  readonly requests: number;
  readonly failures: number;
}

/** `minute`: since 1970. */
interface Minute extends Counted {
  readonly minute: number;
}

/** Minutes that are down, before there are enough for an incident. */
interface Run {
  readonly kind: 'run';
  readonly since: number;
  /** Those of the window, the oldest first. */
  readonly downs: readonly Minute[];
}

interface OpenIncident extends Counted {
  readonly kind: 'incident';
  readonly startedAt: number;
  /** The clear minutes in succession up to now. */
  readonly clear: (Counted & { readonly since: number; readonly minutes: number }) | null;
}

/** Undefined: nothing is suspected. */
export type UptimeState = Run | OpenIncident | undefined;

interface Judged {
  readonly state: UptimeState;
  readonly began?: true;
  /** The minute in which the first clear one of those began that ended it, and what was counted until then. */
  readonly ended?: Counted & { readonly at: number };
}

/** The minutes of a domain are judged in order, each once. */
export function judgeMinute(state: UptimeState, minute: Minute, rules: UptimeRules): Judged {
  if (minute.requests === 0) return { state };
  return state?.kind === 'incident' ? goOn(state, minute, rules) : suspect(state, minute, rules);
}

/** The share of failures in percent, with one digit behind the point. */
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
  // After a whole window of silence it begins anew.
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
