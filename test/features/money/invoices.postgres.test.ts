import { beforeAll, expect, it } from 'vitest';
import { addTerm } from '../../../src/store/accounts/plans.ts';
import { ownApi, startTestApi } from '../../support/api/api.ts';
import { type Browser, signIn } from '../../support/api/people.ts';
import { giveMoney } from '../../support/billing/give-money.ts';

const MARKUP = `<script>alert(1)</script>"><img src=x onerror='alert(2)'>&amp;\u202e`;

const api = ownApi(() => startTestApi({ invoiceSeller: 'Us & Sons <i>Ltd</i>\nStreet 1' }));
let browser: Browser;
let termId = 0;
beforeAll(async () => {
  const { db, accountIds } = api;
  await api.query`update plans set name = ${MARKUP} where slug = 'pro'`;
  termId = (await addTerm(db, 'pro', { days: 30, priceRials: 4_500_000 }))?.terms.at(-1)?.id as number;
  await giveMoney(db, accountIds.owner, 10_000_000);
  browser = await signIn(api, 'owner');
  await api.query`update accounts set name = ${MARKUP}, email = '"<b>x</b>"@a.test' where id = ${accountIds.owner}`;
  for (const name of ['shop.test', 'other.test']) {
    await api.makeDomain(name, { planSlug: 'free' });
    const order = { plan_term_id: termId };
    const bought = await browser.ask('POST', `/domains/${name}/subscriptions/purchase`, order);
    if (bought.status !== 200) throw new Error(bought.text);
  }
});

const read = (path: string, as = 'owner') => api.ask('GET', path, { as });

it('lists the invoices of the account, newest first', async () => {
  const { body } = await read('/invoices');
  const year = new Date(body[0].issued_at).getUTCFullYear();
  expect(body.map(({ number }: { number: string }) => number)).toEqual([`${year}-000002`, `${year}-000001`]);
  expect(body[1]).toEqual({
    id: expect.any(Number),
    number: `${year}-000001`,
    issued_at: expect.any(String),
    seller: 'Us & Sons <i>Ltd</i>\nStreet 1',
    buyer_name: MARKUP,
    buyer_email: '"<b>x</b>"@a.test',
    domain_id: expect.any(Number),
    domain: 'shop.test',
    subscription_id: expect.any(Number),
    lines: [{ description: `${MARKUP} for 30 days: shop.test`, amount_rials: 4_500_000 }],
    total_rials: 4_500_000,
    period_start: expect.any(String),
    period_end: expect.any(String),
  });
  expect((await read(`/invoices/${body[1].id}`)).body).toEqual(body[1]);
  const page = await read('/invoices?limit=1&count=true');
  expect([page.body, page.headers['x-total-count']]).toEqual([[body[0]], '2']);
  expect(page.headers.link).toMatch(/cursor=-\d+>; rel="next"/);
});

it('lists the invoices of a domain for the owner who paid them', async () => {
  const names = async (as: string) => {
    const { status, body } = await read('/domains/shop.test/invoices', as);
    return status === 200 ? body.map(({ domain }: { domain: string }) => domain) : status;
  };
  expect(await names('owner')).toEqual(['shop.test']);
  expect(await names('operator')).toEqual(['shop.test']);
  expect([await names('admin'), await names('stranger')]).toEqual([403, 404]);
  const { owner, stranger } = api.accountIds;
  await api.query`update domains set account_id = ${stranger} where name = 'shop.test.'`;
  expect(await names('stranger')).toEqual([]);
  await api.query`update domains set account_id = ${owner} where name = 'shop.test.'`;
});

it('escapes foreign text on a page without scripts and external content', async () => {
  const [, { id, number }] = (await read('/invoices')).body;
  const { status, headers, text } = await read(`/invoices/${id}/print`);
  expect([status, headers['content-type'], headers['x-content-type-options']]).toEqual([
    200,
    'text/html; charset=utf-8',
    'nosniff',
  ]);
  const tags = new Set([...text.matchAll(/<\/?([a-z0-9]+)/gi)].map(([, tag]) => tag));
  expect([...tags].sort()).toEqual(
    ['bdi', 'body', 'br', 'h1', 'head', 'html', 'meta', 'style', 'table', 'td', 'th', 'title', 'tr'].sort(),
  );
  expect(text).not.toMatch(/<[^>]*\son\w+=/i);
  const escaped =
    '&lt;script&gt;alert(1)&lt;/script&gt;&quot;&gt;&lt;img src=x onerror=&#39;alert(2)&#39;&gt;&amp;amp;\u202e';
  expect(text).toContain(`<bdi>${escaped}</bdi>`);
  expect(text).toContain(`<bdi>${escaped} for 30 days: shop.test</bdi>`);
  expect(text).toContain('<bdi>&quot;&lt;b&gt;x&lt;/b&gt;&quot;@a.test</bdi>');
  expect(text).toContain('<bdi>Us &amp; Sons &lt;i&gt;Ltd&lt;/i&gt;\nStreet 1</bdi>');
  expect(text).toContain(`Invoice ${number}`);
  expect(text).toContain('4,500,000 rials');
  const policy = String(headers['content-security-policy']);
  expect(policy).toMatch(
    /^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
  );
  expect(policy).not.toMatch(/script-src|unsafe/);
});

it('a refund is a credit note', async () => {
  const dear = (await addTerm(api.db, 'pro', { days: 60, priceRials: 5_000_000 }))?.terms.at(-1)?.id;
  const switched = await browser.ask('POST', '/domains/other.test/subscriptions/switch', {
    plan_term_id: dear,
  });
  expect(switched.status).toBe(200);
  const [charge, credit] = (await read('/domains/other.test/invoices')).body;
  expect([charge.total_rials, credit.total_rials < 0]).toEqual([5_000_000, true]);
  expect((await read(`/invoices/${credit.id}/print`)).text).toContain(`Credit note ${credit.number}`);
});
