import { expect, it } from 'vitest';
import { uptimePct } from '../../../src/edge/uptime/uptime-pct.ts';

const at = (minute: number) => new Date(minute * 60_000);
const span = (begin: number, end: number) => ({ begin: at(begin), end: at(end) });

it('the uptime is the share of the time in which no incident was', () => {
  expect(uptimePct(span(0, 1000), [])).toBe(100);
  expect(uptimePct(span(0, 1000), [span(-50, 10), span(20, 30), span(990, 2000)])).toBe(97);
  expect(uptimePct(span(0, 1440), [span(3, 4)])).toBe(99.931);
  expect(uptimePct(span(0, 10), [span(-5, 20)])).toBe(0);
  expect(uptimePct(span(10, 10), [])).toBeUndefined();
});
