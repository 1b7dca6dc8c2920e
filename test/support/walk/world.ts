// The objects that a valid request of the walk needs: a domain, an account, and everything that its path and body
// refer to. Each is created when it is first used.

import { randomUUID } from 'node:crypto';
import { hash } from '@node-rs/argon2';
import { sql } from 'kysely';
import { aboutTotp } from '../../../src/api/people/second-factor.ts';
import { base32 } from '../../../src/api/people/totp.ts';
import { encodeEvidence } from '../../../src/checks/delegation/evidence-json.ts';
import { parseName } from '../../../src/dns/name.ts';
import { judgeCertificate } from '../../../src/edge/certificates/judge-certificate.ts';
import { orderPurge } from '../../../src/features/cache/sql-purges.ts';
import { uploadCertificate } from '../../../src/features/certificates/sql.ts';
import { orderTopup, type Payment } from '../../../src/features/money/sql-payments.ts';
import { replacePrimaries } from '../../../src/features/secondaries/sql-domain.ts';
import { openTicket } from '../../../src/features/tickets/sql-write.ts';
import { createWebhook } from '../../../src/features/webhooks/sql.ts';
import { createApiKey, generateKey } from '../../../src/store/accounts/api-keys.ts';
import { addTerm, createPlan } from '../../../src/store/accounts/plans.ts';
import { mintToken } from '../../../src/store/accounts/reseller-tokens.ts';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { deleteDomain } from '../../../src/store/change/save-domain.ts';
import { setPlan } from '../../../src/store/change/set-plan.ts';
import { freezeMoves } from '../../../src/store/checks/breaker-store.ts';
import { enableDnssec } from '../../../src/store/dnssec/change-goal.ts';
import { makeLink, setPassword } from '../../../src/store/people/credentials.ts';
import { type Identity, linkIdentity } from '../../../src/store/people/identities.ts';
import { openSession } from '../../../src/store/people/sessions.ts';
import { confirmTotp, saveTotp } from '../../../src/store/people/totp.ts';
import { inTransaction } from '../../../src/store/postgres/transaction.ts';
import { KeyBoxes } from '../../../src/store/secrets/key-boxes.ts';
import { createInvite } from '../../../src/store/sharing/invites.ts';
import { createKey } from '../../../src/store/transfers/keys.ts';
import { type Answer, TEST_KEY_SECRETS, type TestApi } from '../api/api.ts';
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
  /** Relation of the domain's owner, and of the person who signs in. */
  readonly of?: 'owner' | 'client' | 'operator';
  /** The client account that owns the domain. Another client signs in. */
  readonly clientId: number;
  /** Account that owns the domain instead. The domain then has no members. */
  readonly accountId?: number;
  readonly dnsMode?: 'managed' | 'external';
  /** The reseller that owns the tokens. */
  readonly resellerId?: number;
}

export class World {
  readonly api: TestApi;
  /** Differs from all other worlds. */
  readonly unique = `walk-${++worlds}`;
  readonly email = `${this.unique}@walk.test`;
  readonly domainName = `${this.unique}.test`;
  callerEmail = `nobody-${this.email}`;
  readonly options: WorldOptions;
  readonly #made = new Map<string, Promise<unknown>>();

  constructor(api: TestApi, options: WorldOptions) {
    this.api = api;
    this.options = options;
  }

  get db() {
    return this.api.db;
  }

  get clientId(): number {
    return this.options.clientId;
  }

  /** The account that owns the domain and pays. */
  get buyerId(): number {
    const { of = 'owner', clientId, accountId } = this.options;
    return accountId ?? (of === 'client' ? clientId : this.api.accountIds.owner);
  }

  /** Returns the value of a path parameter. */
  async parameter(path: string, name: string): Promise<string | number> {
    if (name === 'domain') {
      await this.domainId();
      return this.domainName;
    }
    const upTo = path.slice(0, path.indexOf(`{${name}}`) + name.length + 2);
    const found = Object.entries(PARAMETERS).find(([end]) => upTo.endsWith(end));
    if (found === undefined) throw new Error(`no value for {${name}} in ${path}: add it to PARAMETERS`);
    const [end, make] = found;
    return end === '/invites/{token}' ? await make(this) : await this.#once(end, () => make(this));
  }

  /** Creates all objects that belong to accounts. */
  async fill(): Promise<void> {
    for (const end of Object.keys(PARAMETERS)) {
      if (end.startsWith('/admin/') || RESELLER_PARAMETERS.includes(end)) continue;
      const [, name = ''] = /\{(\w+)\}$/.exec(end) ?? [];
      if ((await this.parameter(end, name)) === undefined) throw new Error(`${end}: nothing was made`);
    }
  }

