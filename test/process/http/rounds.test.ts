// The order in which an HTTP server starts work. The test controls the rounds.

import { beforeEach, describe, expect, it } from 'vitest';
import { Rounds } from '../../../src/process/http/rounds.ts';

let planned: (() => void)[] = [];
let begun: string[] = [];
let rounds: Rounds;
beforeEach(() => {
  planned = [];
  begun = [];
  rounds = new Rounds((task) => planned.push(task));
});

const run = (network: string, name = network) => rounds.run(network, () => begun.push(name));
const range = (count: number) => Array.from({ length: count }, (_, i) => i);

/** Returns the work that started in the round. */
function nextRound(): string[] {
  const before = begun.length;
  planned.shift()?.();
  return begun.slice(before);
}

describe('rounds', () => {
  it('start work immediately while nothing waits', () => {
    run('a');
    run('b');
    expect(begun).toEqual(['a', 'b']);
    expect(nextRound()).toEqual([]);
    expect(planned).toEqual([]);
  });

  it('start few pieces each, however many arrive', () => {
    for (const i of range(100)) run('a', `${i}`);
    const most = begun.length;
    const each = range(30).map(() => nextRound().length);
    expect(Math.max(most, ...each)).toBe(most);
    expect(most).toBeLessThanOrEqual(4);
    expect(begun).toEqual(range(100).map(String));
    expect(planned).toEqual([]);
  });

  it('take networks in turn, so that one with much work delays another by only one piece', () => {
    for (const i of range(100)) run('crowd', `${i}`);
    const before = begun.length;
    run('other');
    run('another');
    nextRound();
    expect(begun.slice(before)).toEqual([`${before}`, 'other', 'another', `${before + 1}`]);
  });

  it('start one piece per several accepted connections, so that a crowd is soon accepted', () => {
    const connections = range(1000);
    for (const i of connections) {
      rounds.noteAccepted();
      run('crowd', `${i}`);
      nextRound();
    }
    expect(begun.length).toBeGreaterThan(50); // the crowd is served meanwhile
    expect(begun.length).toBeLessThan(100);
    while (planned.length > 0) nextRound();
    expect(begun).toEqual(connections.map(String));
  });

  it('continue after work that adds more', () => {
    let left = 50;
    const again = () => {
      if (left-- > 0) rounds.run('a', again);
    };
    again();
    run('b');
    while (planned.length > 0) nextRound();
    expect(left).toBe(-1);
    expect(begun).toEqual(['b']);
  });
});
