// When incidents start and end.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  errorPct,
  judgeMinute,
  type UptimeRules,
  type UptimeState,
  uptimePct,
} from '../../../src/features/uptime/rules.ts';
import { scale } from '../../support/tests/scale.ts';

// When incidents start and end, written from docs/rules.md "Uptime" and independently of the code: for each minute,
// it looks back over all earlier ones.

interface ModelRules {
  readonly threshold: number;
  readonly window: number;
  readonly requests: number;
  readonly active: number;
  readonly recover: number;
}

/** [requests, failures] of each minute. */
type Series = readonly (readonly [number, number])[];

interface ModelIncident {
  readonly started: number;
  readonly openedAt: number;
  ended?: number;
  endedAt?: number;
}

function incidentsOf(series: Series, rules: ModelRules): ModelIncident[] {
  const kind = ([requests, failures]: readonly [number, number]) =>
    requests === 0 ? ' ' : failures / requests >= rules.threshold / 100 - 1e-12 ? 'D' : 'c';
  const line = series.map(kind).join('');
  const found: ModelIncident[] = [];
  let from = 0; // earlier minutes belong to an ended incident
  for (let now = 0; now < line.length; now++) {
    const open = found.at(-1);
    if (open !== undefined && open.endedAt === undefined) {
      const heard = [...line.slice(open.openedAt + 1, now + 1)].flatMap((each, at) =>
        each === ' ' ? [] : [{ each, at: open.openedAt + 1 + at }],
      );
      const last = heard.slice(-rules.recover);
      if (last.length === rules.recover && last.every(({ each }) => each === 'c')) {
        open.ended = last[0]?.at as number;
        open.endedAt = now;
        from = now + 1;
      }
      continue;
    }
    if (line[now] !== 'D') continue;
    const past = line.slice(from, now + 1);
    const forgotten = Math.max(
      past.lastIndexOf('c'),
      // a whole window without requests, anywhere before
      past.lastIndexOf(' '.repeat(rules.window)) +
        (past.includes(' '.repeat(rules.window)) ? rules.window - 1 : 0),
    );
    const since = past.indexOf('D', forgotten + 1);
    if (since < 0 || past.length - since < rules.window) continue;
    const begin = now - rules.window + 1;
    const window = series.slice(begin, now + 1);
    const requests = window.reduce((sum, [n]) => sum + n, 0);
    const active = window.filter(([n]) => n > 0).length;
    if (requests < rules.requests || active < Math.min(rules.active, rules.window)) continue;
    found.push({ started: begin + line.slice(begin, now + 1).indexOf('D'), openedAt: now });
  }
  return found;
}

const RULES: ModelRules = { threshold: 80, window: 5, requests: 20, active: 3, recover: 3 };

const rulesOf = ({ threshold, window, requests, active, recover }: ModelRules): UptimeRules => ({
  thresholdPct: threshold,
  windowMin: window,
  minRequests: requests,
  minActiveMin: active,
  recoverMin: recover,
});

function judge(series: Series, rules: ModelRules = RULES) {
  const incidents: (ModelIncident & { requests?: number; failures?: number })[] = [];
  let state: UptimeState;
  series.forEach(([requests, failures], minute) => {
    const judged = judgeMinute(state, { minute, requests, failures }, rulesOf(rules));
    state = judged.state;
    if (judged.began && state?.kind === 'incident')
      incidents.push({ started: state.startedAt, openedAt: minute });
    const last = incidents.at(-1);
    if (judged.ended !== undefined && last !== undefined) {
      const { at, requests, failures } = judged.ended;
      Object.assign(last, { ended: at, endedAt: minute, requests, failures });
    }
  });
  return { incidents, state };
}

/** D: down, c: clear, blank: no requests. */
const draw = (line: string, requests = 10): Series =>
  [...line].map((each) => (each === ' ' ? [0, 0] : each === 'D' ? [requests, requests] : [requests, 0]));

