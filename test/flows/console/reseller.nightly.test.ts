// The pages of resellers, and the pages that show a secret once: webhooks and keys for certificates.

import { beforeAll, expect, it } from 'vitest';
import { setReseller } from '../../../src/store/accounts/accounts.ts';
import { ownConsole, PASSWORD } from '../../support/browser/console-api.ts';

const RESELLER = 'reseller@shop.example';
const KEY_SECRETS = `test:${Buffer.alloc(32, 7).toString('base64')}`;
const own = ownConsole(() => ({ ALLOW_RESERVED_NAMES: 'on', KEY_SECRETS }));

beforeAll(async () => {
  await setReseller(own.database.db, await own.makePerson(RESELLER), true);
});

it('a reseller confirms the password, creates a client and a token, and is asked again after a reload', async () => {
  const { page, context, faults } = await own.openAs(RESELLER, { mayFail: true });
  const question = page.getByRole('region', { name: 'Confirm your password' });
  const unlock = async (password: string) => {
    await question.getByRole('textbox', { name: 'Password' }).fill(password);
    await question.getByRole('button', { name: 'Continue' }).click();
  };
  await page.goto('/console/reseller');
  await unlock('wrong horse battery');
  await page.getByRole('alert').getByText('the email address or the password is wrong').waitFor();
  await unlock(PASSWORD);

  await page.getByRole('button', { name: 'Create a client' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Email').fill('client@shop.example');
  await dialog.getByRole('button', { name: 'Create a client' }).click();
  await page.getByRole('heading', { name: 'client@shop.example' }).waitFor();
  await page.getByLabel('Amount in rials').fill('1000');
  await page.getByRole('button', { name: 'Transfer' }).click();
  await page.getByRole('alert').getByText('the balance of your wallet is too low').waitFor();

  await page.getByRole('link', { name: 'Machine tokens' }).click();
  await page.getByRole('button', { name: 'Create a token' }).click();
  await dialog.getByLabel('What is it for?').fill('billing');
  await dialog.getByRole('button', { name: 'Create a token' }).click();
  await page.getByText(/^rsl_\w+_\w+$/).waitFor();

  const sessions = async () => (await (await context.request.get('/users/me/sessions')).json()).length;
  expect(await sessions()).toBe(2);
  await page.reload();
  await question.waitFor();
  await expect.poll(sessions).toBe(1); // the token was only in the memory of the page
  expect(faults).toEqual([]);
});

it('a person without the right sees no reseller pages', async () => {
  await own.makePerson('other@shop.example');
  const { page } = await own.openAs('other@shop.example');
  await page.goto('/console/reseller');
  await page.getByRole('heading', { name: 'Page not found' }).waitFor();
});

it('an owner creates a webhook and a key for certificates', async () => {
  await own.makePerson('owner@shop.example');
  const { page, context, faults } = await own.openAs('owner@shop.example');
  const headers = { origin: own.api.url };
  await context.request.post('/domains/', { headers, data: { name: 'shop.example' } });
  await page.goto('/console/domains/shop.example/settings');
  await page.getByRole('button', { name: 'Add a webhook' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('URL').fill('https://hooks.example.com/');
  await dialog.getByRole('button', { name: 'Add a webhook' }).click();
  await page.getByText(/^whsec_/).waitFor();
  await page.getByRole('button', { name: 'Send a test: https://hooks.example.com/' }).click();
  await page.getByText('The test is being sent.').waitFor(); // no worker runs

  await page.goto('/console/account/keys');
  await page.getByRole('button', { name: 'Key for certificates (ACME)' }).click();
  await dialog.getByLabel('Names in the certificate').fill('shop.example, *.shop.example');
  await dialog.getByRole('button', { name: 'Create a key' }).click();
  await page.getByLabel('Certificate client').selectOption('certbot');
  await page.getByText(/^dns_powerdns_api_url = http/).waitFor();
  const [key] = await (await context.request.get('/users/me/keys')).json();
  expect(key).toMatchObject({
    domains: ['shop.example'],
    names: ['_acme-challenge.shop.example'],
    types: ['TXT'],
  });
  expect(faults).toEqual([]);
});
