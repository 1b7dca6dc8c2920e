import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { axeFaults } from '../../support/browser/axe.ts';
import { ownConsole } from '../../support/browser/console-api.ts';
import type { TestDatabase } from '../../support/database/database.ts';
import { newDomain } from '../../support/database/domains.ts';
import { type StartedWorld, startWorld } from '../../support/world/fake-internet.ts';

const needs = process.platform === 'linux' ? '' : ' (skipped: needs Linux)'; // elsewhere loopback has one address

describe.skipIf(needs !== '')(`the public page${needs}`, () => {
  let world: StartedWorld;
  beforeAll(async () => {
    const delegations = ['shop', 'ours'].map(
      (name) => `${name} NS ns1.elsewhere.org.\n${name} NS ns2.elsewhere.org.`,
    );
    world = await startWorld({ zones: { 'net.': delegations.join('\n') } });
  });
  afterAll(() => world?.close());
  const own = ownConsole(() => ({ ...world.settings, PUBLIC_CHECK: 'on' }));
  beforeAll(async () => {
    await newDomain(own.database.db, await own.makePerson('ann@shop.example'), 'ours.net.');
  });

  const ask = (path: string, init?: RequestInit) => fetch(new URL(path, own.api.url), init);
  const post = (name: string) =>
    ask('/public/checks', {
      method: 'POST',
      body: JSON.stringify({ name }),
      headers: { 'content-type': 'application/json' },
    });

  it.each([
    'light',
    'dark',
  ] as const)('shows the picture to who is signed out, in %s colours', async (colorScheme) => {
    const { page, context, faults } = await own.open({ colorScheme });
    const cookies: (string | undefined)[] = [];
    await context.addCookies([{ name: 'other', value: 'x', url: own.api.url }]);
    page.on('request', async (request) => {
      if (request.url().includes('/public/')) cookies.push((await request.allHeaders()).cookie);
    });
    const answer = await page.goto('/check/shop.net');
    expect(new URL(page.url()).pathname).toBe('/console/check/shop.net');
    expect(answer?.headers()['x-robots-tag']).toContain('noindex');
    expect(answer?.headers()['content-security-policy']).toContain("default-src 'self'");
    await page.getByRole('heading', { name: 'How shop.net is delegated' }).waitFor();
    if (colorScheme === 'light') await page.getByText('This name has not been checked recently').waitFor();
    await page.getByRole('button', { name: 'Check now' }).click();
    await page.getByText('ns2.elsewhere.org', { exact: true }).first().waitFor();
    await page.getByText('Root', { exact: true }).waitFor();
    const violations = await axeFaults(page);
    expect([violations, faults]).toEqual([[], []]);
    expect(cookies.length).toBeGreaterThan(1);
    expect(cookies.filter((cookie) => cookie !== undefined)).toEqual([]);
    await page.setViewportSize({ width: 360, height: 700 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
  });

  it('reports what is wrong with an invalid name, and shows it as text', async () => {
    const { page, faults } = await own.open({ mayFail: true });
    await page.goto(`/console/check/${encodeURIComponent('<img src=x onerror=alert(1)>.net')}`);
    await page.getByRole('alert').waitFor();
    expect(await page.locator('main img').count()).toBe(0);
    expect(faults).toEqual([]);
  });

  it('returns the same for a customer’s name as for any other, and writes nothing', async () => {
    const before = await rowsOf(own.database);
    const asked = world.internet.seen.length;
    const ours = await told(await post('ours.net'));
    const other = await told(await post('shop.net'));
    expect(world.internet.seen.length).toBeGreaterThan(asked);
    expect(Object.keys(ours.check).sort()).toEqual(Object.keys(other.check).sort());
    expect(ours.check.evidence.map(({ ns }) => ns)).toEqual(other.check.evidence.map(({ ns }) => ns));
    expect((await told(await ask('/public/checks?name=ours.net'))).check).toEqual(ours.check);
    expect(await rowsOf(own.database)).toEqual(before);
    expect(world.internet.violations).toEqual([]);
  });
});

/** The compared parts of a response. */
interface Told {
  readonly check: { readonly evidence: readonly { readonly ns: readonly string[] }[] };
}

async function told(answer: Response): Promise<Told> {
  return (await answer.json()) as Told;
}

/** Returns the number of rows of each table, and of its writes. */
async function rowsOf({ db }: TestDatabase): Promise<unknown> {
  const { rows: tables } = await sql<{ name: string }>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema') order by 1`.execute(db);
  const counts: [string, unknown][] = [];
  for (const { name } of tables) {
    const { rows } =
      await sql`select count(*) as n, max(xmin::text::bigint) as newest from ${sql.raw(name)}`.execute(db);
    counts.push([name, rows[0]]);
  }
  return counts;
}
