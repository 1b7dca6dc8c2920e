import { sql } from 'kysely';
import { afterEach, expect, test } from 'vitest';
import { Silences } from '../../../src/resolver/state/silences.ts';
import { purgeSilences } from '../../../src/store/accounts/silences.ts';
import type { Rounds } from '../../../workers/rounds/run-rounds.ts';
import { shareSilences } from '../../../workers/rounds/share-silences.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { until } from '../../support/tests/until.ts';

const database = sharedDatabase();
const running: Rounds[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((rounds) => rounds.stop()));
});

function worker(): Silences {
  const silences = new Silences(Date.now);
  const onTrouble = (error: unknown) => expect.fail(String(error));
  running.push(shareSilences(database.db, silences, { onTrouble, idleMs: 5 }));
  return silences;
}

test('what one worker has noticed all know, those that start later too, until it answers one of them', async () => {
  const [a, b] = [worker(), worker()];
  for (let i = 0; i < 3; i++) a.noteSilence('192.0.2.1');
  await until(() => b.isSilent('192.0.2.1'));
  const c = worker();
  await until(() => c.isSilent('192.0.2.1'));
  b.noteReply('192.0.2.1');
  await until(() => !a.isSilent('192.0.2.1') && !c.isSilent('192.0.2.1'));
});

test('rows of long ago are deleted', async () => {
  await sql`insert into resolver_silences values ('old', 3, now(), now() - interval '3 hours'), ('new', 3, now(), now())`.execute(
    database.db,
  );
  await purgeSilences(database.db);
  const { rows } = await sql<{ key: string }>`select key from resolver_silences`.execute(database.db);
  expect(rows).toEqual([{ key: 'new' }]);
});
