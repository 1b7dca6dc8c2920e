// Who draws the requests of the proof of the description besides keys: sessions of an owner, of a reseller and of its client,
// and a machine token; and what their calls are about.

import { sql } from 'kysely';
import { addTerm } from '../../../src/store/accounts/plans.ts';
import { giveMoney } from '../billing/give-money.ts';
import { newDomain } from '../database/domains.ts';
import { bearerSession, makeClient, makeReseller, mintedToken, type Reseller } from '../walk/resellers.ts';
import type { TestApi } from './api.ts';
import { givePassword } from './people.ts';

export const CLIENT_DOMAINS = [
  'client.example',
  'clientoff.example',
  'clientactive.example',
  'clientexternal.example',
] as const;
export const DRAWN_CALLERS = ['session', 'client', 'reseller', 'machine'] as const;
export type DrawnCaller = (typeof DRAWN_CALLERS)[number];
const RIALS = 1_000_000;

/** Ids that exist, by the beginning of the paths below which they are. */
type OwnIds = Readonly<Record<string, readonly number[]>>;

export class DrawnCallers {
  readonly #api: TestApi;
  readonly reseller: Reseller;
  readonly clientIds: readonly number[];
  /** A dear one, a cheap one, one that costs nothing. */
  readonly termIds: readonly number[];
  ownIds: OwnIds = {};
  topupReferences: readonly string[] = [];

  private constructor(api: TestApi, made: Pick<DrawnCallers, 'reseller' | 'clientIds' | 'termIds'>) {
    this.#api = api;
    this.reseller = made.reseller;
    this.clientIds = made.clientIds;
    this.termIds = made.termIds;
  }

  static async make(api: TestApi): Promise<DrawnCallers> {
    const reseller = await makeReseller(api, 'reseller@drawn.test');
    const clientIds = [
      await makeClient(api, reseller, 'client@drawn.test'),
      await makeClient(api, reseller, 'second@drawn.test'),
    ];
    const termIds: number[] = [];
    for (const [days, priceRials] of [
      [30, 1000],
      [60, 10],
      [30, 0],
    ] as const)
      termIds.push((await addTerm(api.db, 'pro', { days, priceRials }))?.terms.at(-1)?.id as number);
    return new DrawnCallers(api, { reseller, clientIds, termIds });
  }

  /** Sessions are opened for each request, since some requests end them. */
  readonly credentials: Readonly<Record<DrawnCaller, () => Promise<string>>> = {
    session: () => bearerSession(this.#api, this.#api.accountIds.owner),
    client: () => bearerSession(this.#api, this.clientIds[0] as number),
    reseller: () => this.reseller.session(),
    machine: async () => this.reseller.token,
  };

  /** Again and again, since requests spend, revoke and deactivate. Call it before the domains of clients are used. */
  async prepare(): Promise<void> {
    const { db } = this.#api.database;
    const { owner } = this.#api.accountIds;
    await givePassword(this.#api, 'owner');
    for (const id of [owner, this.reseller.id, ...this.clientIds]) await giveMoney(db, id, RIALS);
    await sql`update accounts set active = true`.execute(db);
    await sql`truncate client_tries, invite_windows, tickets cascade`.execute(db);
    await sql`delete from payments where paid_at is null`.execute(db);
    await sql`delete from api_keys where name = 'spare'`.execute(db);
    await sql`delete from reseller_tokens where name = 'spare'`.execute(db);
    for (const name of CLIENT_DOMAINS) {
      const found = await sql`select from domains where name = ${`${name}.`} and deleted_at is null`.execute(
        db,
      );
      const dnsMode = name.startsWith('clientexternal.') ? 'external' : 'managed';
      if (found.rows.length === 0) await newDomain(db, this.clientIds[0] as number, `${name}.`, { dnsMode });
    }
    for (let i = 0; i < 3; i++) {
      await this.#api.makeKey({ name: 'spare' });
      const { id } = await mintedToken(this.#api, this.reseller.id);
      await sql`update reseller_tokens set name = 'spare' where id = ${id}`.execute(db);
      await this.#api.ask('POST', '/tickets', { body: { subject: 'Help', message: 'It is broken.' } });
      await this.#api.ask('POST', '/wallet/topup', {
        as: await this.credentials.session(),
        body: { amount_rials: 50_000 },
      });
    }
    this.ownIds = {
      '/tickets': await this.#ids(sql`tickets where account_id = ${owner}`),
      '/invoices': await this.#ids(sql`invoices where account_id = ${owner}`),
      '/wallet/topups': await this.#ids(sql`payments where account_id = ${owner} and paid_at is null`),
      '/users/me/keys': await this.#ids(sql`api_keys where name = 'spare'`),
      '/users/me/sessions': await this.#ids(sql`sessions where account_id = ${owner}`),
      '/reseller/v1/tokens': await this.#ids(sql`reseller_tokens where name = 'spare'`),
    };
    const { rows } = await sql<{ reference: string }>`
      select reference from payments where account_id = ${owner}`.execute(db);
    this.topupReferences = rows.map(({ reference }) => reference);
  }

  async #ids(from: ReturnType<typeof sql>): Promise<number[]> {
    const { rows } = await sql<{ id: number }>`select id from ${from} order by id desc limit 60`.execute(
      this.#api.db,
    );
    return rows.map(({ id }) => id);
  }
}
