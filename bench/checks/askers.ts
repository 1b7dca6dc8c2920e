// A process that simulates a thousand users of `/check/NAME`, each with its own address: each requests checks of new names,
// as often as an address may. At its end it prints the number of responses by status.

import { parentedName } from './parents.ts';

const ASKERS = 1000;
const EVERY_MS = 6000;
/** Beyond the domains of the database. */
const FIRST_NAME = 5_000_000;

const [url = ''] = process.argv.slice(2);
const statuses: Record<string, number> = {};
let names = 0;

async function ask(asker: number): Promise<void> {
  const response = await fetch(`${url}/public/checks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': `10.0.${asker >> 8}.${asker & 255}` },
    body: JSON.stringify({ name: parentedName(FIRST_NAME + names++) }),
  });
  await response.arrayBuffer();
  statuses[response.status] = (statuses[response.status] ?? 0) + 1;
}

const fail = (error: unknown) => {
  throw error;
};
for (let asker = 0; asker < ASKERS; asker++) {
  setTimeout(
    () => {
      setInterval(() => void ask(asker).catch(fail), EVERY_MS);
      void ask(asker).catch(fail);
    },
    (asker * EVERY_MS) / ASKERS,
  );
}
process.once('SIGTERM', () => {
  process.stdout.write(JSON.stringify(statuses), () => process.exit(0));
});