  domainId(): Promise<number> {
    return this.#once('domain', async () => {
      const { dnsMode = 'managed', accountId } = this.options;
      const { id } = await newDomain(this.db, this.buyerId, `${this.domainName}.`, { dnsMode });
      for (const role of accountId === undefined ? (['viewer', 'editor', 'admin'] as const) : [])
        await saveMembership(this.db, id, this.api.accountIds[role], role);
      return id;
    });
  }

  /** The account of this world that signs in, registers and has keys, with a password. */
  personId(): Promise<number> {
    return this.#once('person', async () => {
      const { of } = this.options;
      const id =
        of === 'client'
          ? await newClient(this.api, this.email)
          : await newAccount(this.db, this.email, of === 'operator');
      passwordHash ??= hash(PASSWORD, { memoryCost: 19_456, timeCost: 2, parallelism: 1 });
      await setPassword(this.db, id, await passwordHash);
      return id;
    });
  }

  /** Creates an A record at `www`, and returns it with its change. */
  record(): Promise<{ readonly id: number; readonly changeId: number }> {
    return this.#once('record', async () => {
      const { body, headers } = await this.post('/records/', {
        name: 'www',
        type: 'A',
        destination: '192.0.2.1',
      });
      return { id: body.id, changeId: Number(headers['x-change-id']) };
    });
  }

  /** Sends a POST below the domain. */
  async post(end: string, body: object): Promise<Answer> {
    const path = `/domains/${await this.domainId()}${end}`;
    const answer = await this.api.ask('POST', path, { as: 'operator', body });
    if (answer.status !== 200) throw new Error(answer.text);
    return answer;
  }

  async setStatus(status: 'disabled' | 'banned'): Promise<void> {
    const event = status === 'disabled' ? 'disable' : 'ban';
    const domainId = await this.domainId();
    await changeStatus(this.db, { domainId, event, by: { kind: 'cli' }, source: 'test' });
  }

  async deleteDomain(): Promise<void> {
    await deleteDomain(this.db, { ...BY, domainId: await this.domainId() });
  }

  async certificate(): Promise<{ readonly certificate: string; readonly private_key: string }> {
    const { pem, key } = await this.#once('certificate', () => makeCertificate({ names: [this.domainName] }));
    return { certificate: pem, private_key: key };
  }

  async installCertificate(): Promise<void> {
    const { certificate, private_key } = await this.certificate();
    const judging = { certificate, privateKey: private_key, domain: this.domainName, now: new Date() };
    const judgement = judgeCertificate({ ...judging, roots: new Set<string>() });
    if (judgement.kind === 'refused') throw new Error(JSON.stringify(judgement.problems));
    await uploadCertificate(this.db, { domainId: await this.domainId(), judged: judgement.judged });
  }

  /** Returns a term that costs nothing, of a plan that a new domain fits. */
  async freeTermId(): Promise<number> {
    const rows = await this.api.query<{ id: number }>`
      select t.id from plan_terms t join plans p on p.id = t.plan_id where p.slug = 'free'`;
    return rows[0]?.id as number;
  }

  plan(): Promise<{ readonly slug: string; readonly termId: number }> {
    return this.#once('plan', async () => {
      const slug = `plan-${this.unique}`;
      await createPlan(this.db, slug, { name: 'A plan' });
      const made = await addTerm(this.db, slug, { days: 30, priceRials: 1000 });
      return { slug, termId: made?.terms[0]?.id as number };
    });
  }

  /** Gives the domain a larger plan than the free one. */
  async assignPlan(): Promise<void> {
    await setPlan(this.db, { domainId: await this.domainId(), planSlug: 'pro' });
  }

  async fund(): Promise<void> {
    for (const accountId of [this.options.resellerId as number, this.clientId])
      await giveMoney(this.db, accountId, 1000);
  }

  async freezeBreaker(): Promise<void> {
    await freezeMoves(this.db, { parent: '', reason: 'the walk', by: 'walk', until: undefined });
  }

  /** Enables DNSSEC. No worker signs the domain. */
  async signDomain(): Promise<void> {
    const changed = await enableDnssec(this.db, { domainId: await this.domainId(), ...BY });
    if (changed.kind !== 'updated') throw new Error(`not enabled: ${JSON.stringify(changed)}`);
  }

  async copyDomain(): Promise<void> {
    const domain = { id: await this.domainId(), accountId: this.buyerId };
    await replacePrimaries(this.db, domain, [{ address: '9.9.9.9', port: 53, keyId: null }]);
  }

  /** Enables DNSSEC, and resets the limit of requested checks. */
  async allowDnssecCheck(): Promise<void> {
    await this.signDomain();
    const domainId = await this.domainId();
    await this.api.query`update signed_zones set look_asked_at = null where domain_id = ${domainId}`;
  }

  /** Lets these accounts open more tickets. The last ones stay open. */
  async closeTickets(
    accountIds: readonly number[] = [...Object.values(this.api.accountIds), this.clientId],
  ): Promise<void> {
    await this.api.query`
      update tickets set created_at = created_at - interval '2 days',
        status = case when id > (select max(id) from tickets) - 10 and subject = 'Walk' then status else 'closed' end
      where account_id = any(${[...accountIds]}::bigint[])`;
  }

  /** A top-up that the owner of the domain ordered. */
  topup(): Promise<Payment> {
    return this.#once('topup', async () => {
      const order = { accountId: this.buyerId, gateway: 'manual', amountRials: 50_000 };
      const made = await orderTopup(this.db, order);
      if (made.kind !== 'ordered') throw new Error(made.kind);
      const { payment } = made;
      // allows the walk to order more
      await this.api.query`update payments set expires_at = created_at where id = ${payment.id}`;
      return payment;
    });
  }

  /** Reopens the top-up, so that it can be cancelled. */
  async reopenTopup(): Promise<void> {
    await this.api.query`
      update payments set expires_at = now() + interval '1 hour', cancelled_at = null
      where id = ${(await this.topup()).id}`;
  }

  async link(kind: 'reset' | 'email'): Promise<string> {
    const accountId = await this.personId();
    return await makeLink(this.db, {
      kind,
      accountId,
      ...(kind === 'email' && { email: `new-${this.email}` }),
    });
  }

  /** Returns a code of the person's authenticator app. `isOn`: two-step sign-in is already on. */
  async otp(isOn: boolean): Promise<string> {
    const accountId = await this.personId();
    const secret = Buffer.alloc(20, this.unique);
    const boxes = new KeyBoxes(TEST_KEY_SECRETS);
    await saveTotp(this.db, accountId, await boxes.seal(this.db, aboutTotp(accountId), secret));
    if (isOn) await confirmTotp(this.db, accountId, []);
    return appCode(base32(secret));
  }

  /** Returns a result for a job that was never assigned. */
  get vantageAnswer(): object {
    const evidence = encodeEvidence(evidenceOf(parseName(`${this.domainName}.`), ['ns1.elsewhere.test.']));
    return { id: randomUUID(), name: this.domainName, evidence };
  }

  async invite(domainId: number, email: string) {
    const inviter = { sharer: 'operator', mails: false } as const;
    const sent = await createInvite(this.db, { domainId, email, role: 'viewer', inviter });
    if (sent.kind !== 'sent') throw new Error(sent.message);
    return sent;
  }

  async newestOf(table: 'check_runs' | 'subscriptions'): Promise<number> {
    const rows = await this.api.query<{ id: number }>`
      select id from ${sql.table(table)} where domain_id = ${await this.domainId()} order by id desc limit 1`;
    return rows[0]?.id as number;
  }

  #once<T>(what: string, make: () => T | Promise<T>): Promise<T> {
    const made = (this.#made.get(what) as Promise<T> | undefined) ?? Promise.resolve(make());
    this.#made.set(what, made);
    return made;
  }
}