describe('an incident', () => {
  it('starts after enough minutes that were down, and ends at the first of enough clear ones', () => {
    const { incidents } = judge(draw('ccDDDDDDDccDccc'));
    expect(incidents).toEqual([
      { started: 2, openedAt: 6, ended: 12, endedAt: 14, requests: 100, failures: 80 },
    ]);
  });

  it('neither starts nor ends without requests', () => {
    expect(judge(draw('DDDD')).incidents).toEqual([]);
    expect(judge(draw('DDDD   ')).incidents).toEqual([]);
    const { incidents, state } = judge(draw(`DDDDDcc${' '.repeat(500)}`));
    expect([incidents[0]?.ended, state?.kind]).toEqual([undefined, 'incident']);
    expect(judge(draw(`DDDDDcc${' '.repeat(500)}c`)).incidents).toMatchObject([{ ended: 5, endedAt: 507 }]);
  });

  it('ignores minutes before a window without requests', () => {
    expect(judge(draw(`DDDD     DDDD`)).incidents).toEqual([]);
    expect(judge(draw(`DDDD     DDDDD`)).incidents).toMatchObject([{ started: 9, openedAt: 13 }]);
  });

  it('uses the settings at the time of the evaluation', () => {
    const series = draw('DDDDDDDD');
    let state: UptimeState;
    const began = series.map(([requests, failures], minute) => {
      const rules = rulesOf({ ...RULES, window: minute < 6 ? 60 : 3 });
      const judged = judgeMinute(state, { minute, requests, failures }, rules);
      state = judged.state;
      return judged.began === true;
    });
    expect(began.indexOf(true)).toBe(6);
  });
});

it('incidents in random series match docs/rules.md', () => {
  const minute = fc.oneof(
    { weight: 3, arbitrary: fc.constant([0, 0] as const) },
    { weight: 5, arbitrary: fc.integer({ min: 1, max: 12 }).map((n) => [n, n] as const) },
    { weight: 2, arbitrary: fc.tuple(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 0, max: 12 })) },
  );
  const series = fc
    .array(minute, { maxLength: 120 })
    .map((all) => all.map(([requests, failures]) => [requests, Math.min(requests, failures)] as const));
  const rules = fc.record({
    threshold: fc.integer({ min: 50, max: 100 }),
    window: fc.integer({ min: 2, max: 12 }),
    requests: fc.integer({ min: 0, max: 40 }),
    active: fc.integer({ min: 1, max: 14 }),
    recover: fc.integer({ min: 1, max: 6 }),
  });
  let seen = 0;
  fc.assert(
    fc.property(series, rules, (line, by) => {
      const expected = incidentsOf(line, by);
      seen += expected.length;
      const { incidents } = judge(line, by);
      expect(incidents.map(({ requests: _, failures: __, ...rest }) => rest)).toEqual(expected);
      for (const { started, ended, requests, failures } of incidents) {
        if (ended === undefined) continue;
        const within = line.slice(started, ended);
        expect([requests, failures]).toEqual([
          within.reduce((sum, [n]) => sum + n, 0),
          within.reduce((sum, [, f]) => sum + f, 0),
        ]);
      }
    }),
    { numRuns: scale(5000, 400) },
  );
  expect(seen).toBeGreaterThan(scale(300, 25));
});

it('the stored state is limited by the window', () => {
  const { state } = judge(draw('D'.repeat(300), 1), { ...RULES, window: 60, requests: 1e9 });
  expect(state?.kind === 'run' && state.downs.length).toBe(60);
});

it('the percentage of failures has one decimal', () => {
  expect([errorPct({ requests: 3, failures: 2 }), errorPct({ requests: 0, failures: 0 })]).toEqual([66.7, 0]);
});

const at = (minute: number) => new Date(minute * 60_000);
const span = (begin: number, end: number) => ({ begin: at(begin), end: at(end) });

it('the uptime is the percentage of time without incidents', () => {
  expect(uptimePct(span(0, 1000), [])).toBe(100);
  expect(uptimePct(span(0, 1000), [span(-50, 10), span(20, 30), span(990, 2000)])).toBe(97);
  expect(uptimePct(span(0, 1440), [span(3, 4)])).toBe(99.931);
  expect(uptimePct(span(0, 10), [span(-5, 20)])).toBe(0);
  expect(uptimePct(span(10, 10), [])).toBeUndefined();
});
