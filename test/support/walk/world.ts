// What a call of the walk needs to be right: the domain and the account that it names, with all that its path and its body
// speak of. Everything is made when it is first asked for.

import { randomUUID } from 'node:crypto';
import { hash } from '@node-rs/argon2';
import { sql } from 'kysely';
import { aboutTotp } from '../../../src/api/people/second-factor.ts';
import { base32 } from '../../../src/api/people/totp.ts';
import { encodeEvidence } from '../../../src/checks/delegation/evidence-json.ts';
import { parseName } from '../../../src/dns/name.ts';
import { judgeCertificate } from '../../../src/edge/certificates/judge-certificate.ts';
import { createApiKey, generateKey } from '../../../src/store/accounts/api-keys.ts';
import { addTerm, createPlan } from '../../../src/store/accounts/plans.ts';
import { uploadCertificate } from '../../../src/store/certificates/change-certificate.ts';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { deleteDomain } from '../../../src/store/change/save-domain.ts';
import { setPlan } from '../../../src/store/change/set-plan.ts';
import { freezeMoves } from '../../../src/store/checks/breaker-store.ts';
import { enableDnssec } from '../../../src/store/dnssec/change-goal.ts';
import { orderTopup, type Payment } from '../../../src/store/money/payments.ts';
import { makeLink } from '../../../src/store/people/account-links.ts';
import { setPassword } from '../../../src/store/people/credentials.ts';
import { openSession } from '../../../src/store/people/sessions.ts';
import { confirmTotp, saveTotp } from '../../../src/store/people/totp.ts';
import { inTransaction } from '../../../src/store/postgres/transaction.ts';
import { orderPurge } from '../../../src/store/purges/order-purge.ts';
import { mintToken } from '../../../src/store/resellers/tokens.ts';
import { KeyBoxes } from '../../../src/store/secrets/key-boxes.ts';
import { createInvite } from '../../../src/store/sharing/invites.ts';
import { openTicket } from '../../../src/store/tickets/write-tickets.ts';
import { createWebhook } from '../../../src/store/webhooks/webhooks.ts';
import { TEST_KEY_SECRETS, type TestApi } from '../api/api.ts';
import { appCode, PASSWORD } from '../api/people.ts';
import { giveMoney } from '../billing/give-money.ts';
import { makeCertificate } from '../certificates/make-certificate.ts';
import { BY, newAccount, newDomain } from '../database/domains.ts';
import { saveMembership } from '../database/memberships.ts';
import { evidenceOf, makeCheck } from '../world/made-checks.ts';
import { newClient } from './callers.ts';

let worlds = 0;
let passwordHash: Promise<string> | undefined;

export interface WorldOptions {
  /** Who has the domain, and who signs in. */
  readonly of?: 'owner' | 'client' | 'operator';
  /** The account of the client; another one has it signed in. */
  readonly clientId: number;
  /** Who has the domain instead; nobody shares it then. */
  readonly accountId?: number;
  readonly dnsMode?: 'managed' | 'external';
  /** Who has tokens. */
  readonly resellerId?: number;
}

export class World {
  /** In no other world. */
  readonly #number = ++worlds;
  readonly unique = `walk-${this.#number}`;
  /** The email of whoever asks. */
  askedBy = `nobody-${this.email}`;
  readonly #api: TestApi;
  readonly #options: WorldOptions;
  readonly #made = new Map<string, Promise<unknown>>();

  constructor(api: TestApi, options: WorldOptions) {
    this.#api = api;
    this.#options = options;
  }

  get domainName(): string {
    return `${this.unique}.test`;
  }

  domainId(): Promise<number> {
    return this.#once('domain', async () => {
      const { dnsMode = 'managed' } = this.#options;
      const { accountIds } = this.#api;
      const accountId = this.#buyerId;
      const isShared = this.#options.accountId === undefined;
      const { id } = await newDomain(this.#db, accountId, `${this.domainName}.`, { dnsMode });
      for (const role of isShared ? (['viewer', 'editor', 'admin'] as const) : [])
        await saveMembership(this.#db, id, accountIds[role], role);
      return id;
    });
  }

