// A registry that bootstraps DNSSEC (RFC 9615 §4.1) checks a domain below a real parent: the signals of its
// nameservers validate from the root down, and equal the records of the domain itself.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import type { Rounds } from '../../../src/jobs/run-rounds.ts';
import { enableDnssec } from '../../../src/store/dnssec/change-goal.ts';
import { runSignals } from '../../../workers/rounds/publish-signals.ts';
import { BY } from '../../support/database/domains.ts';
import { isInstalled } from '../../support/peers/peers.ts';
import { FLEET_SETS, NEEDS_PARENT } from '../../support/peers/real-parent.ts';
import { until } from '../../support/tests/until.ts';
import { type SignedFleet, startSignedFleet } from '../../support/validators/signed-fleet.ts';

const needs = NEEDS_PARENT || (isInstalled('unbound') ? '' : ' (skipped: needs unbound)');

describe.skipIf(needs !== '')(`signals for a domain that awaits its first DS${needs}`, () => {
  let signed: SignedFleet;
  let rounds: Rounds;
  let directory: string;
  const troubles: unknown[] = [];

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'zonefleet-signals-'));
    signed = await startSignedFleet('shop');
    for (const host of FLEET_SETS[0]) await setUp(host);
    const { db } = signed.fleet.database;
    rounds = runSignals({ db, onTrouble: (error) => troubles.push(error), idleMs: 50 });
  });
  afterAll(async () => {
    await rounds?.stop();
    await signed?.stop();
    await rm(directory, { recursive: true, force: true });
    expect(troubles).toEqual([]);
  });

  /** As described in docs/operating/dnssec.md, "Signals for a first DS". */
  async function setUp(host: string): Promise<void> {
    const apex = `_signal.${host}.`;
    const file = join(directory, `${apex}zone`);
    const ns = FLEET_SETS[0].map((name) => `@ 3600 NS ${name}.`);
    await writeFile(
      file,
      [`$ORIGIN ${apex}`, `@ 3600 SOA ${host}. hostmaster.zz. 1 7200 900 604800 60`, ...ns, ''].join('\n'),
    );
    for (const words of [
      ['zone', 'load', file],
      ['dnssec', 'enable', apex],
    ]) {
      const run = await signed.fleet.cli(...words);
      expect({ code: run.code, words }, run.stderr).toEqual({ code: 0, words });
    }
    const shown = (await signed.fleet.cli('dnssec', 'show', apex)).stdout;
    const ds = /(\d+ 13 2 [0-9A-F]{64})/i.exec(shown)?.[1];
    const label = apex.slice(0, -'.zz.'.length);
    await signed.parent.delegate({ [label]: FLEET_SETS[0] });
    await signed.parent.showDs(label, ds);
  }

  /** Returns the validated CDS and CDNSKEY records at a name, without the owner. */
  async function seenAt(name: string) {
    await signed.unbound.forget();
    const questions = [TYPE.CDS, TYPE.CDNSKEY].map((type) => ({ name: parseName(name), type }));
    const verdicts = await signed.unbound.ask(questions);
    return verdicts.map(({ security, rcode, answer = [] }) => ({
      security,
      rcode,
      sets: answer.map((line) => line.replace(/^\S+ /, '')),
    }));
  }

  const signalAt = (host: string) => `_dsboot.${signed.name}._signal.${host}.`;

  test('validate at each nameserver, equal the apex, and end once the DS is observed', async () => {
    const { db } = signed.fleet.database;
    for (const host of FLEET_SETS[0])
      expect(await seenAt(signalAt(host))).toMatchObject([
        { security: 'secure', rcode: 'NXDOMAIN' },
        { security: 'secure', rcode: 'NXDOMAIN' },
      ]);
    expect((await enableDnssec(db, { ...BY, domainId: signed.domainId })).kind).toBe('updated');
    await signed.passUntil('ds_wanted', 'ds_wanted');
    const apex = await seenAt(`${signed.name}.`);
    expect(apex).toMatchObject([
      { security: 'insecure', rcode: 'NOERROR' },
      { security: 'insecure', rcode: 'NOERROR' },
    ]);
    expect(apex[0]?.sets[0]).toContain(await signed.askedDs());
    const bootstrapped = apex.map((each) => ({ ...each, security: 'secure' }));
    for (const host of FLEET_SETS[0])
      await until(
        async () => JSON.stringify(await seenAt(signalAt(host))) === JSON.stringify(bootstrapped),
        `${host} signals what the apex shows`,
      );

    await signed.parent.showDs('shop', await signed.askedDs());
    await signed.passUntil('secure', undefined);
    for (const host of FLEET_SETS[0])
      await until(
        async () => (await seenAt(signalAt(host))).every(({ rcode }) => rcode === 'NXDOMAIN'),
        `${host} signals nothing more`,
      );
    expect((await seenAt(signalAt(FLEET_SETS[0][0]))).map(({ security }) => security)).toEqual([
      'secure',
      'secure',
    ]);
  });
});
