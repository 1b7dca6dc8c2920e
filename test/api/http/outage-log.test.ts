import { describe, expect, it } from 'vitest';
import { OutageLog } from '../../../src/api/http/outage-log.ts';
import type { OutageKind } from '../../../src/store/postgres/outage.ts';

describe('the log of outages', () => {
  const open = () => {
    const lines: { outage: OutageKind; calls: number; words: string }[] = [];
    const clock = { nowMs: 0 };
    const log = new OutageLog(
      { warn: ({ outage, calls }, words) => lines.push({ outage, calls, words }) },
      () => clock.nowMs,
    );
    return { lines, clock, log };
  };

  it('has a line for the first call of a kind, and one per minute for further calls', () => {
    const { lines, clock, log } = open();
    for (let i = 0; i < 1000; i++) {
      log.note('no_disk_space', new Error('full'));
      clock.nowMs += 119; // to just under two minutes
    }
    expect(lines).toEqual([
      { outage: 'no_disk_space', calls: 1, words: 'the database has no disk space' },
      { outage: 'no_disk_space', calls: 505, words: 'the database has no disk space' },
    ]);
    clock.nowMs = 180_000;
    log.tick();
    log.tick();
    expect(lines).toHaveLength(3);
    expect(lines.reduce((all, { calls }) => all + calls, 0)).toBe(1000);
  });

  it('counts each kind separately', () => {
    const { lines, log } = open();
    for (const kind of ['silent', 'busy', 'silent'] as const) log.note(kind, new Error(kind));
    expect(lines.map(({ outage }) => outage)).toEqual(['silent', 'busy']);
  });

  it('reports outages of writes until ten seconds after the last failure', () => {
    const { clock, log } = open();
    log.note('silent', new Error('hung'));
    expect(log.lacking()).toBeUndefined(); // reads fail too
    log.note('no_disk_space', new Error('full'));
    clock.nowMs = 9999;
    expect(log.lacking()).toBe('no_disk_space');
    clock.nowMs = 10_000;
    expect(log.lacking()).toBeUndefined();
  });
});
