// The pages of the console that sign in with an identity provider.

import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ownConsole } from '../../support/browser/console-api.ts';
import {
  CLIENT,
  type IdentityProvider,
  startIdentityProvider,
} from '../../support/oidc/identity-provider.ts';
import { freePort } from '../../support/processes/free-port.ts';

const port = await freePort();
const own = ownConsole(() => ({
  OIDC_ISSUER: `http://127.0.0.1:${port}`,
  OIDC_CLIENT_ID: CLIENT.oidcClientId,
  OIDC_CLIENT_SECRET: CLIENT.oidcClientSecret,
  OIDC_NAME: 'Test ID',
  OIDC_CREATE: 'new.example',
}));
let idp: IdentityProvider;

beforeAll(async () => {
  await own.makePerson('ann@shop.example');
  idp = await startIdentityProvider({ publicUrl: own.api.url, port });
});
afterAll(() => idp.stop());

describe('the console with an identity provider', () => {
  it('signs a new person in, opens the page where it began, and offers to sign out of the provider', async () => {
    idp.person = { sub: 'neil', email: 'neil@new.example', email_verified: true, name: 'Neil' };
    const { page } = await own.open({ mayFail: true });
    await page.goto('/console/account');
    await page.getByRole('button', { name: 'Sign in with Test ID' }).click();
    await page.getByText('neil@new.example at http://127').waitFor();
    const url = new URL(page.url());
    expect([url.pathname, url.search]).toEqual(['/console/account', '']);
    expect(await page.getByText('You have no password yet').count()).toBe(0);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('link', { name: 'Also sign out of Test ID' }).waitFor();
  });

  it('shows why a person is not signed in, and leads back to the password', async () => {
    idp.person = { sub: 'eve', email: 'ann@shop.example', email_verified: true };
    const { page } = await own.open({ mayFail: true });
    await page.goto('/console/');
    await page.getByRole('button', { name: 'Sign in with Test ID' }).click();
    await page.getByText('no account is linked to this identity').waitFor();
    await page.getByRole('link', { name: 'Back to the console' }).click();
    await page.getByLabel('Password').waitFor();
    await page.goto('/console/oidc?error=access_denied&error_description=<b>evil</b>');
    await page.getByText('The identity provider did not sign you in.').waitFor();
    expect(await page.getByText('evil').count()).toBe(0);
  });

  it('offers a mailed link to a person without a password if the service no longer has a provider', async () => {
    idp.person = { sub: 'nora', email: 'nora@new.example', email_verified: true, name: 'Nora' };
    const { page } = await own.open({ mayFail: true });
    await page.goto('/console/account');
    await page.getByRole('button', { name: 'Sign in with Test ID' }).click();
    await page.getByText('nora@new.example at http://127').waitFor();
    await sql`update sessions set password_at = null`.execute(own.database.db);
    await page.route('**/auth/oidc', (route) => route.fulfill({ json: { enabled: false } }));
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.getByText('You have no password. Request a link to set one').waitFor();
    expect(await page.getByRole('button', { name: 'Confirm with the identity provider' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Email me a link' }).waitFor();
  });

  it('does not begin a confirmation when another site opens its page', async () => {
    const { page } = await own.openAs('ann@shop.example', { mayFail: true });
    idp.asked.clear();
    await page.goto('/console/oidc?begin=confirm');
    await page.getByText('The identity provider did not sign you in.').waitFor();
    expect(idp.asked.size).toBe(0);
  });

  it('links an identity, and confirms a change with it in another window', async () => {
    idp.person = { sub: 'ann', email: 'ann@elsewhere.example', email_verified: false };
    const { page, context } = await own.openAs('ann@shop.example', { mayFail: true });
    await page.goto('/console/account');
    await page.getByRole('button', { name: 'Link with Test ID' }).click();
    await page.getByText('ann@elsewhere.example at http://127').waitFor();

    await sql`update sessions set password_at = now() - interval '1 hour'`.execute(own.database.db);
    await page.getByRole('button', { name: 'Remove' }).click();
    const window = context.waitForEvent('page');
    await page.getByRole('button', { name: 'Confirm with the identity provider' }).click();
    await window;
    await page.getByText('The identity was removed.').waitFor();
    await page.getByRole('button', { name: 'Link with Test ID' }).waitFor();
  });
});
