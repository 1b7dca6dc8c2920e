// The webhooks of a domain. Their secrets are sealed, and shown once by whoever makes one.

import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { keyBoxesOf } from '../secrets/database-keys.ts';
import type { About } from '../secrets/key-boxes.ts';

export interface StoredWebhook {
  readonly id: number;
  readonly url: string;
  readonly createdAt: Date;
  /** When it last answered as it should. */
  readonly answeredAt: Date | null;
  readonly disabledAt: Date | null;
}

type CreatedWebhook =
  | { readonly kind: 'created'; readonly webhook: StoredWebhook; readonly secret: string }
  | { readonly kind: 'full' }
  /** This process cannot seal. */
  | { readonly kind: 'unavailable' };

export const MOST_WEBHOOKS = 5;
const SECRET_OCTETS = 32;

export async function createWebhook(db: Database, domainId: number, url: string): Promise<CreatedWebhook> {
  const boxes = keyBoxesOf(db);
  if (boxes === undefined) return { kind: 'unavailable' };
  return await inTransaction<CreatedWebhook>(db, async (trx) => {
    await sql`select from domains where id = ${domainId} for no key update`.execute(trx); // one after the other
    if ((await listWebhooks(trx, domainId)).length >= MOST_WEBHOOKS) return { kind: 'full' };
    const { rows: ids } = await sql<{ id: number }>`select nextval('webhooks_id_seq') as id`.execute(trx);
    const { id } = ids[0] as { id: number };
    const secret = `whsec_${randomBytes(SECRET_OCTETS).toString('base64url')}`;
    const { boxId, sealed } = await boxes.seal(trx, aboutWebhook(id, domainId), Buffer.from(secret));
    const { rows } = await sql<StoredWebhook>`
      insert into webhooks (id, domain_id, url, box_id, sealed)
      values (${id}, ${domainId}, ${url}, ${boxId}, ${sealed}) returning ${COLUMNS}`.execute(trx);
    return { kind: 'created', webhook: rows[0] as StoredWebhook, secret };
  });
}

/** The oldest first. */
export async function listWebhooks(db: Database, domainId: number): Promise<StoredWebhook[]> {
  const { rows } = await sql<StoredWebhook>`
    select ${COLUMNS} from webhooks where domain_id = ${domainId} order by id`.execute(db);
  return rows;
}

export async function loadWebhook(
  db: Database,
  domainId: number,
  id: number,
): Promise<StoredWebhook | undefined> {
  const { rows } = await sql<StoredWebhook>`
    select ${COLUMNS} from webhooks where domain_id = ${domainId} and id = ${id}`.execute(db);
  return rows[0];
}

/** With what it was to be told. */
export async function deleteWebhook(db: Database, domainId: number, id: number): Promise<void> {
  await sql`delete from webhooks where domain_id = ${domainId} and id = ${id}`.execute(db);
}

export function aboutWebhook(id: number, domainId: number): About {
  return ['webhook secret', String(id), String(domainId)];
}

const COLUMNS = sql.raw(
  `id, url, created_at as "createdAt", answered_at as "answeredAt", disabled_at as "disabledAt"`,
);
