// Records are added as text, by the email setup and by a pasted zone file, and saved together.

import { existsSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM } from '../../support/browser/browser.ts';
import { ownConsole } from '../../support/browser/console-api.ts';
import { newDomain } from '../../support/database/domains.ts';

const needs = existsSync(CHROMIUM) ? '' : ` (skipped: needs ${CHROMIUM})`;
const NAME = 'ann.example';
const ANN = 'ann@shop.example';
const PATH = `/console/domains/${NAME}/records`;

describe.skipIf(needs !== '')(`the records screen${needs}`, () => {
  const own = ownConsole();

  beforeAll(async () => {
    await newDomain(own.database.db, await own.makePerson(ANN), `${NAME}.`);
  });

  it('saves a record that was typed as text, and those of the email setup, as one change', async () => {
    const { page, context, faults } = await own.openAs(ANN);
    await page.goto(PATH);
    await page.getByLabel('Add a record as text').focus();
    await page.keyboard.type('www A');
    await page.keyboard.press('Enter');
    await page.getByText('Enter the value of the A record.').waitFor();
    await page.keyboard.type(' 192.0.2.1');
    await page.getByText(`www.${NAME} A 192.0.2.1`).waitFor();
    await page.keyboard.press('Enter');
    const bar = page.getByRole('region', { name: 'Unsaved changes' });
    await bar.getByText('1 new record').waitFor();

    await page.getByRole('button', { name: 'More' }).press('Enter');
    await page.getByRole('link', { name: 'Set up email…' }).press('Enter');
    await page.getByLabel('Fastmail').press('Space');
    for (const step of ['Provider', 'DKIM', 'SPF', 'DMARC', 'Encryption']) {
      await page.getByRole('form', { name: step }).waitFor();
      if (step === 'DMARC') await page.getByLabel('Address for reports').fill(`dmarc@${NAME}`);
      await page.getByRole('button', { name: 'Next' }).press('Enter');
    }
    await page.getByText('10 in1-smtp.messagingengine.com').waitFor();
    await page.getByRole('button', { name: 'Add 7 changes to the records' }).press('Enter');
    await bar.getByText('8 new records').waitFor();
    await bar.getByText('Checked and ready to save').waitFor();
    await bar.getByRole('button', { name: 'Review and save…' }).press('Enter');
    await page.getByRole('button', { name: 'Save 8 changes' }).press('Enter');
    await page.getByText(/^Saved\./).waitFor();

    const saved = await (await context.request.get(`/domains/${NAME}/records/`)).json();
    const lines = saved.map(({ name, type, mx_priority = '', destination }: Record<string, string>) =>
      [name, type, mx_priority, destination].join(' '),
    );
    expect(lines).toEqual(
      expect.arrayContaining([
        'www A  192.0.2.1',
        '@ MX 20 in2-smtp.messagingengine.com',
        `fm3._domainkey CNAME  fm3.${NAME}.dkim.fmhosted.com`,
        '@ TXT  v=spf1 include:spf.messagingengine.com ~all',
        `_dmarc TXT  v=DMARC1; p=none; rua=mailto:dmarc@${NAME}`,
      ]),
    );
    expect(faults).toEqual([]);
  });

  it('opens the import for a pasted zone file, and refuses other text', async () => {
    const { page, faults } = await own.openAs(ANN);
    await page.goto(PATH);
    await page.getByLabel('Add a record as text').waitFor();
    await paste(page, 'This is\nno zone file.');
    await page.getByText('This text is not a zone file').waitFor();
    await paste(page, 'shop 300 IN A 192.0.2.7\nblog 300 IN A 192.0.2.8\n');
    await page.getByRole('button', { name: 'Import 2 changes' }).waitFor();
    expect(faults).toEqual([]);
  });
});

/** Pastes text outside of inputs. A headless browser has no clipboard. */
async function paste(page: Page, text: string): Promise<void> {
  await page.evaluate(`(() => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', ${JSON.stringify(text)});
    document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
  })()`);
}