  /** Makes all of it that accounts have. */
  async fill(): Promise<void> {
    for (const [end, make] of PARAMETERS.filter(
      ([of]) => !of.startsWith('/admin/') && !OF_RESELLERS.includes(of),
    )) {
      if ((await make(this)) === undefined) throw new Error(`${end}: nothing was made`);
    }
  }

  async putInto(status: 'disabled' | 'banned'): Promise<void> {
    const domainId = await this.domainId();
    const event = status === 'disabled' ? 'disable' : 'ban';
    await changeStatus(this.#db, { domainId, event, by: { kind: 'cli' }, source: 'test' });
  }

  /** An A record at `www`, and the change that made it. */
  record(): Promise<{ readonly id: number; readonly changeId: number }> {
    return this.#once('record', async () => {
      const { status, body, headers } = await this.#api.ask(
        'POST',
        `/domains/${await this.domainId()}/records/`,
        { as: 'operator', body: { name: 'www', type: 'A', destination: '192.0.2.1' } },
      );
      if (status !== 200) throw new Error(JSON.stringify(body));
      return { id: body.id, changeId: Number(headers['x-change-id']) };
    });
  }

  async certificate(): Promise<{ readonly certificate: string; readonly private_key: string }> {
    const { pem, key } = await this.#once('certificate', () => makeCertificate({ names: [this.domainName] }));
    return { certificate: pem, private_key: key };
  }

  async haveCertificate(): Promise<void> {
    const { certificate, private_key } = await this.certificate();
    const judging = { certificate, privateKey: private_key, domain: this.domainName, now: new Date() };
    const judgement = judgeCertificate({ ...judging, roots: new Set<string>() });
    if (judgement.kind === 'refused') throw new Error(JSON.stringify(judgement.problems));
    const { judged } = judgement;
    await uploadCertificate(this.#db, { domainId: await this.domainId(), judged });
  }

  /** A rule of the type waf. */
  ruleId(): Promise<number> {
    return this.#once('rule', async () => {
      const path = `/domains/${await this.domainId()}/rules/waf/`;
      const { status, body } = await this.#api.ask('POST', path, { as: 'operator', body: {} });
      if (status !== 200) throw new Error(JSON.stringify(body));
      return body.id;
    });
  }

  checkId(): Promise<number> {
    return this.#once('check', async () => {
      const domainId = await this.domainId();
      await makeCheck(this.#db, { domainId }, (name) => evidenceOf(name, ['ns1.elsewhere.test.']));
      return await this.#idOf('check_runs', domainId);
    });
  }

  subscriptionId(): Promise<number> {
    return this.#once('subscription', async () => this.#idOf('subscriptions', await this.domainId()));
  }

  /** Whoever signs in, registers, has keys: an account of this world, with a password. */
  personId(): Promise<number> {
    return this.#once('person', async () => {
      const { of } = this.#options;
      const id =
        of === 'client'
          ? await newClient(this.#api, this.email)
          : await newAccount(this.#db, this.email, of === 'operator');
      passwordHash ??= hash(PASSWORD, { memoryCost: 19_456, timeCost: 2, parallelism: 1 });
      await setPassword(this.#db, id, await passwordHash);
      return id;
    });
  }

  memberId(): Promise<number> {
    return this.#once('member', async () => {
      const id = await newAccount(this.#db, `member-${this.email}`);
      await saveMembership(this.#db, await this.domainId(), id, 'viewer');
      return id;
    });
  }

  inviteId(): Promise<number> {
    return this.#once('invite', async () => {
      const { invite } = await this.#invite(await this.domainId(), `invited-before-${this.email}`);
      return invite.id;
    });
  }

  /** To whoever asks, to a domain of somebody else. */
  async inviteToken(): Promise<string> {
    const domainId = await this.#once('elsewhere', async () => {
      const accountId = await newAccount(this.#db, `inviter-${this.email}`);
      return (await newDomain(this.#db, accountId, `invites-${this.domainName}.`)).id;
    });
    return (await this.#invite(domainId, this.askedBy)).token;
  }

  async #invite(domainId: number, email: string) {
    const inviter = { sharer: 'operator', mails: false } as const;
    const sent = await createInvite(this.#db, { domainId, email, role: 'viewer', inviter });
    if (sent.kind !== 'sent') throw new Error(sent.message);
    return sent;
  }

  async deleteDomain(): Promise<void> {
    await deleteDomain(this.#db, { ...BY, domainId: await this.domainId() });
  }

  /** A term that costs nothing, of a plan that a new domain fits in. */
  freeTermId(): Promise<number> {
    return this.#once('free term', async () => {
      const rows = await this.#api.query<{ id: number }>`
        select t.id from plan_terms t join plans p on p.id = t.plan_id where p.slug = 'free'`;
      return rows[0]?.id as number;
    });
  }

  /** A plan with a term. */
  plan(): Promise<{ readonly slug: string; readonly termId: number }> {
    return this.#once('plan', async () => {
      const slug = `plan-${this.unique}`;
      await createPlan(this.#db, slug, { name: 'A plan' });
      const made = await addTerm(this.#db, slug, { days: 30, priceRials: 1000 });
      return { slug, termId: made?.terms[0]?.id as number };
    });
  }

  /** A nameserver that holds removals back. */
  nodeName(): Promise<string> {
    return this.#once('node', async () => {
      await this.#api.query`
        insert into nodes (name, instance, started_at, seen_at, loaded, zones, records, held_id, held_since, held_zones)
        values (${this.unique}, gen_random_uuid(), now(), now(), true, 5, 50, gen_random_uuid(), now(), 4)`;
      return this.unique;
    });
  }

  /** Of the person. */
  get email(): string {
    return `${this.unique}@walk.test`;
  }

  tokenId(): Promise<number> {
    return this.#once('token', async () => {
      const accountId = this.#options.resellerId as number;
      const minted = await mintToken(this.#db, { accountId, name: 'walk', expiresAt: null }, 1000);
      return minted?.token.id as number;
    });
  }

  /** Money for the reseller, and for the client. */
  async fund(): Promise<void> {
    const { resellerId, clientId } = this.#options;
    for (const accountId of [resellerId as number, clientId]) await giveMoney(this.#db, accountId, 1000);
  }

  /** The domain has more than the plan that costs nothing. */
  async havePlan(): Promise<void> {
    await setPlan(this.#db, { domainId: await this.domainId(), planSlug: 'pro' });
  }

  async freezeBreaker(): Promise<void> {
    await freezeMoves(this.#db, { parent: '', reason: 'the walk', by: 'walk', until: undefined });
  }

  get clientId(): number {
    return this.#options.clientId;
  }

  keyId(): Promise<number> {
    return this.#once('key', async () => {
      const accountId = await this.personId();
      return (await createApiKey(this.#db, generateKey(), { name: 'walk', accountId }))?.id as number;
    });
  }

  sessionId(): Promise<number> {
    return this.#once('session', async () => {
      const accountId = await this.personId();
      await openSession(this.#db, { accountId, carrier: 'bearer', address: '192.0.2.1', userAgent: 'other' });
      const rows = await this.#api.query<{ id: number }>`
        select id from sessions where account_id = ${accountId} and user_agent = 'other'`;
      return (rows[0] as { id: number }).id;
    });
  }

  /** The domain is to be signed, and nobody has begun. */
  async haveSigned(): Promise<void> {
    const changed = await enableDnssec(this.#db, { domainId: await this.domainId(), ...BY });
    if (changed.kind !== 'updated') throw new Error(`not enabled: ${JSON.stringify(changed)}`);
  }

  /** The domain is to be signed, and nobody has asked for a look. */
  async haveLooked(): Promise<void> {
    await this.haveSigned();
    await this.#api
      .query`update signed_zones set look_asked_at = null where domain_id = ${await this.domainId()}`;
  }

  /** Of everything that is cached. */
  purgeId(): Promise<number> {
    return this.#once('purge', async () => {
      const domainId = await this.domainId();
      const ordered = await inTransaction(this.#db, (trx) => orderPurge(trx, domainId, { kind: 'all' }));
      if (ordered.kind !== 'ordered') throw new Error(ordered.why);
      return ordered.id;
    });
  }

  /** Of whoever has the domain. */
  ticketId(): Promise<number> {
    return this.#once('ticket', async () => {
      await this.closeTickets([this.#buyerId]);
      const order = { accountId: this.#buyerId, subject: 'Walk', message: 'Where to?' };
      const made = await openTicket(this.#db, order);
      if (made.kind !== 'opened') throw new Error(made.message);
      return made.ticket.id;
    });
  }

  /** Lets these accounts open more of them; the last ones stay open. */
  async closeTickets(accountIds: readonly number[] = this.#everybody): Promise<void> {
    await this.#api.query`
      update tickets set created_at = created_at - interval '2 days',
        status = case when id > (select max(id) from tickets) - 10 and subject = 'Walk' then status else 'closed' end
      where account_id = any(${[...accountIds]}::bigint[])`;
  }

  get #everybody(): number[] {
    return [...Object.values(this.#api.accountIds), this.#options.clientId];
  }

  /** Of whoever has the domain. */
  invoiceId(): Promise<number> {
    return this.#once('invoice', async () => {
      const accountId = this.#buyerId;
      const rows = await this.#api.query<{ id: number }>`
        select issue_invoice(${accountId}, null, null, 0, '[]'::jsonb, 1, null, null, clock_timestamp()) as id`;
      return (rows[0] as { id: number }).id;
    });
  }

  /** Ordered by whoever has the domain. */
  topup(): Promise<Payment> {
    return this.#once('topup', async () => {
      const accountId = this.#buyerId;
      const made = await orderTopup(this.#db, { accountId, gateway: 'manual', amountRials: 50_000 });
      if (made.kind !== 'ordered') throw new Error(made.kind);
      const { payment } = made;
      // so that the walk may order more
      await this.#api.query`update payments set expires_at = created_at where id = ${payment.id}`;
      return payment;
    });
  }

  /** Open again, so that it can be cancelled. */
  async reopenTopup(): Promise<void> {
    const { id } = await this.topup();
    await this.#api
      .query`update payments set expires_at = now() + interval '1 hour', cancelled_at = null where id = ${id}`;
  }

  webhookId(): Promise<number> {
    return this.#once('webhook', async () => {
      const made = await createWebhook(this.#db, await this.domainId(), 'https://hooks.walk.test/');
      if (made.kind !== 'created') throw new Error(made.kind);
      return made.webhook.id;
    });
  }

  /** The token of a link. */
  async link(kind: 'reset' | 'email'): Promise<string> {
    const accountId = await this.personId();
    const email = kind === 'email' ? `new-${this.email}` : undefined;
    return await makeLink(this.#db, { kind, accountId, ...(email !== undefined && { email }) });
  }

  /** A code of the person's authenticator app. `isOn`: two-step sign-in is on already. */
  async otp(isOn: boolean): Promise<string> {
    const accountId = await this.personId();
    const secret = Buffer.alloc(20, this.#number & 255);
    const boxes = new KeyBoxes(TEST_KEY_SECRETS);
    await saveTotp(this.#db, accountId, await boxes.seal(this.#db, aboutTotp(accountId), secret));
    if (isOn) await confirmTotp(this.#db, accountId, []);
    return appCode(base32(secret));
  }

  /** To a job that nobody has given out. */
  get vantageAnswer(): object {
    const evidence = encodeEvidence(evidenceOf(parseName(`${this.domainName}.`), ['ns1.elsewhere.test.']));
    return { id: randomUUID(), name: this.domainName, evidence };
  }

  /** What stands for a parameter of the path. */
  async parameter(path: string, name: string): Promise<string | number> {
    if (name === 'domain') {
      await this.domainId();
      return this.domainName;
    }
    const found = PARAMETERS.find(([end]) =>
      path.slice(0, path.indexOf(`{${name}}`) + name.length + 2).endsWith(end),
    );
    if (found === undefined)
      throw new Error(`nothing stands for {${name}} in ${path}: say what in PARAMETERS`);
    return await found[1](this);
  }

  /** Who has the domain, and pays. */
  get #buyerId(): number {
    const { of = 'owner', clientId, accountId } = this.#options;
    return accountId ?? (of === 'client' ? clientId : this.#api.accountIds.owner);
  }

  get #db() {
    return this.#api.db;
  }

  async #idOf(table: 'check_runs' | 'subscriptions', domainId: number): Promise<number> {
    const rows = await this.#api.query<{ id: number }>`
      select id from ${sql.table(table)} where domain_id = ${domainId} order by id desc limit 1`;
    return (rows[0] as { id: number }).id;
  }

  #once<T>(what: string, make: () => Promise<T>): Promise<T> {
    const made = (this.#made.get(what) as Promise<T> | undefined) ?? make();
    this.#made.set(what, made);
    return made;
  }
}

/** Only worlds of resellers have them. */
const OF_RESELLERS: readonly string[] = ['/tokens/{id}', '/clients/{clientId}', '/services/{serviceId}'];

/** Where a path, up to a parameter, ends so: what stands for the parameter. */
const PARAMETERS: readonly [end: string, (world: World) => Promise<string | number>][] = [
  ['/records/{id}', async (world) => (await world.record()).id],
  ['/rules/{type}', async () => 'waf'],
  ['/rules/{type}/{id}', (world) => world.ruleId()],
  ['/changes/{id}', async (world) => (await world.record()).changeId],
  ['/members/{userId}', (world) => world.memberId()],
  ['/invites/{id}', (world) => world.inviteId()],
  ['/invites/{token}', (world) => world.inviteToken()],
  ['/cache/purges/{id}', (world) => world.purgeId()],
  ['/webhooks/{id}', (world) => world.webhookId()],
  ['/tickets/{id}', (world) => world.ticketId()],
  ['/admin/tickets/{id}', (world) => world.ticketId()],
  ['/invoices/{id}', (world) => world.invoiceId()],
  ['/payments/{gateway}', async () => 'online'],
  ['/wallet/topups/{id}', async (world) => (await world.topup()).id],
  ['/wallet/topups/{reference}', async (world) => (await world.topup()).reference],
  ['/admin/payments/{id}', async (world) => (await world.topup()).id],
  ['/recommendations/{code}', async () => 'missing_caa'],
  ['/checks/{id}', (world) => world.checkId()],
  ['/subscriptions/{id}', (world) => world.subscriptionId()],
  ['/admin/accounts/{id}', (world) => world.personId()],
  ['/admin/accounts/{id}/keys/{key}', (world) => world.keyId()],
  ['/admin/domains/{id}', (world) => world.domainId()],
  ['/admin/plans/{slug}', async (world) => (await world.plan()).slug],
  ['/admin/plans/{slug}/terms/{id}', async (world) => (await world.plan()).termId],
  ['/admin/nodes/{name}', (world) => world.nodeName()],
  ['/tokens/{id}', (world) => world.tokenId()],
  ['/clients/{clientId}', async (world) => world.clientId],
  ['/services/{serviceId}', (world) => world.domainId()],
  ['/users/me/keys/{id}', (world) => world.keyId()],
  ['/users/me/sessions/{id}', (world) => world.sessionId()],
];
