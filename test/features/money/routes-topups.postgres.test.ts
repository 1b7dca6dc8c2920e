import { createHmac } from 'node:crypto';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { ONLINE_GATEWAY, ownApi, PUBLIC_URL, startTestApi } from '../../support/api/api.ts';
import { type Browser, signIn } from '../../support/api/people.ts';
import { giveMoney } from '../../support/billing/give-money.ts';
import { signNotice } from '../../support/billing/sign-notice.ts';
import { newAccount } from '../../support/database/domains.ts';

const api = ownApi(() =>
  startTestApi({
    trustedProxies: ['127.0.0.1/32'],
    paymentInstructions: 'Bank of <b>Nowhere</b>\nIR 12',
  }),
);
let browser: Browser;
let other: Browser;
let operator: Browser;

beforeAll(async () => {
  browser = await signIn(api, 'owner');
  other = await signIn(api, 'stranger');
  operator = await signIn(api, 'operator');
});

/** A top-up of the owner, as returned. */
async function order(more: object = {}, as = browser) {
  const { status, body } = await as.ask('POST', '/wallet/topup', { amount_rials: 50_000, ...more });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body;
}

const balance = async () => (await browser.ask('GET', '/wallet')).body.balance_rials as number;

interface Notice {
  readonly gateway?: string;
  readonly secret?: string;
  readonly header?: string | null;
  /** The sent body, if it differs from the signed one. */
  readonly sent?: string;
}

async function tell(notice: object, how: Notice = {}) {
  const { gateway = 'online', secret = ONLINE_GATEWAY.secret } = how;
  const text = JSON.stringify(notice);
  const { header = signNotice(secret, gateway, Buffer.from(text), new Date()) } = how;
  return await api.ask('POST', `/payments/${gateway}`, {
    as: null,
    body: how.sent ?? text,
    headers: header === null ? {} : { 'zonefleet-signature': header },
  });
}

const NOT_FOUND = { status: 404, body: { error: 'top-up not found' } };
const REFUSED = { error: 'the notice is not signed by a known gateway' };

