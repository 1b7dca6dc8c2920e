import { describe, expect, it } from 'vitest';
import { Silences } from '../../../src/resolver/state/silences.ts';

const MINUTE = 60_000;

function start() {
  const clock = { ms: 1_800_000_000_000 };
  return { clock, silences: new Silences(() => clock.ms) };
}

function silent(silences: Silences, key: string, times = 3): void {
  for (let i = 0; i < times; i++) silences.noteSilence(key);
}

describe('silence', () => {
  it('is remembered after three in a row, and forgotten with a reply', () => {
    const { silences } = start();
    silent(silences, 'a', 2);
    expect(silences.isSilent('a')).toBe(false);
    expect(silences.takeNews()).toEqual([]);
    silent(silences, 'a', 1);
    expect(silences.isSilent('a')).toBe(true);
    silences.noteReply('a');
    expect(silences.isSilent('a')).toBe(false);
    silent(silences, 'a', 2);
    expect(silences.isSilent('a')).toBe(false);
  });

  it('ends with one question; while that is open the others wait', () => {
    const { clock, silences } = start();
    silent(silences, 'a');
    clock.ms += 5 * MINUTE - 1;
    expect(silences.isSilent('a')).toBe(true);
    clock.ms += 1;
    expect([silences.isSilent('a'), silences.isSilent('a')]).toEqual([false, true]);
    silences.noteSilence('a');
    clock.ms += 10 * MINUTE - 1;
    expect(silences.isSilent('a')).toBe(true);
    clock.ms += 1;
    expect(silences.isSilent('a')).toBe(false);
    clock.ms += 20_000; // whoever asked it was ended
    expect(silences.isSilent('a')).toBe(false);
  });

  it('of questions that were open together counts once', () => {
    const { clock, silences } = start();
    silent(silences, 'a', 50);
    clock.ms += 5 * MINUTE;
    expect(silences.isSilent('a')).toBe(false);
  });

  it('is told to others, and its end too', () => {
    const { clock, silences } = start();
    const other = new Silences(() => clock.ms);
    silent(silences, 'a');
    const news = silences.takeNews();
    expect(news).toEqual([{ key: 'a', count: 3, until: clock.ms + 5 * MINUTE }]);
    for (const one of news) other.learn(one);
    expect(other.isSilent('a')).toBe(true);
    expect([silences.takeNews(), other.takeNews()]).toEqual([[], []]);
    other.noteReply('a');
    for (const one of other.takeNews()) silences.learn(one);
    expect(silences.isSilent('a')).toBe(false);
  });

  it('takes bounded memory, whoever makes how many keys silent', () => {
    const { silences } = start();
    for (let i = 0; i < 30_000; i++) silent(silences, `parent ${i}.`);
    expect(silences.takeNews().length).toBe(2000);
    expect(silences.isSilent('parent 29999.')).toBe(true);
    expect(silences.isSilent('parent 0.')).toBe(false);
  });
});
