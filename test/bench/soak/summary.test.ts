import { describe, expect, it } from 'vitest';
import type { SoakEvent } from '../../../bench/soak/journal.ts';
import type { Sample } from '../../../bench/soak/samples.ts';
import { hasPassed, summarize } from '../../../bench/soak/summary.ts';

const LABELS = ['ns1', 'api-1', 'workers-1', 'ns2'];

/** A sample per minute. `bytes` is the memory of each program after that many hours. */
function samplesOf(hours: number, bytes: (hour: number, label: string) => number): Sample[] {
  return Array.from({ length: hours * 60 + 1 }, (_, minute) => ({
    at: minute * 60,
    piece: minute < hours * 30 ? 1 : 2,
    faults: [],
    processes: Object.fromEntries(
      LABELS.map((label) => [
        label,
        { pid: 1, pssBytes: bytes(minute / 60, label), descriptors: 20, cpuSeconds: minute * 6 },
      ]),
    ),
    answers: { ns1: { asked: minute, answered: minute, wrong: 0 } },
    edits: minute,
    repeats: 0,
    lags: [{ node: 'ns1', ms: minute, isDisturbed: minute % 2 === 1 }],
    checks: { match: minute },
    databaseBytes: 0,
  }));
}

const failure: SoakEvent = { at: 60, kind: 'wrong', text: 'ns1: 7 was never written' };

describe('summarize', () => {
  it('passes a run whose memory is flat', () => {
    const summary = summarize({ samples: samplesOf(4, () => 1000), events: [] });
    expect(summary).toMatchObject({ hours: 4, pieces: 2, isFlat: true, asked: 119 + 240, edits: 119 + 240 });
    expect(summary.cores.ns1).toBeCloseTo(0.1);
    expect(hasPassed(summary)).toBe(true);
  });

  it('fails a run in which a program grows by more than a twentieth between the first and the last hour', () => {
    const grow = (factor: number) =>
      summarize({
        samples: samplesOf(4, (hour, label) => (label === 'api-1' && hour > 2 ? 1000 * factor : 1000)),
        events: [],
      });
    expect(grow(1.04).isFlat).toBe(true);
    expect(grow(1.06).isFlat).toBe(false);
    expect(hasPassed(grow(1.06))).toBe(false);
  });

  it('fails a run in which a program opens more and more descriptors', () => {
    const open = (more: number) => {
      const samples = samplesOf(4, () => 1000);
      for (const { at, processes } of samples)
        if (at > 2 * 3600) Object.assign(processes.ns1 as object, { descriptors: 20 + more });
      return summarize({ samples, events: [] });
    };
    expect(open(2).isFlat).toBe(true);
    expect(open(3).isFlat).toBe(false);
  });

  it('ignores the memory of programs that faults restart, and of short runs', () => {
    const restarted = (hour: number, label: string) => (label === 'ns2' ? 1000 * (1 + hour) : 1000);
    expect(summarize({ samples: samplesOf(4, restarted), events: [] }).isFlat).toBe(true);
    expect(
      summarize({ samples: samplesOf(1, (hour) => 1000 * (1 + hour)), events: [] }).isFlat,
    ).toBeUndefined();
  });

  it('fails a run with a wrong answer, or without answers', () => {
    const samples = samplesOf(4, () => 1000);
    expect(hasPassed(summarize({ samples, events: [failure] }))).toBe(false);
    expect(hasPassed(summarize({ samples: [], events: [] }))).toBe(false);
  });

  it('separates the delay of answers during faults', () => {
    const [lag] = summarize({ samples: samplesOf(4, () => 1000), events: [] }).lags;
    expect(lag).toMatchObject({ node: 'ns1', longestMs: 240, longestDisturbedMs: 239 });
  });
});