describe('POST /wallet/topup', () => {
  it('returns the URL of the gateway with an order that it can verify', async () => {
    const topup = await order();
    expect(topup).toMatchObject({ gateway: 'online', amount_rials: 50_000, state: 'open' });
    const url = new URL(topup.payment_url);
    expect(url.href.startsWith('https://pay.zonefleet.test/begin?shop=7&')).toBe(true);
    const { reference, amount_rials, return_url, signature } = Object.fromEntries(url.searchParams);
    expect([reference, amount_rials]).toEqual([topup.reference, '50000']);
    expect(return_url).toBe(`${PUBLIC_URL}/wallet/topups/${reference}/page`);
    const [, seconds, mac] = /^t=(\d+),v1=(\w+)$/.exec(signature as string) ?? [];
    const text = `order.${reference}.50000.${return_url}.${seconds}`;
    expect(mac).toBe(createHmac('sha256', ONLINE_GATEWAY.secret).update(text).digest('hex'));
    expect(url.href).not.toContain(ONLINE_GATEWAY.secret);
    await tell({ reference, amount_rials: 50_000 });
  });

  it('returns the page of a manual top-up with instructions, without scripts and external content', async () => {
    const topup = await order({ gateway: 'manual', amount_rials: 1_234_567 });
    expect(topup.payment_url).toBe(`${PUBLIC_URL}/wallet/topups/${topup.reference}/page`);
    const path = new URL(topup.payment_url).pathname;
    const shown = await browser.ask('GET', path);
    expect([shown.status, shown.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(shown.text).toContain(topup.reference);
    expect(shown.text).toContain('1,234,567 rials');
    expect(shown.text).toContain('Bank of &lt;b&gt;Nowhere&lt;/b&gt;\nIR 12');
    expect(shown.headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect(shown.headers['x-content-type-options']).toBe('nosniff');
    for (const each of [path, '/wallet/topups/AAAAAAAAAAAAAAAA/page'])
      expect(await other.ask('GET', each)).toMatchObject(NOT_FOUND);
    expect((await api.ask('GET', path, { as: null })).status).toBe(401);
    await operator.ask('POST', `/admin/payments/${topup.id}/confirm`);
    expect((await browser.ask('GET', path)).text).toContain('the amount is in your wallet');
  });

  it.each([
    [{ amount_rials: 9_999 }, 'amount_rials'],
    [{ amount_rials: 100_000_000_001 }, 'amount_rials'],
    [{ amount_rials: 10_000.5 }, 'amount_rials'],
    [{ amount_rials: 50_000, gateway: 'nobody' }, 'gateway'],
    [{ amount_rials: 50_000, state: 'paid' }, 'state'],
  ])('rejects %j', async (body, field) => {
    const problem = { code: 'validation_failed', fields: [{ field }] };
    expect(await browser.ask('POST', '/wallet/topup', body)).toMatchObject({ status: 400, body: problem });
  });

  it('allows ten open top-ups per account, also for concurrent calls', async () => {
    const accountId = api.accountIds.stranger;
    const again = () => other.ask('POST', '/wallet/topup', { amount_rials: 10_000 });
    const many = await Promise.all(Array.from({ length: 20 }, again));
    const open = many.find(({ status }) => status === 200);
    const told = many.map(({ status, body }) => (status === 200 ? '200' : `${status} ${body.error}`));
    const refusal = '409 10 top-ups are open: pay or cancel one';
    expect(told.sort()).toEqual([...Array(10).fill('200'), ...Array(10).fill(refusal)]);
    const rows = await api.query`select from payments where account_id = ${accountId}`;
    expect(rows).toHaveLength(10);
    expect((await other.ask('DELETE', `/wallet/topups/${open?.body.id}`)).status).toBe(200);
    expect([(await again()).status, (await again()).status]).toEqual([200, 409]);
    await api.query`update payments set expires_at = created_at where account_id = ${accountId}`;
    expect((await again()).status).toBe(200);
  });
});

describe('an open top-up', () => {
  const states = async (query = '') =>
    (await browser.ask('GET', `/wallet/topups${query}`)).body.map(
      ({ id, state }: { id: number; state: string }) => [id, state],
    );

  it('is listed as open until it is cancelled', async () => {
    const [first, second] = [await order(), await order()];
    const newest = [second, first].map(({ id }) => [id, 'open']);
    expect((await states('?state=open')).slice(0, 2)).toEqual(newest);
    const { body } = await browser.ask('DELETE', `/wallet/topups/${first.id}`);
    expect(body).toMatchObject({ id: first.id, state: 'cancelled', cancelled_at: expect.any(String) });
    expect((await states('?state=open')).map(([id]: [number]) => id)).not.toContain(first.id);
    expect(await states('?state=cancelled')).toEqual([[first.id, 'cancelled']]);
    expect((await browser.ask('GET', `/wallet/topups/${first.reference}/page`)).text).toContain('Cancelled');
    const [audited] = (await operator.ask('GET', '/admin/audit?action=wallet.cancel')).body;
    expect(audited).toMatchObject({ before: { payment: first.id, gateway: 'online', amount_rials: 50_000 } });
    await browser.ask('DELETE', `/wallet/topups/${second.id}`);
  });

  it('can be cancelled by its account, and only while it is open', async () => {
    const { id, reference } = await order();
    for (const each of [id, 999_999])
      expect(await other.ask('DELETE', `/wallet/topups/${each}`)).toMatchObject(NOT_FOUND);
    await tell({ reference, amount_rials: 50_000 });
    const paid = await browser.ask('DELETE', `/wallet/topups/${id}`);
    expect([paid.status, paid.body.code]).toEqual([400, 'wrong_state']);
    const again = await order();
    await browser.ask('DELETE', `/wallet/topups/${again.id}`);
    expect((await browser.ask('DELETE', `/wallet/topups/${again.id}`)).body.code).toBe('wrong_state');
  });

  it('can be ordered a hundred times a day, cancelled ones included', async () => {
    const subject = `topups:${api.accountIds.owner}`;
    await api.query`update invite_windows set count = 99 where subject = ${subject}`;
    await browser.ask('DELETE', `/wallet/topups/${(await order()).id}`);
    const often = await browser.ask('POST', '/wallet/topup', { amount_rials: 50_000 });
    expect([often.status, Number(often.headers['retry-after']) > 0]).toEqual([429, true]);
    await api.query`delete from invite_windows where subject = ${subject}`;
  });
});

describe('a notice', () => {
  it('credits the order once, even if it arrives concurrently', async () => {
    const before = await balance();
    const { reference, id } = await order();
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, i) => tell({ reference, amount_rials: 50_000, attempt: i })),
    );
    for (const { status, body } of answers)
      expect([status, body]).toEqual([200, { message: 'the top-up is credited' }]);
    expect(await balance()).toBe(before + 50_000);
    const [row] = (await browser.ask('GET', '/wallet/transactions')).body;
    const description = `Top-up ${reference}`;
    expect(row).toMatchObject({ amount_rials: 50_000, ref_type: 'topup', ref_id: id, description });
    const [topup] = (await browser.ask('GET', '/wallet/topups')).body;
    expect([topup.id, topup.state]).toEqual([id, 'paid']);
    const audit = await api.db
      .selectFrom('audit_log')
      .select(['action', 'actor_kind', 'actor_name', 'after'])
      .where('account_id', '=', api.accountIds.owner)
      .where(sql`after->>'payment'`, '=', String(id))
      .orderBy('id')
      .execute();
    const told = { payment: id, gateway: 'online', amount_rials: 50_000 };
    expect(audit).toEqual([
      { action: 'wallet.topup', actor_kind: 'session', actor_name: null, after: told },
      {
        action: 'wallet.credit',
        actor_kind: 'system',
        actor_name: 'gateway online',
        after: { ...told, balance_rials: before + 50_000 },
      },
    ]);
  });

  it('with another amount credits nothing and is shown to operators', async () => {
    const before = await balance();
    const { reference, id } = await order();
    const error = 'the amount differs from that of the top-up: nothing is credited';
    for (const amount_rials of [5_000_000, 5_000_000])
      expect(await tell({ reference, amount_rials })).toMatchObject({ status: 409, body: { error } });
    expect(await balance()).toBe(before);
    const [payment] = (await operator.ask('GET', '/admin/payments?state=open')).body;
    const shown = { id, amount_rials: 50_000, refused_rials: 5_000_000, email: 'owner@zonefleet.test' };
    expect(payment).toMatchObject(shown);
    const refusals = (await operator.ask('GET', '/admin/audit?action=wallet.refuse')).body;
    expect(refusals).toMatchObject([{ after: { payment: id, gateway: 'online', amount_rials: 5_000_000 } }]);
    expect((await tell({ reference, amount_rials: 50_000 })).status).toBe(200);
    expect(await balance()).toBe(before + 50_000);
  });

  it.each<[string, Notice]>([
    ['without a signature', { header: null }],
    ['with another secret', { secret: `${ONLINE_GATEWAY.secret}.` }],
    ['to an unknown gateway', { gateway: 'nobody' }],
    ['to the gateway that sends none', { gateway: 'manual' }],
    ['with another body than was signed', { sent: '{"reference":"A","amount_rials":50000}' }],
    ['with a body that is too long', { sent: `{"reference":"${'A'.repeat(5000)}","amount_rials":1}` }],
  ])('%s is rejected with the same 401', async (_, how) => {
    const before = await balance();
    const { reference, id } = await order();
    const { status, body } = await tell({ reference, amount_rials: 50_000 }, how);
    expect([status, body]).toEqual([401, REFUSED]);
    expect(await balance()).toBe(before);
    await api.query`update payments set expires_at = created_at where id = ${id}`;
  });

  it('of an unknown or a manual top-up is a 404, and one that is signed but invalid is a 400', async () => {
    const { reference } = await order({ gateway: 'manual' });
    for (const named of [reference, 'AAAAAAAAAAAAAAAA', ''])
      expect(await tell({ reference: named, amount_rials: 50_000 })).toMatchObject(NOT_FOUND);
    const { status, body } = await tell({ amount_rials: 1.5 });
    expect([status, body.code]).toEqual([400, 'validation_failed']);
  });

  it('credits a deactivated account, but no wallet beyond its maximum', async () => {
    const accountId = await newAccount(api.db, 'rich@zonefleet.test');
    await giveMoney(api.db, accountId, 1_000_000_000_000_000);
    const { reference, id } = await order();
    await api.query`update payments set account_id = ${accountId} where id = ${id}`;
    const error = 'the balance would exceed the largest amount that a wallet can hold: nothing is credited';
    const full = await tell({ reference, amount_rials: 50_000 });
    expect([full.status, full.body.error]).toEqual([409, error]);
    const poor = await newAccount(api.db, 'poor@zonefleet.test');
    await api.query`update accounts set active = false where id = ${poor}`;
    await api.query`update payments set account_id = ${poor} where id = ${id}`;
    expect((await tell({ reference, amount_rials: 50_000 })).status).toBe(200);
  });
});

