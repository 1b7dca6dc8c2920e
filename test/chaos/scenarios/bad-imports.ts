// Three imports whose 100,000 items are all wrong, under idempotency keys: what is left of their answers in the database.

import { sql } from 'kysely';
import type { Scenario } from '../scenario.ts';

const IMPORTS = 3;
const ITEMS = 100_000;
const MOST_BYTES = 64 * 1024;

export const badImports: Scenario = {
  name: 'bad-imports',
  attack: `${IMPORTS} imports of ${ITEMS} wrong items each under idempotency keys, and a repeat of the first`,
  async run(stage) {
    const { key, domain } = await stage.newAccount('importer', 'pro');
    const records = Array.from({ length: ITEMS }, (_, i) => ({
      name: `item-${i}.${'label.'.repeat(8)}${domain}.`,
      type: 'A',
      destination: '192.0.2',
    }));
    const body = JSON.stringify({ records });
    const send = async (name: string) => {
      const response = await fetch(`${stage.apiUrl}/domains/${domain}/records/import`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          'idempotency-key': name,
        },
        body,
      });
      return { status: response.status, text: await response.text() };
    };
    const answers = [];
    for (let i = 0; i < IMPORTS; i++) answers.push(await send(`bad-${i}`));
    const [first] = answers;
    const again = await send('bad-0');
    const stored = await stage.withDatabase(async (db) => {
      const { rows } = await sql<{ bytes: number }>`
        select coalesce(max(octet_length(response::text)), 0) as bytes from idempotency_keys`.execute(db);
      return rows[0]?.bytes ?? 0;
    });
    const isSame = again.text === first?.text && first.status === 200;
    return [
      { label: 'an answer', text: `${first?.text.length} bytes`, isMet: first?.status === 200 },
      { label: 'kept of it', text: `${stored} bytes`, isMet: stored <= MOST_BYTES },
      { label: 'the repeat', text: isSame ? 'the same answer' : 'another answer', isMet: isSame },
    ];
  },
};
