import { describe, expect, it } from 'vitest';
import { secondsOf, spansOf } from '../../../../console/src/screens/uptime/spans.ts';

const NOW = Date.parse('2026-11-28T12:00:00.000Z');
const HOUR = 3_600_000;
const incident = (started: string, ended?: string) => ({
  id: 1,
  started_at: `2026-11-28T${started}:00.000Z`,
  ...(ended !== undefined && { ended_at: `2026-11-28T${ended}:00.000Z` }),
});

describe('incidents in a period', () => {
  it('are placed at their times', () => {
    const [span] = spansOf([incident('09:00', '10:00')], NOW, 4 * HOUR);
    expect(span).toMatchObject({ from: 0.25, length: 0.25, isOpen: false });
  });

  it('that began earlier start at the beginning of the period, and open ones end now', () => {
    expect(spansOf([incident('01:00', '09:00')], NOW, 4 * HOUR)[0]).toMatchObject({ from: 0, length: 0.25 });
    expect(spansOf([incident('11:00')], NOW, 4 * HOUR)[0]).toMatchObject({
      from: 0.75,
      length: 0.25,
      isOpen: true,
    });
  });

  it('that ended earlier are not shown, and short ones have a minimum length', () => {
    expect(spansOf([incident('01:00', '02:00')], NOW, 4 * HOUR)).toEqual([]);
    const [span] = spansOf([incident('12:00')], NOW, 4 * HOUR);
    expect(span?.length).toBeGreaterThan(0);
    expect((span?.from ?? 1) + (span?.length ?? 1)).toBeLessThanOrEqual(1);
  });
});

it('have a duration, until now if they are open', () => {
  expect(secondsOf(incident('11:00', '11:30'), NOW)).toBe(1800);
  expect(secondsOf(incident('11:00'), NOW)).toBe(3600);
});
