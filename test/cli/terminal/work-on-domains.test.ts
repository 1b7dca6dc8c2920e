import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { collectDomainNames } from '../../../src/cli/terminal/collect-domain-names.ts';
import { INTERRUPTED } from '../../../src/cli/terminal/output.ts';
import { type DomainOutcome, workOnDomains } from '../../../src/cli/terminal/work-on-domains.ts';
import { captureOutput } from '../../support/tests/captured-output.ts';

const DONE: DomainOutcome = { kind: 'done', words: 'now', members: { serial: 7 } };

async function work(
  names: string[],
  act: (text: string) => Promise<DomainOutcome>,
  signal = new AbortController().signal,
) {
  const captured = captureOutput(false);
  const domains = await collectDomainNames({ names, file: undefined });
  const order = { domains, outcome: 'moved', act: ({ text }: { text: string }) => act(text), signal };
  const code = await workOnDomains(order, captured.output).catch((error: Error) => error);
  return { code, out: captured.out.trimEnd().split('\n'), err: captured.err };
}

describe('one command on many domains', () => {
  it('has a few under way at once and tells them in their order', async () => {
    let underWay = 0;
    let most = 0;
    const names = Array.from({ length: 12 }, (_, i) => `n${i}.com`);
    const { code, out } = await work(names, async (text) => {
      most = Math.max(most, ++underWay);
      await pause(text.length % 2 === 0 ? 1 : 5);
      underWay--;
      return DONE;
    });
    expect(code).toBe(0);
    expect(out).toEqual([...names.map((name) => `moved ${name} now`), 'domains 12 moved 12 refused 0']);
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(8);
  });

  it('ends at an interrupt, and tells all that was done', async () => {
    const interrupt = new AbortController();
    const done: string[] = [];
    const names = Array.from({ length: 50 }, (_, i) => `n${i}.com`);
    const act = async (text: string) => {
      if (text === 'n5.com') interrupt.abort();
      await pause(1);
      done.push(text);
      return DONE;
    };
    const { code, out } = await work(names, act, interrupt.signal);
    expect(code).toBe(INTERRUPTED);
    expect(out.slice(0, -1)).toEqual(done.map((name) => `moved ${name} now`));
    expect(out.at(-1)).toMatch(/ \(stopped before the end\)$/);
    expect(done.length).toBeLessThan(20);
  });

  it('fails with the database, and tells what was done all the same', async () => {
    const act = async (text: string) => {
      await pause(1);
      if (text === 'b.com') throw new Error('Postgres is gone');
      return DONE;
    };
    const { code, out } = await work(['a.com', 'b.com', 'c.com'], act);
    expect(code).toMatchObject({ message: 'Postgres is gone' });
    expect(out).toEqual([
      'moved a.com now',
      'moved c.com now',
      'domains 2 moved 2 refused 0 (stopped before the end)',
    ]);
  });
});
