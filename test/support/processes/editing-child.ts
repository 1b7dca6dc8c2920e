// A process that edits signed domains without end, on several connections, and makes signatures anew that are due: to be killed.
// KEY_SECRETS is `NAME:BASE64`.
//   editing-child.ts DATABASE_URL SEED ID=NAME …

import { parseName } from '../../../src/dns/name.ts';
import { saveEdit } from '../../../src/store/change/save-edit.ts';
import { openDatabase } from '../../../src/store/postgres/database.ts';
import { useKeyBoxes } from '../../../src/store/secrets/database-keys.ts';
import { KeyBoxes } from '../../../src/store/secrets/key-boxes.ts';
import { claimDueRefreshes } from '../../../src/store/signing/claim-due-zones.ts';
import { refreshSignatures } from '../../../src/store/signing/refresh-signatures.ts';
import { randomReplacements } from '../dnssec/random-replacements.ts';
import { pick, randomFrom } from '../random/random-zones.ts';

const [databaseUrl = '', seed = '', ...places] = process.argv.slice(2);
const WRITERS = 4;
const REFRESH_SHARE = 0.1;
const BY = { kind: 'key', keyId: 7, accountId: 1 } as const;
const NEVER = new AbortController().signal;

const db = openDatabase(databaseUrl);
const [keyName = '', secret = ''] = process.env.KEY_SECRETS?.split(':') ?? [];
useKeyBoxes(db, new KeyBoxes([{ name: keyName, secret: Buffer.from(secret, 'base64') }]));
const domains = places.map((place) => {
  const [id, name = ''] = place.split('=');
  return { id: Number(id), apex: parseName(name) };
});

async function write(writer: number): Promise<never> {
  const random = randomFrom(Number(seed) + writer);
  for (;;) {
    if (random() < REFRESH_SHARE) {
      for (const { id } of await claimDueRefreshes(db, 1)) await refreshSignatures(db, id, NEVER);
      continue;
    }
    const { id, apex } = pick(random, domains);
    const edit = randomReplacements(random, apex);
    const { kind } = await saveEdit(db, { domainId: id, by: BY, source: 'api', edit });
    if (kind === 'saved') process.send?.('saved');
  }
}

process.send?.('ready');
await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
