// Signed zones in a database: secrets for their keys, and faults of what is served.

import type { Name } from '../../../src/dns/name.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { KeyBoxes, useKeyBoxes } from '../../../src/store/secrets/key-boxes.ts';
import { checkZoneSignatures } from '../../../src/store/signing/check-zone-signatures.ts';
import { type Enabled, type EnableOrder, enableSigning } from '../../../src/store/signing/enable-signing.ts';
import type { Subject } from '../../../src/store/signing/write-signing.ts';
import { BY } from './domains.ts';

export const SIGNING_SECRETS = [{ name: 'test', secret: Buffer.alloc(32, 7) }];
const NSEC_ORDER: EnableOrder = { denial: 'nsec', algorithm: 13, split: false };

export function useSecrets(db: Database): KeyBoxes {
  const boxes = new KeyBoxes(SIGNING_SECRETS);
  useKeyBoxes(db, boxes);
  return boxes;
}

/** The zone must become signed, or start to. */
export async function enabled(
  db: Database,
  subject: Subject,
  order: Partial<EnableOrder> = {},
): Promise<Extract<Enabled, { signed: unknown }>> {
  const result = await enableSigning(db, subject, { ...NSEC_ORDER, ...order }, BY);
  if (result.kind === 'refused') throw new Error(result.message);
  return result;
}

/** Returns the faults of a zone's published signatures and denial records, by the database's time. */
export async function signatureFaults(db: Database, apex: Name): Promise<string[]> {
  return (await checkZoneSignatures(db, apex)) ?? ['the zone is not there'];
}
