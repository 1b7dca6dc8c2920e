import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import { axeFaults } from '../../support/browser/axe.ts';
import { ownConsole } from '../../support/browser/console-api.ts';
import { newDomain } from '../../support/database/domains.ts';

const NAME = 'ann.example';
const ANN = 'ann@shop.example';

const own = ownConsole(() => ({ TSIG_SECRETS: `one:${Buffer.alloc(32, 1).toString('base64')}` }));

beforeAll(async () => {
  await newDomain(own.database.db, await own.makePerson(ANN), `${NAME}.`);
});

it('an owner adds a secondary with a new key, whose secret is shown once, and removes both', async () => {
  const { page, faults } = await own.openAs(ANN, { mayFail: true, viewport: { width: 360, height: 780 } });
  const button = (name: string | RegExp) => page.getByRole('button', { name });
  const dialog = page.getByRole('dialog');
  await page.goto(`/console/domains/${NAME}/secondaries`);
  await page.getByText('A secondary is a nameserver of another operator').waitFor();
  await button('Add a secondary').click();
  await dialog.getByLabel('Address', { exact: true }).fill('10.0.0.1');
  expect(await axeFaults(page)).toEqual([]);
  expect(await dialog.evaluate((element) => element.scrollWidth > element.clientWidth)).toBe(false);
  await dialog.getByRole('button', { name: 'Add a secondary' }).click();
  await dialog.getByText('10.0.0.1 is not a public address').waitFor();
  await dialog.getByLabel('Address', { exact: true }).fill('9.9.9.9, nine');
  await dialog.getByRole('button', { name: 'Add a secondary' }).click();
  await dialog.getByText('nine: expected an IPv4 or IPv6 address').waitFor();
  await dialog.getByLabel('Address', { exact: true }).fill('9.9.9.9');
  await dialog.getByRole('button', { name: 'Add a secondary' }).click();
  await dialog.waitFor({ state: 'hidden' });

  // The failed attempts have created only one key.
  await button('Copy the secret').waitFor();
  const row = page.getByRole('row', { name: /9\.9\.9\.9:53.*secondary-\w{6}\. not seen yet/ });
  await row.waitFor();
  expect(await page.getByRole('row', { name: /^secondary-\w{6}\. hmac-sha256/ }).count()).toBe(1);
  expect(await axeFaults(page)).toEqual([]);
  await sql`
    insert into transfer_reports (zone_id, peer_id, node, served_serial, served_at, form, error)
    select z.id, p.id, 'ns1', 5, now(), 'axfr', 'cannot connect' from zones z, peers p`.execute(
    own.database.db,
  );
  await page.reload();
  await page.getByRole('row', { name: /behind for .* \d+ 5 .*cannot connect/ }).waitFor();
  expect(await button('Copy the secret').count()).toBe(0);

  await button('Remove 9.9.9.9:53').click();
  await dialog.getByRole('button', { name: 'Remove' }).click();
  await page.getByText('No secondaries').waitFor();
  await button(/^Revoke secondary-/).click();
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('heading', { name: 'TSIG keys' }).waitFor({ state: 'hidden' });
  expect(faults).toEqual([]);
});
