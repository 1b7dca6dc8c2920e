// A zone of 500 records in the formats of five providers, imported by the API (which the console uses) and by the
// command line.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { addDomainCommands } from '../../src/cli/domain/domain.ts';
import { startTestApi, type TestApi } from '../support/api/api.ts';
import { runCommands } from '../support/cli/run-commands.ts';
import { PROVIDER_FORMS, providerZone } from '../support/zone/provider-forms.ts';
import { makeZoneFolder, type ZoneFolder } from '../support/zone/zone-folder.ts';

let api: TestApi;
let folder: ZoneFolder;

beforeAll(async () => {
  api = await startTestApi();
  folder = makeZoneFolder();
});
afterAll(async () => {
  folder.remove();
  await api.stop();
});

/** The records of a domain, without its name. */
async function stored(domain: string): Promise<string[]> {
  const { body } = await api.ask('GET', `/domains/${domain}/records/`);
  return (body as Record<string, unknown>[])
    .filter(({ editable }) => editable)
    .map(({ name, type, ttl, destination, mx_priority, proxied }) => {
      return [name, type, ttl, destination, mx_priority, proxied].join(' ').replaceAll(domain, 'DOMAIN');
    })
    .sort();
}

it.each(PROVIDER_FORMS)('API and command line import the format of $provider identically', async (form) => {
  const [byApi, byCli] = ['api', 'cli'].map(
    (by) => `${by}-${form.provider.toLowerCase().replaceAll(/[^a-z0-9]/g, '')}.example`,
  );
  const write = (domain = '') => form.write(providerZone(domain, 500));
  for (const domain of [byApi, byCli]) await api.makeDomain(domain as string);
  const path = `/domains/${byApi}/records/import`;
  const parsed = await api.ask('POST', `${path}/parse${form.addDots ? '?dots=add' : ''}`, {
    body: { zone_file: write(byApi) },
  });
  expect([parsed.body.errors, parsed.body.records.length, parsed.body.skipped.length]).toEqual([
    [],
    500,
    form.others,
  ]);
  const imported = await api.ask('POST', path, { body: { records: parsed.body.records } });
  expect(imported.body).toMatchObject({ created: 500, failed: [] });
  const file = folder.write(`${byCli}.txt`, write(byCli));
  const dots = form.addDots ? ['--dots', 'add'] : [];
  const run = await runCommands(
    addDomainCommands,
    ['domain', 'import', byCli as string, file, ...dots],
    api.database.url,
  );
  expect([run.code, run.stdout]).toEqual([0, expect.stringMatching(/created 500 .* errors 0 .* failed 0 /)]);
  expect(await stored(byCli as string)).toEqual(await stored(byApi as string));
});
