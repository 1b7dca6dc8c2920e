import { describe, expect, it } from 'vitest';
import { KeyBoxes } from '../../../src/store/secrets/key-boxes.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const secretOf = (name: string, octet: number) => ({ name, secret: Buffer.alloc(32, octet) });
const TEXT = Buffer.from('a secret');

const { db, query } = sharedDatabase();

describe('boxes of sealed secrets', () => {
  it('open what they sealed, also in another process, only for its row, and hold 10,000 secrets each', async () => {
    const boxes = new KeyBoxes([secretOf('k1', 1)]);
    await boxes.check(db);
    const sealed = await boxes.seal(db, ['totp', '7'], TEXT);
    const other = new KeyBoxes([secretOf('k1', 1)]);
    expect(await other.unseal(db, sealed, ['totp', '7'])).toEqual(TEXT);
    await expect(other.unseal(db, sealed, ['totp', '8'])).rejects.toThrow(/cannot be opened/);
    const full = new KeyBoxes([secretOf('k1', 1)]);
    const first = await full.seal(db, ['totp', '1'], TEXT);
    expect((await full.seal(db, ['totp', '2'], TEXT)).boxId).toBe(first.boxId);
    await query`update key_boxes set used = 10000`;
    expect((await full.seal(db, ['totp', '3'], TEXT)).boxId).not.toBe(first.boxId);
  });

  it('stay usable when a new secret is added first', async () => {
    const old = new KeyBoxes([secretOf('k1', 1)]);
    await old.check(db);
    const sealed = await old.seal(db, ['totp', '7'], TEXT);
    const both = new KeyBoxes([secretOf('k2', 2), secretOf('k1', 1)]);
    await both.check(db);
    expect(await both.unseal(db, sealed, ['totp', '7'])).toEqual(TEXT);
    expect((await both.seal(db, ['totp', '8'], TEXT)).boxId).not.toBe(sealed.boxId);
  });

  it('are re-sealed with a new secret, which alone then opens all of them', async () => {
    const [old, added] = [secretOf('k1', 1), secretOf('k2', 2)];
    const boxes = new KeyBoxes([old]);
    await boxes.check(db);
    const sealed = [];
    for (const id of ['1', '2', '3']) {
      sealed.push({ id, ...(await boxes.seal(db, ['totp', id], Buffer.from(`secret ${id}`))) });
      await query`update key_boxes set used = 10000`; // the next secret uses another box
    }
    const both = new KeyBoxes([added, old]);
    await both.check(db);
    expect([await both.rewrap(db), await both.rewrap(db)]).toEqual([3, 0]);
    const after = new KeyBoxes([added]);
    await after.check(db);
    for (const { id, ...secret } of sealed)
      expect((await after.unseal(db, secret, ['totp', id])).toString()).toBe(`secret ${id}`);
    await expect(new KeyBoxes([old]).check(db)).rejects.toThrow(/"k2" is missing/);
  });
});

describe('the secret at the start', () => {
  it('ends the process if another secret sealed the database, before anything is read', async () => {
    await new KeyBoxes([secretOf('k1', 1)]).check(db);
    await new KeyBoxes([secretOf('k1', 1)]).check(db);
    await expect(new KeyBoxes([secretOf('k1', 2)]).check(db)).rejects.toThrow(
      'KEY_SECRETS: "k1" is not the secret that this database was sealed with: set that secret again',
    );
  });

  it('seals nothing if it is wrong, even in a process that has not checked it at its start', async () => {
    await new KeyBoxes([secretOf('k1', 1)]).check(db);
    await expect(new KeyBoxes([secretOf('k1', 2)]).seal(db, ['totp', '7'], TEXT)).rejects.toThrow(
      'KEY_SECRETS: "k1" is not the secret that this database was sealed with: set that secret again',
    );
    expect(await query`select from key_boxes`).toHaveLength(0);
  });

  it('ends the process if it is missing and something is sealed with it', async () => {
    const boxes = new KeyBoxes([secretOf('k1', 1)]);
    await boxes.check(db);
    await new KeyBoxes([]).check(db);
    await boxes.seal(db, ['totp', '7'], TEXT);
    await expect(new KeyBoxes([secretOf('k2', 2)]).check(db)).rejects.toThrow(/"k1" is missing/);
    await expect(new KeyBoxes([]).check(db)).rejects.toThrow(/"k1" is missing/);
  });
});
