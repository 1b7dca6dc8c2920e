// Another secret for very many private keys: boxes are sealed anew and no key, and afterwards the new secret alone opens all.

import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { KeyBoxes, type SealedSecret } from '../../../src/store/secrets/key-boxes.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';
import { scale } from '../../support/tests/scale.ts';

const KEYS = scale(100_000, 2000);
/** As many as a million keys have. */
const BOXES = 100;
const OLD = { name: 'k1', secret: Buffer.alloc(32, 1) };
const NEW = { name: 'k2', secret: Buffer.alloc(32, 2) };

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database?.drop());

interface Kept extends SealedSecret {
  readonly id: string;
  readonly secret: Buffer;
}

async function sealKeys(): Promise<Kept[]> {
  const { db } = database;
  const boxes = new KeyBoxes([OLD]);
  await boxes.check(db);
  const kept: Kept[] = [];
  for (let box = 0; box < BOXES; box++) {
    await db.transaction().execute(async (trx) => {
      for (let i = 0; i < KEYS / BOXES; i++) {
        const id = String(kept.length);
        const secret = randomBytes(32);
        kept.push({ id, secret, ...(await boxes.seal(trx, ['signing key', id], secret)) });
      }
    });
    await sql`update key_boxes set used = 10000`.execute(db); // the next one goes into another box
  }
  return kept;
}

it(`${KEYS} keys in ${BOXES} boxes`, async () => {
  const { db } = database;
  const kept = await sealKeys();
  expect(new Set(kept.map(({ boxId }) => boxId)).size).toBe(BOXES);
  const both = new KeyBoxes([NEW, OLD]);
  await both.check(db);
  const startedMs = performance.now();
  expect(await both.rewrap(db)).toBe(BOXES);
  console.log(`${BOXES} boxes sealed anew in ${Math.round(performance.now() - startedMs)} ms`);
  expect(await both.rewrap(db)).toBe(0);

  const after = new KeyBoxes([NEW]);
  await after.check(db);
  for (const { id, secret, ...sealed } of kept) {
    const opened = await after.unseal(db, sealed, ['signing key', id]);
    if (!opened.equals(secret)) throw new Error(`key ${id} is another one`);
  }
  await expect(new KeyBoxes([OLD]).check(db)).rejects.toThrow(
    'KEY_SECRETS: the secret "k2" is missing, and secrets in this database are sealed with it',
  );
});
