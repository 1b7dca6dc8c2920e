import type { Locator } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { axeFaults } from '../../support/browser/axe.ts';
import { ownConsole } from '../../support/browser/console-api.ts';
import { newDomain } from '../../support/database/domains.ts';

const NAME = 'ann.example';
const SHOP = 'shop.example';
const ANN = 'ann@shop.example';
/** Titles in the order of evaluation. */
const TITLES = {
  drop: 'Drop',
  rate_limit: 'Rate limit',
  bot_route: 'Bots',
  fingerprint: 'Fingerprints',
  waf: 'Web application firewall',
  captcha: 'Captcha',
  redirect: 'Redirect',
  rewrite: 'Rewrite',
  cache: 'Cache',
  origin_route: 'Another origin',
  origin_pool: 'Several origins',
  error_page: 'Error pages',
};
const TYPES = Object.keys(TITLES) as (keyof typeof TITLES)[];

const own = ownConsole();

beforeAll(async () => {
  const ann = await own.makePerson(ANN);
  for (const name of [NAME, SHOP]) await newDomain(own.database.db, ann, `${name}.`);
});

const openRules = async (name = NAME) => {
  const opened = await own.openAs(ANN, { mayFail: true, viewport: { width: 360, height: 780 } });
  await opened.page.goto(`/console/domains/${name}/rules`);
  return opened;
};

async function openDialog(type: keyof typeof TITLES) {
  const opened = await openRules();
  await opened.page.getByRole('button', { name: 'Add a rule', exact: true }).click();
  await opened.page.getByRole('button', { name: new RegExp(`^${TITLES[type]} `) }).click();
  const dialog = opened.page.getByRole('dialog');
  const stored = async () =>
    (await (await opened.context.request.get(`/domains/${NAME}/rules/${type}/`)).json()) as object[];
  return { ...opened, dialog, stored, save: () => dialog.getByRole('button', { name: 'Save' }).click() };
}

const isGone = (dialog: Locator) => dialog.waitFor({ state: 'hidden' });

describe('a new rule', () => {
  it.each(TYPES)('of the type %s fits 360 px, and has no accessibility fault', async (type) => {
    const { page, dialog, faults } = await openDialog(type);
    await dialog.getByText('More options').click();
    const violations = await axeFaults(page);
    const isWider = await dialog.evaluate((element) => element.scrollWidth > element.clientWidth);
    expect([violations, isWider, faults]).toEqual([[], false, []]);
  });

  it('of several servers reports errors at the row of the server', async () => {
    const { dialog, stored, save } = await openDialog('origin_pool');
    const server = (place: number) => dialog.getByRole('group', { name: `Server ${place}` });
    await server(1).getByLabel('Name or address').fill('one.example.net');
    await dialog.getByRole('button', { name: 'Add a server' }).click();
    await server(2).getByLabel('Name or address').fill('https://two.example.net');
    await server(2).getByLabel('Protocol').selectOption('http');
    expect(await server(2).getByLabel('Port').inputValue()).toBe('80');
    await dialog.getByLabel('Check each server regularly').check();
    await dialog.getByLabel('Path to check').fill('/up');
    await save();
    await server(2).getByText('expected a host name').waitFor();
    expect(await stored()).toEqual([]);
    await server(2).getByLabel('Name or address').fill('two.example.net');
    await save();
    await isGone(dialog);
    expect(await stored()).toMatchObject([
      {
        origins: [
          { host: 'one.example.net', port: 443, scheme: 'https' },
          { host: 'two.example.net', port: 80, scheme: 'http' },
        ],
        health: { path: '/up', status: 200, interval_seconds: 30 },
      },
    ]);
  });

  it('with its own page shows it in a frame without scripts', async () => {
    const { page, dialog, stored, save, faults } = await openDialog('error_page');
    const html = '<h1 id="gone">Gone</h1><script>parent.document.title = "broken"</script>';
    await dialog.getByLabel('For these errors').fill('404, 410');
    await dialog.getByLabel('Page content').fill(html);
    await dialog.getByText('Preview').click();
    const frame = dialog.frameLocator('iframe');
    await frame.getByText('Gone').waitFor();
    expect(await dialog.locator('iframe').getAttribute('sandbox')).toBe('');
    expect(await page.title()).not.toContain('broken');
    await save();
    await isGone(dialog);
    expect(await stored()).toMatchObject([{ status_codes: [404, 410], content_type: 'text/html' }]);
    // The browser reports that it blocked a script.
    expect(faults.filter((fault) => !/sandboxed|policy|Content Security/i.test(fault))).toEqual([]);
  });

  it('can be written as JSON and then edited in fields', async () => {
    const { dialog, stored, save } = await openDialog('cache');
    await dialog.getByLabel('Edge cache lifetime').fill('60');
    await dialog.getByRole('button', { name: 'Edit as JSON' }).click();
    const json = dialog.getByLabel('The rule as JSON');
    const rule = JSON.parse(await json.inputValue());
    expect(rule.ttl_seconds).toBe(60);
    await json.fill('{');
    await dialog.getByRole('button', { name: 'Back to the fields' }).click();
    await dialog.getByText('This is not a JSON object.').waitFor();
    await json.fill(JSON.stringify({ ...rule, key_query: 'list', key_query_list: ['page'], enabled: false }));
    await dialog.getByRole('button', { name: 'Back to the fields' }).click();
    expect(await dialog.getByLabel('These parameters').inputValue()).toBe('page');
    await save();
    await isGone(dialog);
    // Members without a field are kept.
    expect(await stored()).toMatchObject([
      { ttl_seconds: 60, key_query: 'list', key_query_list: ['page'], enabled: false },
    ]);
  });
});

