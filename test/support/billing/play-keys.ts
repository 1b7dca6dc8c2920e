// Plays random sequences of calls with Idempotency-Keys (new keys, repeats, the same key for another call) against a model
// that records the use of keys, and reports differences. A client may lose answers, and then repeats the call.

import { sql } from 'kysely';
import { addTerm } from '../../../src/store/accounts/plans.ts';
import { openSession } from '../../../src/store/people/sessions.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { newAccount, newDomain } from '../database/domains.ts';
import { giveMoney } from './give-money.ts';
import { randomOf } from './random.ts';

export interface Asked {
  readonly token: string;
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly key: string;
}

export interface KeyAnswer {
  readonly status: number;
  readonly body: unknown;
  /** The API reports that the call was carried out before. */
  readonly isReplay: boolean;
  /** Number of answers before it that were lost or 5xx. */
  readonly failures: number;
}

interface KeyPlay {
  readonly client: { ask(asked: Asked): Promise<KeyAnswer> };
  readonly db: Database;
  readonly buyers: readonly Buyer[];
  /** Terms of one plan, to switch between. */
  readonly terms: readonly [number, number];
  readonly sequences: number;
  readonly seed: number;
  readonly onPlayed?: (sequences: number) => Promise<void>;
}

interface Call {
  readonly kind: 'purchase' | 'switch' | 'topup' | 'record' | 'batch';
  readonly method: 'POST' | 'PUT';
  readonly path: string;
  readonly body: object;
  readonly domain: string;
  readonly termId?: number;
}

interface Made {
  readonly key: string;
  readonly call: Call;
}

const AT_ONCE = 20;
/** One in this many sequences sends a new key twenty times concurrently. */
const CROWDS = 10;
const MOST_OPEN_TOPUPS = 10;
let names = 0;

/** An account with money, domains and a session for purchases over HTTP. */
interface Buyer {
  readonly accountId: number;
  readonly token: string;
  readonly domains: readonly string[];
}

async function makeBuyer(db: Database, number: number): Promise<Buyer> {
  const accountId = await newAccount(db, `buyer${number}@buy.test`);
  await giveMoney(db, accountId, 10_000_000);
  const domains = ['d0', 'd1'].map((label) => `${label}.buyer${number}.test`);
  for (const name of domains) await newDomain(db, accountId, `${name}.`, { planSlug: 'free' });
  const session = { accountId, carrier: 'bearer', address: '192.0.2.1', userAgent: undefined } as const;
  return { accountId, token: await openSession(db, session), domains };
}

/** Expected state of one account. Only one lane of the play acts for it. */
class KeyModel {
  readonly kept = new Map<string, { readonly call: Call; readonly body: string }>();
  /** The paid term by domain. */
  readonly paid = new Map<string, number>();
  bought = 0;
  topups = 0;
  records = 0;

  /** Returns the status of an executed call. */
  expected({ kind, domain, termId }: Call): number {
    const own = this.paid.get(domain);
    switch (kind) {
      case 'purchase':
        return own === undefined ? 200 : 400;
      case 'switch':
        return own === undefined || own === termId ? 400 : 200;
      case 'topup':
        return this.topups < MOST_OPEN_TOPUPS ? 200 : 409;
      default:
        return 200;
    }
  }

  carriedOut({ kind, domain, termId }: Call): void {
    if (kind === 'topup') this.topups++;
    else if (termId === undefined) this.records++;
    else {
      this.bought++;
      this.paid.set(domain, termId);
    }
  }
}

export async function playKeys(given: Omit<KeyPlay, 'buyers' | 'terms'>): Promise<string[]> {
  const { db, sequences, seed, onPlayed } = given;
  const buyers: Buyer[] = [];
  for (let number = 0; number < 4; number++) buyers.push(await makeBuyer(db, number));
  const term = async (days: number, priceRials: number) =>
    (await addTerm(db, 'pro', { days, priceRials }))?.terms.at(-1)?.id as number;
  const play = { ...given, buyers, terms: [await term(30, 1009), await term(90, 2503)] as const };
  const differences: string[] = [];
  let played = 0;
  let begun = 0;
  const lane = async (buyer: Buyer, at: number) => {
    const random = randomOf(seed * 1000 + at);
    const model = new KeyModel();
    while (begun < sequences && differences.length === 0) {
      const number = begun++;
      differences.push(...(await playSequence(play, { buyer, model, random, number })));
      await onPlayed?.(++played);
    }
    differences.push(...(await compare(play.db, buyer, model)));
  };
  await Promise.all(buyers.map(lane));
  return differences;
}