/** Only worlds of resellers have these parameters. */
const RESELLER_PARAMETERS: readonly string[] = [
  '/tokens/{id}',
  '/clients/{clientId}',
  '/services/{serviceId}',
];

type Make = (world: World) => Promise<string | number> | string | number;

const ticketId: Make = async (w) => {
  await w.closeTickets([w.buyerId]);
  const order = { accountId: w.buyerId, subject: 'Walk', message: 'Where to?' };
  const made = await openTicket(w.db, order);
  if (made.kind !== 'opened') throw new Error(made.message);
  return made.ticket.id;
};

const keyId: Make = async (w) =>
  (await createApiKey(w.db, generateKey(), { name: 'walk', accountId: await w.personId() }))?.id as number;

/** Values of path parameters, by the end of the path up to the parameter. */
const PARAMETERS: Readonly<Record<string, Make>> = {
  '/records/{id}': async (w) => (await w.record()).id,
  '/rules/{type}': () => 'waf',
  '/rules/{type}/{id}': async (w) => (await w.post('/rules/waf/', {})).body.id,
  '/changes/{id}': async (w) => (await w.record()).changeId,
  async '/identities/{id}'(w) {
    const accountId = await w.personId();
    const identity = { issuer: 'https://id.walk.test', subject: w.email, email: null };
    return ((await linkIdentity(w.db, { accountId, ...identity })) as Identity).id;
  },
  async '/members/{userId}'(w) {
    const id = await newAccount(w.db, `member-${w.email}`);
    await saveMembership(w.db, await w.domainId(), id, 'viewer');
    return id;
  },
  '/invites/{id}': async (w) => (await w.invite(await w.domainId(), `invited-before-${w.email}`)).invite.id,
  // Invites the caller to a domain of another account.
  async '/invites/{token}'(w) {
    const inviter = await newAccount(w.db, `inviter-${++worlds}-${w.email}`);
    const { id } = await newDomain(w.db, inviter, `invites-${worlds}-${w.domainName}.`);
    return (await w.invite(id, w.callerEmail)).token;
  },
  async '/cache/purges/{id}'(w) {
    const domainId = await w.domainId();
    const ordered = await inTransaction(w.db, (trx) => orderPurge(trx, domainId, { kind: 'all' }));
    if (ordered.kind !== 'ordered') throw new Error(ordered.why);
    return ordered.id;
  },
  async '/tsig-keys/{id}'(w) {
    const key = { accountId: w.buyerId, label: 'walk', algorithm: 'hmac-sha256' } as const;
    const stored = await createKey(w.db, TEST_KEY_SECRETS, key);
    if (stored.kind !== 'stored') throw new Error(stored.kind);
    return stored.key.id;
  },
  async '/webhooks/{id}'(w) {
    const made = await createWebhook(w.db, await w.domainId(), 'https://hooks.walk.test/');
    if (made.kind !== 'created') throw new Error(made.kind);
    return made.webhook.id;
  },
  '/tickets/{id}': ticketId,
  '/admin/tickets/{id}': ticketId,
  async '/invoices/{id}'(w) {
    const rows = await w.api.query<{ id: number }>`
      select issue_invoice(${w.buyerId}, null, null, 0, '[]'::jsonb, 1, null, null, clock_timestamp()) as id`;
    return rows[0]?.id as number;
  },
  '/payments/{gateway}': () => 'online',
  '/wallet/topups/{id}': async (w) => (await w.topup()).id,
  '/wallet/topups/{reference}': async (w) => (await w.topup()).reference,
  '/admin/payments/{id}': async (w) => (await w.topup()).id,
  '/recommendations/{code}': () => 'missing_caa',
  async '/checks/{id}'(w) {
    const domainId = await w.domainId();
    await makeCheck(w.db, { domainId }, (name) => evidenceOf(name, ['ns1.elsewhere.test.']));
    return await w.newestOf('check_runs');
  },
  '/subscriptions/{id}': (w) => w.newestOf('subscriptions'),
  '/admin/accounts/{id}': (w) => w.personId(),
  '/admin/accounts/{id}/keys/{key}': keyId,
  '/admin/domains/{id}': (w) => w.domainId(),
  '/admin/plans/{slug}': async (w) => (await w.plan()).slug,
  '/admin/plans/{slug}/terms/{id}': async (w) => (await w.plan()).termId,
  // A nameserver that holds removals back.
  async '/admin/nodes/{name}'(w) {
    await w.api.query`
      insert into nodes (name, instance, started_at, seen_at, loaded, zones, records, held_id, held_since, held_zones)
      values (${w.unique}, gen_random_uuid(), now(), now(), true, 5, 50, gen_random_uuid(), now(), 4)`;
    return w.unique;
  },
  async '/tokens/{id}'(w) {
    const accountId = w.options.resellerId as number;
    const minted = await mintToken(w.db, { accountId, name: 'walk', expiresAt: null }, 1000);
    return minted?.token.id as number;
  },
  '/clients/{clientId}': (w) => w.clientId,
  '/services/{serviceId}': (w) => w.domainId(),
  '/users/me/keys/{id}': keyId,
  async '/users/me/sessions/{id}'(w) {
    const accountId = await w.personId();
    await openSession(w.db, { accountId, carrier: 'bearer', address: '192.0.2.1', userAgent: 'other' });
    const rows = await w.api.query<{ id: number }>`
      select id from sessions where account_id = ${accountId} and user_agent = 'other'`;
    return rows[0]?.id as number;
  },
};
