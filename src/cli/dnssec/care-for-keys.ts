// Checks that the secrets in KEY_SECRETS and TSIG_SECRETS open everything that is sealed, and seals it again with the first
// secret.

import { checkKeys } from '../../store/keys/key-store.ts';
import type { Database } from '../../store/postgres/database.ts';
import { type KeySecret, keyBoxesOf } from '../../store/secrets/key-boxes.ts';
import { findUnreadableKeys, resealKeys } from '../../store/transfers/keys.ts';
import { Failure } from '../terminal/failure.ts';
import type { Output } from '../terminal/output.ts';

export async function checkAllKeys(
  db: Database,
  tsigSecrets: readonly KeySecret[],
  output: Output,
): Promise<number> {
  requireSecrets(db);
  const { keys, unreadable } = await checkKeys(db);
  const tsig = await findUnreadableKeys(db, tsigSecrets);
  if (output.json) {
    const { keys: tsig_keys, unreadable: tsig_unreadable } = tsig;
    await output.print(JSON.stringify({ keys, unreadable, tsig_keys, tsig_unreadable }));
  } else {
    for (const { id, zone, message } of unreadable) await output.complain(`${zone} key ${id}: ${message}`);
    for (const name of tsig.unreadable)
      await output.complain(`TSIG key ${name}: cannot be opened: check TSIG_SECRETS`);
    await output.print(`keys ${keys} unreadable ${unreadable.length}`);
    if (tsig.keys > 0) await output.print(`TSIG keys ${tsig.keys} unreadable ${tsig.unreadable.length}`);
  }
  return unreadable.length + tsig.unreadable.length === 0 ? 0 : 1;
}

export async function rewrapBoxes(
  db: Database,
  tsigSecrets: readonly KeySecret[],
  output: Output,
): Promise<number> {
  const boxes = requireSecrets(db);
  await boxes.check(db);
  const count = await boxes.rewrap(db);
  const { resealed, unreadable } = await resealKeys(db, tsigSecrets);
  if (output.json) {
    await output.print(JSON.stringify({ boxes: count, tsig_keys: resealed, tsig_unreadable: unreadable }));
  } else {
    for (const name of unreadable)
      await output.complain(`TSIG key ${name}: cannot be opened: check TSIG_SECRETS`);
    await output.print(`boxes sealed again ${count}`);
    if (resealed > 0) await output.print(`TSIG keys sealed again ${resealed}`);
  }
  return unreadable.length === 0 ? 0 : 1;
}

function requireSecrets(db: Database) {
  const boxes = keyBoxesOf(db);
  if (boxes === undefined) throw new Failure('settings', 'KEY_SECRETS is not set, and DATA_DIR has no keys');
  return boxes;
}