interface Sequence {
  readonly buyer: Buyer;
  readonly model: KeyModel;
  readonly random: (most: number) => number;
  readonly number: number;
}

async function playSequence(play: KeyPlay, sequence: Sequence): Promise<string[]> {
  const { random, number } = sequence;
  const made: Made[] = [];
  const calls = 3 + random(5);
  for (let i = 0; i < calls; i++) {
    const before = made[random(made.length || 1)];
    const draw = random(4);
    let next: Made = { key: `s${number}-${i}`, call: drawCall(play, sequence) };
    if (before !== undefined && draw < 2) next = before;
    else if (before !== undefined && draw === 2) next = { ...next, key: before.key };
    made.push(next);
    const isNew = !sequence.model.kept.has(next.key);
    const copies = isNew && i === 0 && number % CROWDS === 0 ? AT_ONCE : 1;
    const difference = await judge(play, sequence, next, copies);
    if (difference !== undefined) return [`sequence ${number} call ${i}: ${difference}`];
  }
  return [];
}

function drawCall({ terms }: KeyPlay, { buyer, random }: Sequence): Call {
  const domain = buyer.domains[random(buyer.domains.length)] as string;
  const termId = terms[random(2)] as number;
  const record = { name: `n${++names}`, type: 'A', destination: '192.0.2.1' };
  switch (random(6)) {
    case 0:
      return { kind: 'topup', method: 'POST', path: '/wallet/topup', body: { amount_rials: 10_000 }, domain };
    case 1:
      return { kind: 'record', method: 'POST', path: `/domains/${domain}/records/`, body: record, domain };
    case 2: {
      const path = `/domains/${domain}/records/batch`;
      return { kind: 'batch', method: 'PUT', path, body: { create: [record] }, domain };
    }
    default: {
      const kind = random(3) === 0 ? 'purchase' : 'switch';
      const path = `/domains/${domain}/subscriptions/${kind}`;
      return { kind, method: 'POST', path, body: { plan_term_id: termId }, domain, termId };
    }
  }
}

/**
 * Sends the call, sometimes several times concurrently, and compares the result with the model. Returns undefined if they
 * agree.
 */
async function judge(
  { client }: KeyPlay,
  { buyer, model }: Sequence,
  { key, call }: Made,
  copies: number,
): Promise<string | undefined> {
  const { method, path, body } = call;
  const asked = { token: buyer.token, method, path, body, key };
  const answers = await Promise.all(Array.from({ length: copies }, () => client.ask(asked)));
  const kept = model.kept.get(key);
  const isSame = kept !== undefined && sameCall(kept.call, call);
  const status = kept === undefined ? model.expected(call) : isSame ? 200 : 422;
  const wrong = answers.find((answer) => answer.status !== status);
  const shown = `${method} ${path} ${JSON.stringify(body)} with ${key}`;
  if (wrong !== undefined)
    return `${shown}: ${wrong.status} ${JSON.stringify(wrong.body)}, expected ${status}`;
  if (status !== 200) return undefined;
  const first = kept?.body ?? JSON.stringify(answers[0]?.body);
  if (answers.some((answer) => JSON.stringify(answer.body) !== first)) return `${shown}: another body`;
  const fresh = answers.filter(({ isReplay }) => !isReplay).length;
  const isLost = answers.some(({ failures }) => failures > 0);
  const wanted = kept === undefined ? 1 : 0;
  // The lost answer may have been the executed one.
  if (fresh > wanted || (fresh < wanted && !isLost)) return `${shown}: carried out ${fresh} times`;
  if (kept === undefined) {
    model.kept.set(key, { call, body: first });
    model.carriedOut(call);
  }
  return undefined;
}

function sameCall(a: Call, b: Call): boolean {
  return a.method === b.method && a.path === b.path && JSON.stringify(a.body) === JSON.stringify(b.body);
}

async function compare(db: Database, { accountId }: Buyer, model: KeyModel): Promise<string[]> {
  const { rows } = await sql<{ bought: number; topups: number; records: number }>`
    select
      (select count(*)::integer from ledger where account_id = ${accountId} and ref_type = 'subscription') as bought,
      (select count(*)::integer from payments where account_id = ${accountId}) as topups,
      (select count(*)::integer from records r join domains d on d.id = r.domain_id
        where d.account_id = ${accountId} and not r.managed) as records`.execute(db);
  const { bought, topups, records } = model;
  const [came, wanted] = [rows[0], { bought, topups, records }].map((each) => JSON.stringify(each));
  return came === wanted ? [] : [`account ${accountId} has ${came}, expected ${wanted}`];
}
