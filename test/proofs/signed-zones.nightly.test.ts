// Zones that Zonefleet's signer signed and edited are, as files, complete and valid for other zone verifiers.
// test/dns/dnssec/signed-octets compares the signed data of each type with BIND.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isWildcard, type Name, parentOf, parseName, printName } from '../../src/dns/name.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import type { DenialKind } from '../../src/zone/signing/signed-types.ts';
import type { ZoneRecord } from '../../src/zone/zone.ts';
import { printRecords } from '../support/dnssec/sign-as-ours.ts';
import { ODD_LABELS, PLAIN_LABELS, WantedZone } from '../support/dnssec/signed-edits.ts';
import { SignedRows } from '../support/dnssec/signed-rows.ts';
import { dnskeyRecords, type KeySetting, keySettings } from '../support/dnssec/zone-keys.ts';
import { isInstalled } from '../support/peers/peers.ts';
import { randomFrom } from '../support/random/random-zones.ts';
import { scale } from '../support/tests/scale.ts';

interface Verifier {
  readonly program: string;
  readonly args: (apex: string, file: string) => readonly string[];
  /** A complaint that concerns the verifier and not the zone. */
  readonly excused?: RegExp;
  /** It reads only zones with plain names, with wildcards in front, and with cuts that have only addresses besides. */
  readonly isPlain?: boolean;
}

const VERIFIERS: readonly Verifier[] = [
  { program: 'ldns-verify-zone', args: (_, file) => [file] },
  {
    program: 'kzonecheck',
    args: (apex, file) => ['-o', apex, '-d', 'on', file],
    excused: /missing glue|CDS|CDNSKEY/,
  },
  // -z: one key may be both KSK and ZSK.
  { program: 'dnssec-verify', args: (apex, file) => ['-z', '-o', apex, file] },
  // From 2016: it does not know algorithm 15, and with OpenSSL 3 verifies no signature of algorithm 13, not even
  // BIND's.
  {
    program: 'validns',
    args: (apex, file) => ['-z', apex.slice(0, -1), file],
    excused: /reason unknown|building pkey/,
    isPlain: true,
  },
];

/** Returns the complaints of a verifier about a zone. */
function complaints(
  { program, args, excused }: Verifier,
  apex: Name,
  records: readonly ZoneRecord[],
): string {
  const folder = mkdtempSync(join(tmpdir(), 'zonefleet-verified-'));
  const file = join(folder, 'zone');
  writeFileSync(file, `${printRecords(records)}\n`);
  const { status, stdout, stderr } = spawnSync(program, args(printName(apex), file), {
    encoding: 'utf8',
    env: { ...process.env, PATH: `${process.env.PATH ?? ''}:/usr/sbin` },
  });
  rmSync(folder, { recursive: true });
  if (status === 0) return '';
  const told = `${stdout}${stderr}`.trim().split('\n');
  const left = told.filter((line) => line !== '' && line !== 'Error summary:' && !excused?.test(line));
  return left.length === 0 && told.some((line) => excused?.test(line))
    ? ''
    : `${program}: ${left.join('\n')}`;
}

const ZONES = scale(500, 40);
const EDITS = 12;
const SEED = Number(process.env.ZONEFLEET_SEED ?? 20_261_123);
const APEX = parseName('zone.example.');
const NOW = Math.floor(Date.now() / 1000);
const TIMES = { inception: NOW - 10_000, expiration: NOW + 1_000_000 };
const KEYS = keySettings();

function sign(
  wanted: ReadonlyMap<Name, readonly ZoneRecord[]>,
  apex: Name,
  denial: DenialKind,
  setting: KeySetting,
) {
  const rows = new SignedRows(apex);
  const order = { apex, denial, keys: setting.keys, remakeBefore: NOW + 1000 };
  rows.sign({ ...order, wanted, whole: true }, TIMES);
  return {
    rows,
    edit: (touched: ReadonlyMap<Name, readonly ZoneRecord[]>) =>
      rows.sign({ ...order, wanted: touched }, TIMES),
  };
}

/** Removes records that validns cannot read. */
function isPlainZone(records: readonly ZoneRecord[]): boolean {
  const cuts = new Set(
    records.filter(({ owner, type }) => type === TYPE.NS && owner !== APEX).map(({ owner }) => owner),
  );
  return records.every(({ owner, type }) => {
    if (cuts.has(owner) && type === TYPE.TXT) return false;
    for (let name = owner; name !== APEX && name.length > APEX.length; name = parentOf(name))
      if (name !== owner && isWildcard(name)) return false;
    return true;
  });
}

describe.each(VERIFIERS)('$program', (verifier) => {
  const missing = isInstalled(verifier.program) ? '' : ` (skipped: needs ${verifier.program})`;

  it.skipIf(missing !== '')(`finds no fault in random zones after random edits${missing}`, () => {
    const random = randomFrom(SEED);
    const settings = Object.entries(KEYS).filter(
      ([, { published }]) =>
        verifier.isPlain !== true || published.every(({ algorithm }) => algorithm === 13),
    );
    let seen = 0;
    for (let i = 0; seen < ZONES && i < 20 * ZONES; i++) {
      const [words, setting] = settings[i % settings.length] as (typeof settings)[number];
      const denial = random() < 0.5 ? 'nsec' : 'nsec3';
      const labels = verifier.isPlain === true ? PLAIN_LABELS : ODD_LABELS;
      const zone = {
        apex: APEX,
        own: dnskeyRecords(APEX, setting.published),
        marks: denial === 'nsec' && verifier.isPlain !== true,
        labels,
      };
      const wanted = new WantedZone(random, zone, 8);
      const { rows, edit } = sign(wanted.names, APEX, denial, setting);
      for (let edits = 0; edits < EDITS; edits++) edit(wanted.edit());
      if (verifier.isPlain === true && !isPlainZone(rows.records())) continue;
      seen++;
      expect(complaints(verifier, APEX, rows.records()), `zone ${i}, ${denial}, ${words}`).toBe('');
    }
    expect(seen).toBe(ZONES);
  });
});
