// Boxes: random keys that seal many secrets each. A box is sealed with a secret of KEY_SECRETS, so that a change of
// this secret re-seals boxes, but not their contents.

import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { StartFault } from '../../process/start-fault.ts';
import type { Database } from '../postgres/database.ts';
import { deriveKey, KEY_OCTETS, seal, unseal } from './sealing.ts';

/** One of KEY_SECRETS. */
export interface KeySecret {
  readonly name: string;
  readonly secret: Uint8Array;
}

/** Kind and owner of a secret: part of its key derivation and of the authenticated data. */
export type About = readonly [kind: string, ...ids: string[]];

export interface SealedSecret {
  readonly boxId: number;
  readonly sealed: Buffer;
}

const SECRETS_PER_BOX = 10_000;
const KNOWN_VALUE = Buffer.from('zonefleet');
const MAX_OPEN_BOXES = 1000;

export class KeyBoxes {
  /** The first secret seals new boxes. Every secret opens boxes. */
  readonly #secrets: readonly KeySecret[];
  readonly #open = new Map<number, Buffer>();

  constructor(secrets: readonly KeySecret[]) {
    this.#secrets = secrets;
  }

  /** False without KEY_SECRETS: then nothing can be sealed. */
  get canSeal(): boolean {
    return this.#secrets.length > 0;
  }

  /** Throws StartFault if a secret is missing, or is not the one that sealed the values stored under its name. */
  async check(db: Database): Promise<void> {
    for (const secret of this.#secrets) await checkKnownValue(db, secret);
    const { rows: wraps } = await sql<{ wrap: string }>`select distinct wrap from key_boxes`.execute(db);
    const lacking = wraps.find(({ wrap }) => !this.#secrets.some(({ name }) => name === wrap));
    if (lacking === undefined) return;
    throw new StartFault(
      `KEY_SECRETS: the secret "${lacking.wrap}" is missing, but secrets in this database are sealed with it`,
    );
  }

  /** Call it in the transaction that stores the result. */
  async seal(trx: Database, about: About, plain: Uint8Array): Promise<SealedSecret> {
    return await this.sealIn(trx, await this.takeBox(trx), about, plain);
  }

  /** Returns the id of a box with space for one more secret, and counts it. */
  async takeBox(trx: Database): Promise<number> {
    return (await this.#takePlace(trx)) ?? (await this.#makeBox(trx));
  }

  /** Seals a secret in a box that was taken for it. */
  async sealIn(trx: Database, boxId: number, about: About, plain: Uint8Array): Promise<SealedSecret> {
    const key = deriveKey(await this.#boxKey(trx, boxId), about);
    return { boxId, sealed: seal(key, plain, about) };
  }

  async unseal(db: Database, { boxId, sealed }: SealedSecret, about: About): Promise<Buffer> {
    const plain = unseal(deriveKey(await this.#boxKey(db, boxId), about), sealed, about);
    if (plain === undefined)
      throw new Error(`a sealed secret (${about[0]}) of box ${boxId} cannot be opened`);
    return plain;
  }

  /**
   * Re-seals every box with the first secret, after which the others are no longer needed. The contents of the boxes do
   * not change. Returns the number of re-sealed boxes.
   */
  async rewrap(db: Database): Promise<number> {
    const { name, secret } = this.#first();
    return await db.transaction().execute(async (trx) => {
      const { rows } = await sql<{ id: number }>`
        select id from key_boxes where wrap <> ${name} order by id for update`.execute(trx);
      for (const { id } of rows) {
        const sealed = seal(secret, await this.#boxKey(trx, id), aboutBox(name, id));
        await sql`update key_boxes set wrap = ${name}, sealed = ${sealed} where id = ${id}`.execute(trx);
      }
      return rows.length;
    });
  }

  /** Skips boxes in which other transactions are sealing, so that these need not end first. */
  async #takePlace(trx: Database): Promise<number | undefined> {
    const { rows } = await sql<{ id: number }>`
      update key_boxes set used = used + 1
      where id = (select id from key_boxes where wrap = ${this.#first().name} and used < ${SECRETS_PER_BOX}
        order by id limit 1 for update skip locked)
      returning id`.execute(trx);
    return rows[0]?.id;
  }

  async #makeBox(trx: Database): Promise<number> {
    const { name, secret } = this.#first();
    // Commands do not check secrets when they start, and a box sealed with a wrong one could never be opened.
    await checkKnownValue(trx, { name, secret });
    const { rows } = await sql<{ id: number }>`select nextval('key_boxes_id_seq') as id`.execute(trx);
    const id = (rows[0] as { id: number }).id;
    const sealed = seal(secret, randomBytes(KEY_OCTETS), aboutBox(name, id));
    await sql`insert into key_boxes (id, wrap, sealed, used) values (${id}, ${name}, ${sealed}, 1)`.execute(
      trx,
    );
    return id;
  }

  async #boxKey(db: Database, id: number): Promise<Buffer> {
    const open = this.#open.get(id);
    if (open !== undefined) return open;
    const { rows } = await sql<{ wrap: string; sealed: Buffer }>`
      select wrap, sealed from key_boxes where id = ${id}`.execute(db);
    const [box] = rows;
    const secret = this.#secrets.find(({ name }) => name === box?.wrap)?.secret;
    const key = box && secret && unseal(secret, box.sealed, aboutBox(box.wrap, id));
    if (key === undefined) throw new Error(`box ${id} of sealed secrets cannot be opened: check KEY_SECRETS`);
    if (this.#open.size >= MAX_OPEN_BOXES) this.#open.clear();
    this.#open.set(id, key);
    return key;
  }

  #first(): KeySecret {
    const [first] = this.#secrets;
    if (first === undefined) throw new Error('KEY_SECRETS is not set');
    return first;
  }
}

/** The first use of a name seals the known value. Throws StartFault if another secret sealed it. */
async function checkKnownValue(db: Database, { name, secret }: KeySecret): Promise<void> {
  const about = ['known value', name];
  const sealed = seal(secret, KNOWN_VALUE, about);
  await sql`insert into key_checks (name, sealed) values (${name}, ${sealed}) on conflict do nothing`.execute(
    db,
  );
  const { rows } = await sql<{ sealed: Buffer }>`select sealed from key_checks where name = ${name}`.execute(
    db,
  );
  if (rows[0] !== undefined && unseal(secret, rows[0].sealed, about)?.equals(KNOWN_VALUE)) return;
  throw new StartFault(
    `KEY_SECRETS: "${name}" is not the secret that this database was sealed with: set that secret again`,
  );
}

function aboutBox(wrap: string, id: number): string[] {
  return ['box', wrap, String(id)];
}

/** Keyed by the adapter, which a database shares with its transactions. */
const boxesOf = new WeakMap<object, KeyBoxes>();

/** Attaches the boxes to the database, because every writer of a signed zone has it or a transaction of it. */
export function useKeyBoxes(db: Database, boxes: KeyBoxes): void {
  boxesOf.set(db.getExecutor().adapter, boxes);
}

/** Returns undefined if this process has no secrets and so cannot write signed zones. */
export function keyBoxesOf(db: Database): KeyBoxes | undefined {
  const boxes = boxesOf.get(db.getExecutor().adapter);
  return boxes?.canSeal ? boxes : undefined;
}