describe('the rules of a domain', () => {
  beforeAll(async () => {
    const { context } = await openRules(SHOP);
    const headers = { origin: own.api.url };
    const post = async (path: string, data: object) => {
      const response = await context.request.post(`/domains/${SHOP}/${path}/`, { headers, data });
      expect([path, response.ok()]).toEqual([path, true]);
    };
    await post('records', { name: 'www', type: 'A', destination: '9.9.9.9', proxied: true });
    await post('records', { name: 'mail', type: 'A', destination: '9.9.9.9' });
    await post('rules/cache', { path_includes: ['*.css'] });
    await post('rules/redirect', { target: '/first', path_includes: ['/old'] });
    await post('rules/redirect', { target: '/second', path_match_type: 'regex', path_includes: ['^/ol'] });
    await post('rules/drop', { path_includes: ['/admin*'] });
  });

  it('are on one page in the order of evaluation, and move with the keyboard', async () => {
    const { page, faults } = await openRules(SHOP);
    await page.getByRole('heading', { name: 'Redirect' }).waitFor();
    expect(await page.locator('.rules-phase h2').allTextContents()).toEqual(['Drop', 'Redirect', 'Cache']);
    const redirects = page.getByRole('list', { name: 'Rules of type Redirect' }).locator('.rules-summary');
    await page
      .getByRole('button', { name: /^Move rule \d+ down/ })
      .first()
      .press('Enter');
    await page.getByText(/is now number 2 of 2/).waitFor({ state: 'attached' });
    expect((await redirects.allTextContents()).map((each) => each.trim())).toEqual([
      'Redirects to /second with 302',
      'Redirects to /first with 302',
    ]);
    expect(await page.evaluate("document.activeElement?.getAttribute('aria-label')")).toMatch(/up$/);
    expect([await axeFaults(page), faults]).toEqual([[], []]);
  });

  it('are tested with a URL', async () => {
    const { page, faults } = await openRules(SHOP);
    const test = async (url: string, result: string | RegExp) => {
      await page.getByLabel('URL or path').fill(url);
      await page.getByRole('button', { name: 'Test', exact: true }).click();
      await page.getByText(result).waitFor();
    };
    await test('www.shop.example/admin', /^Rule \d+ blocks the request with 403/);
    await test('www.shop.example/older?a=1', 'The visitor is redirected with 302 to /second?a=1.');
    await test(
      'https://www.shop.example/a.css',
      '/a.css is requested from your server (record www.shop.example).',
    );
    await test('mail.shop.example/old', /mail\.shop\.example is not proxied/);
    await test('none.shop.example/old', /none\.shop\.example has no record/);
    await test('https://other.example/old', /is not a name of shop\.example/);
    expect([await axeFaults(page), faults]).toEqual([[], []]);
  });
});
