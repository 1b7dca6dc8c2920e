import { type FoundKey, findApiKeys, hashKey } from '../../../src/store/accounts/api-keys.ts';
import type { Database } from '../../../src/store/postgres/database.ts';

export async function findApiKey(db: Database, text: string): Promise<FoundKey | undefined> {
  const hash = hashKey(text);
  return (await findApiKeys(db, [hash])).get(hash.toString('hex'));
}
