// That writers of a domain, of its checks and of its verification never wait for each other in a circle.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Name } from '../../../src/dns/name.ts';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { saveEdit } from '../../../src/store/change/save-edit.ts';
import { updateDomain } from '../../../src/store/change/update-domain.ts';
import { claimDueDomains } from '../../../src/store/checks/claim-due-domains.ts';
import { gatherChecks } from '../../../src/store/checks/gather-checks.ts';
import { takeManualCheck } from '../../../src/store/checks/take-manual-check.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { claimDueVerifications } from '../../../src/store/verifications/claim-due-verifications.ts';
import { createDatabase, type TestDatabase, testServers } from '../../support/database/database.ts';
import { BY, expectPublished, newAccount, newDomain } from '../../support/database/domains.ts';
import { judgedCheck } from '../../support/database/saved-checks.ts';
import { makeVerification } from '../../support/world/made-verifications.ts';
import { edit } from '../../support/zone/customer-records.ts';

const ROUNDS = 6;
const OURS = 'referral ns1.example.net ns2.example.net';

describe.each(testServers())('on $name', (server) => {
  let database: TestDatabase;
  let db: Database;
  let ids: number[];
  const apexOf = new Map<number, Name>();

  beforeEach(async () => {
    database = await createDatabase({ server });
    ({ db } = database);
    const accountId = await newAccount(db, 'me@example.org');
    ids = [];
    apexOf.clear();
    for (let i = 0; i < 5; i++) {
      const { id, name } = await newDomain(db, accountId, `d${i}.test.`, { exempt: true });
      ids.push(id);
      apexOf.set(id, name);
    }
  });
  afterEach(() => database.drop());

  test('all of them at once on the same domains: none is ended by Postgres, and what is published is right', async () => {
    const each = async (work: (id: number, round: number) => Promise<unknown>): Promise<void> => {
      for (let round = 0; round < ROUNDS; round++) await Promise.all(ids.map((id) => work(id, round)));
    };
    // The domain may be in external mode, or switched off, by then.
    const checked = async (save: ReturnType<typeof gatherChecks>, id: number, said: string) => {
      const order = await judgedCheck(db, id, said).catch(() => undefined);
      if (order !== undefined) await save(order);
    };
    const [one, two] = [gatherChecks(db), gatherChecks(db)];
    const writers = [
      each((id, round) => checked(one, id, round % 2 === 0 ? OURS : 'nxdomain')),
      each((id, round) => checked(two, id, round % 3 === 0 ? 'timeout' : OURS)),
      each((id, round) =>
        saveEdit(db, {
          ...BY,
          domainId: id,
          edit: edit({ create: [`n${round} TXT x`] }, apexOf.get(id) as Name),
        }),
      ),
      each(async (id, round) => {
        if (id % 2 === 0)
          await changeStatus(db, {
            ...BY,
            domainId: id,
            event: round % 2 === 0 ? 'disable' : 'enable',
            exempt: true,
          });
      }),
      each(async (id, round) => {
        if (id % 2 === 1)
          await updateDomain(db, {
            ...BY,
            domainId: id,
            set: { dnsMode: round % 2 === 0 ? 'external' : 'managed' },
          });
      }),
      each((id) => makeVerification(db, { domainId: id }, () => ({ servers: ['nxdomain', 'nodata'] }))),
      each(() => claimDueDomains(db, { limit: 100, perParent: 100, after: '', leaseSeconds: 0 })),
      each(() => claimDueVerifications(db, 100)),
      each((id) => takeManualCheck(db, id)),
    ];
    const ended = (await Promise.allSettled(writers)).flatMap((result) =>
      result.status === 'rejected' ? [result.reason] : [],
    );
    expect(ended).toEqual([]);
    await expectPublished(db, ...ids);
  });
});