describe('an operator', () => {
  it('confirms a payment once; a later notice of the gateway credits nothing', async () => {
    const before = await balance();
    const { reference, id } = await order();
    const confirmed = await operator.ask('POST', `/admin/payments/${id}/confirm`);
    expect(confirmed.body).toMatchObject({ id, state: 'paid', user_id: api.accountIds.owner });
    const again = await operator.ask('POST', `/admin/payments/${id}/confirm`);
    expect([again.status, again.body.code]).toEqual([400, 'wrong_state']);
    expect((await tell({ reference, amount_rials: 50_000 })).status).toBe(200);
    expect(await balance()).toBe(before + 50_000);
    expect((await operator.ask('POST', '/admin/payments/999999/confirm')).status).toBe(404);
  });

  it('lists payments by state and by account', async () => {
    type Listed = { id: number; state: string };
    const list = async (more = ''): Promise<Listed[]> =>
      (await operator.ask('GET', `/admin/payments?user=${api.accountIds.owner}${more}`)).body;
    const all = await list();
    const states = ['open', 'paid', 'cancelled', 'expired'];
    expect([...new Set(all.map(({ state }) => state))].sort()).toEqual(states.toSorted());
    for (const state of states)
      expect(await list(`&state=${state}`)).toEqual(all.filter((each) => each.state === state));
  });
});

it('the ledger adds up, and the secret is in no log', async () => {
  const rows = await api.query<{ sum: string; wrong: number }>`
    select (select sum(amount_rials) from ledger) as sum, (select count(*)::integer from wallets w where balance_rials <>
      (select coalesce(sum(amount_rials), 0) from ledger l where l.account_id = w.account_id)) as wrong`;
  expect(rows).toEqual([{ sum: '0', wrong: 0 }]);
  expect(JSON.stringify(api.logged)).not.toContain(ONLINE_GATEWAY.secret);
});
