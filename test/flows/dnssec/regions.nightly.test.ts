// The life of a signed domain whose proxied name is answered by region, while edges come and go: at each step of its keys Unbound,
// which wants a signature of each algorithm, finds every answer secure, whichever set it has.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { disableDnssec, enableDnssec, rollDnssec } from '../../../src/store/dnssec/change-goal.ts';
import { changeDenial } from '../../../src/store/signing/change-denial.ts';
import { publishRegions } from '../../../workers/rounds/publish-regions.ts';
import type { Rounds } from '../../../workers/rounds/run-rounds.ts';
import { countryFile } from '../../support/answer/country-file.ts';
import { BY } from '../../support/database/domains.ts';
import { isInstalled } from '../../support/peers/peers.ts';
import { NEEDS_PARENT } from '../../support/peers/real-parent.ts';
import { until } from '../../support/tests/until.ts';
import { INSECURE, SECURE, SignedFleet } from '../../support/validators/signed-fleet.ts';

const needs = NEEDS_PARENT || (isInstalled('unbound') ? '' : ' (skipped: needs unbound)');
const [FIRST, SECOND] = ['203.0.113.1', '203.0.113.2'];

describe.skipIf(needs !== '')(`a signed domain that is answered by region${needs}`, () => {
  let directory: string;
  let signed: SignedFleet;
  let rounds: Rounds;
  const troubles: unknown[] = [];

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'zonefleet-signed-regions-'));
    const countryDb = join(directory, 'countries.mmdb');
    writeFileSync(countryDb, countryFile({ '127.0.0.1': 'DE' }));
    signed = await SignedFleet.start('shop', { countryDb });
    const { db } = signed.fleet.database;
    await sql`insert into edge_countries values ('DE', 'eu')`.execute(db);
    for (const [name, address] of [
      ['a', FIRST],
      ['b', SECOND],
    ])
      await sql`
        insert into edges (name, region, v4, token_hash, token_prefix, seen_at)
        values (${name}, 'eu', ${[address]}, ${Buffer.from(name as string)}, 'edge_', now() + interval '1 day')`.execute(
        db,
      );
    rounds = publishRegions({
      db,
      idleMs: 50,
      onDecided: () => {},
      onRepublished: () => {},
      onSigned: () => {},
      onTrouble: (error) => void troubles.push(error),
    });
    let looks = 0;
    signed.meanwhile = async () => {
      await sql`update edges set drained_at = case when name = ${looks++ % 2 === 0 ? 'a' : 'b'} then now() end`.execute(
        db,
      );
    };
  });
  afterAll(async () => {
    await rounds?.stop();
    await signed?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  const order = () => ({ ...BY, domainId: signed.domainId });

  /** Both edges are published, and what the region is given is secure. */
  async function expectRegional(): Promise<void> {
    await sql`update edges set drained_at = null`.execute(signed.fleet.database.db);
    await until(async () => {
      const given = await signed.addresses();
      return given?.includes(FIRST) === true && given.includes(SECOND);
    }, 'the region is given both edges, with signatures that hold');
  }

  test('is secure with other keys, with NSEC3 and with another algorithm, and insecure once it is unsigned, whatever its regions publish', async () => {
    const { db } = signed.fleet.database;
    expect(await signed.validated()).toEqual(INSECURE);
    expect((await enableDnssec(db, order())).kind).toBe('updated');
    await signed.passUntil('ds_wanted', 'ds_wanted');
    await signed.parent.showDs('shop', await signed.askedDs());
    await signed.passUntil('secure', undefined);
    expect(await signed.validated()).toEqual(SECURE);
    await expectRegional();

    for (const algorithm of [undefined, 15] as const) {
      const roll = { ...order(), compromised: false, ...(algorithm !== undefined && { algorithm }) };
      expect((await rollDnssec(db, roll)).kind).toBe('updated');
      await signed.passUntil('rolling', 'ds_wanted');
      expect(await signed.validated()).toEqual(SECURE);
      await expectRegional();
      await signed.parent.showDs('shop', await signed.askedDs());
      await signed.passUntil('secure', undefined);
      expect(await signed.validated()).toEqual(SECURE);
      await expectRegional();
    }

    const { domainId } = signed;
    expect((await changeDenial(db, { domainId }, { ...BY, denial: 'nsec3' })).kind).toBe('updated');
    await signed.passUntil('secure', undefined);
    expect(await signed.validated()).toEqual(SECURE);
    await expectRegional();

    expect((await disableDnssec(db, order())).kind).toBe('updated');
    await signed.passUntil('ds_removal', 'ds_unwanted');
    expect(await signed.validated()).toEqual(SECURE);
    await signed.parent.showDs('shop', undefined);
    await signed.passUntil('off', undefined);
    expect(await signed.validated()).toEqual(INSECURE);
    expect(troubles).toEqual([]);
  });
});
