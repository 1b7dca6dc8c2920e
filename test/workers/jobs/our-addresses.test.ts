import { describe, expect, it } from 'vitest';
import { rememberOurAddresses } from '../../../workers/jobs/our-addresses.ts';
import { nameserverSets } from '../../support/world/check-evidence.ts';

const SETS = nameserverSets('ns1.a ns2.a | ns1.a ns2.b');
const ADDRESSES: ReadonlySet<string> = new Set(['192.0.2.1']);

/** `answers` are the results of successive lookups. The last one repeats. */
function start(answers: (ReadonlySet<string> | undefined | Error)[]) {
  const clock = { ms: 0 };
  const asked: string[][] = [];
  const find = rememberOurAddresses(
    {
      async findAllAddresses(names) {
        asked.push([...names].map(String));
        const answer = answers[Math.min(asked.length, answers.length) - 1];
        if (answer instanceof Error) throw answer;
        return answer;
      },
    },
    () => clock.ms,
  );
  return { clock, asked, find };
}

describe('the addresses of the fleet’s nameservers', () => {
  it('are looked up once in ten minutes, each name once', async () => {
    const { clock, asked, find } = start([ADDRESSES]);
    expect(await Promise.all([find(SETS), find(SETS)])).toEqual([ADDRESSES, ADDRESSES]);
    clock.ms = 599_999;
    await find(SETS);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toHaveLength(3);
    clock.ms = 600_000;
    await find(SETS);
    expect(asked).toHaveLength(2);
  });

  it('are looked up again for other sets', async () => {
    const { asked, find } = start([ADDRESSES]);
    await find(SETS);
    await find(nameserverSets('ns1.c'));
    expect(asked).toHaveLength(2);
  });

  it.each([undefined, new Error('closed')])('are unknown for a minute after %s', async (answer) => {
    const { clock, asked, find } = start([answer, ADDRESSES]);
    expect(await find(SETS)).toBeUndefined();
    clock.ms = 59_999;
    expect(await find(SETS)).toBeUndefined();
    expect(asked).toHaveLength(1);
    clock.ms = 60_000;
    expect(await find(SETS)).toBe(ADDRESSES);
  });
});
