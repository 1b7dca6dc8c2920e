import { describe, expect, it } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { AddressGate, type Asked, type TrialSource } from '../../../src/resolver/state/address-gate.ts';
import { Silences } from '../../../src/resolver/state/silences.ts';

const ZONE = parseName('example.');

function start(options: Partial<ConstructorParameters<typeof AddressGate>[0]> = {}) {
  const clock = { ms: 1_800_000_000_000 };
  const silences = new Silences(() => clock.ms);
  const gate = new AddressGate({ silences, now: () => clock.ms, ...options });
  const signal = new AbortController().signal;
  const enter = (address = '192.0.2.1', zone = ZONE, fresh = false) =>
    gate.enter(address, { zone, fresh, signal });
  const ask = async (asked: Asked, address?: string): Promise<string> => {
    const entry = await enter(address);
    if (entry.kind === 'open') entry.done(asked);
    return entry.kind;
  };
  const askAll = async (...all: Asked[]) => {
    const kinds: string[] = [];
    for (const asked of all) kinds.push(await ask(asked));
    return kinds.join(' ');
  };
  return { clock, gate, enter, ask, askAll };
}

describe('an address that has not answered today', () => {
  it('is asked three times a minute, and no more until it answers', async () => {
    const { clock, askAll } = start();
    expect(await askAll('silent', 'silent', 'given_up', 'silent')).toBe('open open open barred');
    clock.ms += 60_000;
    expect(await askAll(...Array<Asked>(21).fill('replied'))).not.toContain('barred');
  });

  it('is asked one question at a time: the others wait for its end', async () => {
    const { enter } = start();
    const first = await enter();
    const order: string[] = [];
    const others = [enter(), enter()].map(async (entering) => {
      order.push((await entering).kind);
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(order).toEqual([]);
    if (first.kind === 'open') first.done('replied');
    await Promise.all(others);
    expect(order).toEqual(['open', 'open']);
  });

  it('keeps nobody from asking another', async () => {
    const { enter } = start();
    await enter('192.0.2.1');
    expect((await enter('192.0.2.2')).kind).toBe('open');
  });

  it('is given up with the check that waits for it', async () => {
    const { gate, enter } = start();
    await enter();
    const over = new AbortController();
    const waiting = gate.enter('192.0.2.1', { zone: ZONE, fresh: false, signal: over.signal });
    over.abort(new Error('over'));
    await expect(waiting).rejects.toThrow('over');
  });
});

describe('what all workers know', () => {
  const source = (kinds: ('proven' | 'go' | 'wait' | Error)[]) => {
    const reports: string[] = [];
    let asked = 0;
    const trials: TrialSource = {
      async ask() {
        const kind = kinds[Math.min(asked++, kinds.length - 1)];
        if (kind instanceof Error) throw kind;
        return { kind: kind as 'go', waitMs: 60_000 };
      },
      report: (address, replied) => void reports.push(`${address} ${replied}`),
    };
    return { trials, reports, asked: () => asked };
  };

  it('decides, and is asked once for an address that is proven', async () => {
    const { trials, reports, asked } = source(['proven']);
    const { askAll } = start({ trials });
    expect(await askAll('replied', 'replied', 'replied')).toBe('open open open');
    expect([asked(), reports]).toEqual([1, []]);
  });

  it('is told what came of a trial', async () => {
    const { trials, reports } = source(['go']);
    const { askAll } = start({ trials });
    expect(await askAll('silent', 'not_sent', 'replied', 'replied')).toBe('open open open open');
    expect(reports).toEqual(['192.0.2.1 false', '192.0.2.1 true']);
  });

  it('is not asked at each question whether an address is still barred', async () => {
    const { trials, asked } = source(['wait', 'proven']);
    const { clock, ask, askAll } = start({ trials });
    expect(await askAll('silent', 'silent', 'silent')).toBe('barred barred barred');
    expect(asked()).toBe(1);
    clock.ms += 5000;
    expect(await ask('silent')).toBe('open');
  });

  it('is replaced by what this process knows while it cannot be asked', async () => {
    const { trials } = source([new Error('away')]);
    const { askAll } = start({ trials });
    expect(await askAll('silent', 'silent', 'silent', 'silent')).toBe('open open open barred');
  });
});

describe('an address that has answered today', () => {
  it('is barred after three silences, but not for somebody who waits', async () => {
    const { askAll, enter } = start();
    const kinds = await askAll('replied', 'silent', 'silent', 'silent', 'silent');
    expect(kinds).toBe('open open open open barred');
    expect((await enter('192.0.2.1', ZONE, true)).kind).toBe('open');
  });

  it('shares the limit of its network, unless its zone is the root or one that no customer chooses', async () => {
    const taken: string[] = [];
    const com = parseName('com.');
    const { ask, enter } = start({
      networks: {
        async take(network) {
          taken.push(network);
        },
      },
      isExempt: (zone) => zone === com,
    });
    for (const address of ['192.0.2.1', '192.0.2.200', '2001:db8:1:2::3']) await ask('replied', address);
    expect(taken).toEqual([]); // a trial is one question at a time
    for (const address of ['192.0.2.1', '192.0.2.200', '2001:db8:1:2::3']) await enter(address);
    expect(taken).toEqual(['c00002/24', 'c00002/24', '20010db80001/48']);
    await enter('192.0.2.1', com);
    await enter('192.0.2.1', parseName('.'));
    expect(taken).toHaveLength(3);
  });
});
