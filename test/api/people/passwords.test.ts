import { describe, expect, it } from 'vitest';
import { hashPassword, isPassword, PasswordTurns } from '../../../src/api/people/passwords.ts';

const PASSWORD = 'correct horse battery';
/** Made by `hashPassword` on Node 20 and on Node 24. */
const MADE_ON = {
  20: '$argon2id$v=19$m=19456,t=2,p=1$CkpmCFoCmBDZ9y3LVwGKAA$Td4CvYhLdIEWV+kfKkUUbRZLCTl1LNseXLGjW91GFbY',
  24: '$argon2id$v=19$m=19456,t=2,p=1$GaAvTZPykdtJzf4egC9aaQ$RfWKT4Hc2br3X/eXPV9Kr5KKVd5syKIUEEmLX9AwRgI',
};

describe('a password', () => {
  it('is right or wrong, whatever form of Unicode it comes in', async () => {
    const hash = await hashPassword('pässwörd-1234');
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await isPassword(hash, 'pässwörd-1234'.normalize('NFD'))).toBe(true);
    expect(await isPassword(hash, 'passwörd-1234')).toBe(false);
  });

  it('of nobody is wrong, whatever is given', async () => {
    for (const given of ['', PASSWORD, 'zonefleet']) expect(await isPassword(null, given)).toBe(false);
  });

  it.each(Object.entries(MADE_ON))('that was hashed on Node %s signs in here', async (_version, hash) => {
    expect(await isPassword(hash, PASSWORD)).toBe(true);
    expect(await isPassword(hash, `${PASSWORD}!`)).toBe(false);
  });
});

describe('turns', () => {
  /** Work that ends when it is told to. */
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
  ])('with %i cores are %i at a time, 32 wait, and no more get in', async (cores, atOnce) => {
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

  it('leave room for others, however many come from one network', async () => {
    const turns = new PasswordTurns();
    const gate = work();
    const near = Array.from({ length: 50 }, (_, i) => turns.run(`2001:db8:1:2::${i}`, gate.run));
    const other = turns.run('192.0.2.1', async () => ({ other: true }));
    gate.end();
    expect(await other).toEqual({ other: true });
    expect((await Promise.all(near)).filter((outcome) => outcome !== undefined)).toHaveLength(8);
  });

  it('go on after work that failed', async () => {
    const turns = new PasswordTurns();
    for (let i = 0; i < 40; i++)
      await expect(turns.run('192.0.2.1', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await turns.run('192.0.2.1', async () => ({ ok: true }))).toEqual({ ok: true });
  });
});
