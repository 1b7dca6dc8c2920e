// Checks that the secrets in KEY_SECRETS open everything that is sealed, and seals it again with the first secret.

import { checkKeys } from '../../store/keys/key-store.ts';
import type { Database } from '../../store/postgres/database.ts';
import { keyBoxesOf } from '../../store/secrets/key-boxes.ts';
import { Failure } from '../terminal/failure.ts';
import type { Output } from '../terminal/output.ts';

export async function checkAllKeys(db: Database, output: Output): Promise<number> {
  requireSecrets(db);
  const { keys, unreadable } = await checkKeys(db);
  if (output.json) {
    await output.print(JSON.stringify({ keys, unreadable }));
  } else {
    for (const { id, zone, message } of unreadable) await output.complain(`${zone} key ${id}: ${message}`);
    await output.print(`keys ${keys} unreadable ${unreadable.length}`);
  }
  return unreadable.length === 0 ? 0 : 1;
}

export async function rewrapBoxes(db: Database, output: Output): Promise<number> {
  const boxes = requireSecrets(db);
  await boxes.check(db);
  const count = await boxes.rewrap(db);
  await output.print(output.json ? JSON.stringify({ boxes: count }) : `boxes sealed again ${count}`);
  return 0;
}

function requireSecrets(db: Database) {
  const boxes = keyBoxesOf(db);
  if (boxes === undefined) throw new Failure('settings', 'KEY_SECRETS is not set, and DATA_DIR has no keys');
  return boxes;
}
