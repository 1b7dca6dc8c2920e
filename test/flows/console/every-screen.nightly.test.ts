// Every screen with markup in all texts that people can write: it is shown as text, violates no policy, and causes no
// accessibility fault in light and dark. If the API fails at random, errors are reported and calls retried.

import { beforeAll, describe, expect, it } from 'vitest';
import { setReseller } from '../../../src/store/accounts/accounts.ts';
import { axeFaults } from '../../support/browser/axe.ts';
import { ownConsole, PASSWORD } from '../../support/browser/console-api.ts';
import { makeVerification } from '../../support/world/made-verifications.ts';

const NAME = 'markup.example';
/** A domain in external mode, so that a TXT record proves it. */
const ELSEWHERE = 'elsewhere.example';
const MARKUP = '<img src=x onerror="document.title=\'broken\'"><script>document.title="broken"</script>';
const ADMIN = 'admin@shop.example';

const SCREENS = [
  'domains',
  ...[
    ...['delegation', 'records', 'records/import', 'records/scan', 'records/email', 'records/templates'],
    ...['history', 'dnssec', 'traffic', 'rules', 'secondaries', 'certificates', 'cache', 'uptime', 'sharing'],
    ...['settings?webhook=1', 'plan'],
  ].map((page) => `domains/${NAME}/${page}`),
  `domains/${ELSEWHERE}/delegation`,
  ...['account', 'account/two-step', 'account/sessions', 'account/keys', 'account/log'],
  ...['wallet', 'wallet/invoices', 'tickets', 'reseller', 'reseller/clients/:client', 'reseller/tokens'],
  ...'live fleet queues registries calls domains accounts tickets payments audit'
    .split(' ')
    .map((page) => `operator/${page}`),
];

const KEY_SECRETS = `test:${Buffer.alloc(32, 7).toString('base64')}`;
const own = ownConsole(() => ({ ALLOW_RESERVED_NAMES: 'on', KEY_SECRETS }));
let clientId = 0;

beforeAll(async () => {
  await setReseller(own.database.db, await own.makePerson(ADMIN, { isAdmin: true }), true);
  const { context } = await own.openAs(ADMIN);
  const headers = { origin: own.api.url };
  const ask = async (method: string, path: string, data: object) => {
    const answer = await context.request.fetch(path, { method, data, headers });
    expect([path, answer.status(), answer.ok() ? '' : await answer.text()]).toEqual([
      path,
      answer.status(),
      '',
    ]);
  };
  await ask('POST', '/domains/', { name: NAME });
  await ask('PUT', `/domains/${NAME}/records/batch`, {
    create: [
      { name: 'txt', type: 'TXT', destination: MARKUP, comment: MARKUP },
      { name: '@', type: 'A', destination: '192.0.2.1', comment: MARKUP },
    ],
  });
  const secondary = { addresses: ['9.9.9.9'], networks: ['9.9.9.0/24'] };
  await ask('PUT', `/domains/${NAME}/secondaries`, { secondaries: [secondary] });
  await ask('POST', '/domains/', { name: ELSEWHERE, dns_mode: 'external' });
  const { id } = await (await context.request.get(`/domains/${ELSEWHERE}`)).json();
  const job = { domainId: id, kind: 'background', turn: 1 } as const;
  await makeVerification(own.database.db, job, () => ({ servers: [[MARKUP], 'nodata'] }));
  await ask('POST', '/tickets', { subject: MARKUP, message: MARKUP });
  await ask('PUT', '/users/me', { name: MARKUP });
  await ask('POST', '/users/me/keys', { name: MARKUP });
  await ask('POST', `/domains/${NAME}/webhooks`, { url: `https://hooks.example.com/${MARKUP}` });
  const login = { email: ADMIN, password: PASSWORD, bearer: true };
  const { token } = await (await context.request.post('/auth/login', { data: login })).json();
  const asReseller = { headers: { authorization: `Bearer ${token}` } };
  const client = { email: 'client@shop.example', name: MARKUP };
  const made = await context.request.post('/reseller/v1/clients', { ...asReseller, data: client });
  clientId = (await made.json()).id;
  await context.request.post('/reseller/v1/tokens', { ...asReseller, data: { name: MARKUP } });
});

describe.each(['light', 'dark'] as const)('in %s colours', (colorScheme) => {
  it.each(SCREENS)('%s shows markup as text, and has no accessibility fault', async (screen) => {
    // Analytics are off and no node runs: some calls respond 503 and 404, which the browser logs to its console.
    const { page, faults } = await own.openAs(ADMIN, { colorScheme, mayFail: true });
    await page.goto(`/console/${screen.replace(':client', String(clientId))}`);
    await page.getByRole('main').waitFor();
    if (screen.startsWith('reseller')) {
      const unlock = page.getByRole('region', { name: 'Confirm your password' });
      await unlock.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
      await unlock.getByRole('button', { name: 'Continue' }).click();
      await unlock.waitFor({ state: 'hidden' });
    }
    await page.waitForLoadState('networkidle');
    await page.getByText('Loading…').first().waitFor({ state: 'hidden' });
    expect(await page.title()).not.toContain('broken');
    expect(await page.locator('main img, main script').count()).toBe(0);
    const violations = await axeFaults(page);
    expect([screen, violations, faults]).toEqual([screen, [], []]);
  });
});

it('a randomly failing API is queried again, and no input is lost', async () => {
  const { page } = await own.openAs(ADMIN, { mayFail: true });
  let calls = 0;
  await page.route(/\/(domains|users|analytics)\//, (route) => {
    const fails = route.request().resourceType() === 'fetch' && ++calls % 3 === 1;
    return fails
      ? route.fulfill({
          status: calls % 2 === 0 ? 500 : 503,
          contentType: 'text/html',
          body: '<h1>Bad gateway</h1>',
        })
      : route.continue();
  });
  await page.goto('/console/domains');
  await page.getByRole('link', { name: NAME }).waitFor();
  await page.unroute(/\/(domains|users|analytics)\//);

  await page.getByRole('button', { name: 'Add a domain' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: false }).first().fill('typed.example');
  await page.route('**/domains/', (route) =>
    route.request().method() === 'POST' ? route.fulfill({ status: 503, body: '' }) : route.continue(),
  );
  await dialog.locator('button[type=submit]').click();
  await dialog.getByRole('alert').waitFor();
  await page.reload();
  await dialog.waitFor(); // the URL identifies it
  expect(await dialog.getByLabel('Name', { exact: false }).first().inputValue()).toBe('typed.example');
  await page.unroute('**/domains/');
  await dialog.locator('button[type=submit]').click();
  await page.getByRole('heading', { name: 'typed.example' }).waitFor();
});
