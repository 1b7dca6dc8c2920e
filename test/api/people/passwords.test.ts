import { describe, expect, it } from 'vitest';
import { hashPassword, isPassword, PasswordTurns } from '../../../src/api/people/passwords.ts';

const PASSWORD = 'correct horse battery';
/** Created by `hashPassword` with Node 20 and Node 24. */
const MADE_ON = {
  20: '$argon2id$v=19$m=19456,t=2,p=1$CkpmCFoCmBDZ9y3LVwGKAA$Td4CvYhLdIEWV+kfKkUUbRZLCTl1LNseXLGjW91GFbY',
  24: '$argon2id$v=19$m=19456,t=2,p=1$GaAvTZPykdtJzf4egC9aaQ$RfWKT4Hc2br3X/eXPV9Kr5KKVd5syKIUEEmLX9AwRgI',
};

describe('a password', () => {
  it('is right or wrong, whatever its Unicode form', async () => {
    const hash = await hashPassword('pässwörd-1234');
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await isPassword(hash, 'pässwörd-1234'.normalize('NFD'))).toBe(true);
    expect(await isPassword(hash, 'passwörd-1234')).toBe(false);
  });

  it('without a hash is always wrong', async () => {
    for (const given of ['', PASSWORD, 'zonefleet']) expect(await isPassword(null, given)).toBe(false);
  });

  it.each(Object.entries(MADE_ON))('that was hashed with Node %s is accepted', async (_version, hash) => {
    expect(await isPassword(hash, PASSWORD)).toBe(true);
    expect(await isPassword(hash, `${PASSWORD}!`)).toBe(false);
  });
});

describe('password slots', () => {
  /** Work that the test ends. */
  function work() {
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    return { run: () => ended.then(() => ({ done: true })), end: () => end() };
  }

  it.each([
    [1, 1],
    [2, 1],
    [3, 2],
    [5, 4],
    [64, 4],
  ])('allow, with %i cores, %i concurrent calls and 32 waiting ones', async (cores, atOnce) => {
    const turns = new PasswordTurns(cores);
    let running = 0;
    let most = 0;
    const gate = work();
    const all = Array.from({ length: 1000 }, (_, i) =>
      turns.run(`10.0.${i >> 8}.${i & 255}`, async () => {
        running++;
        most = Math.max(most, running);
        await gate.run();
        running--;
        return {};
      }),
    );
    gate.end();
    const outcomes = await Promise.all(all);
    expect(outcomes.filter((outcome) => outcome !== undefined)).toHaveLength(atOnce + 32);
    expect(most).toBe(atOnce);
    expect(await turns.run('10.9.9.9', async () => ({ again: true }))).toEqual({ again: true });
  });

  it('are available to others, however many calls come from one network', async () => {
    const turns = new PasswordTurns();
    const gate = work();
    const near = Array.from({ length: 50 }, (_, i) => turns.run(`2001:db8:1:2::${i}`, gate.run));
    const other = turns.run('192.0.2.1', async () => ({ other: true }));
    gate.end();
    expect(await other).toEqual({ other: true });
    expect((await Promise.all(near)).filter((outcome) => outcome !== undefined)).toHaveLength(8);
  });

  it('are released by work that failed', async () => {
    const turns = new PasswordTurns();
    for (let i = 0; i < 40; i++)
      await expect(turns.run('192.0.2.1', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await turns.run('192.0.2.1', async () => ({ ok: true }))).toEqual({ ok: true });
  });
});
