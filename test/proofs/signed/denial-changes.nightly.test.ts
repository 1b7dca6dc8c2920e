// A signed domain changes from NSEC to NSEC3 and back in pieces, and is edited meanwhile: nodes that take its versions one by one,
// or several at once, give no answer at any of them that a validator takes for bogus, or for something else than the records say.

import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeMessage } from '../../../src/dns/message/message.ts';
import {
  isWithin,
  type Name,
  parentOf,
  parseName,
  prependLabel,
  printName,
  wildcardBelow,
} from '../../../src/dns/name.ts';
import { TYPE, typeMnemonic } from '../../../src/dns/type-codes.ts';
import { addChain } from '../../../src/store/signing/add-chain.ts';
import { removeChain } from '../../../src/store/signing/remove-chain.ts';
import { signInPieces } from '../../../src/store/signing/sign-pieces.ts';
import { isMade } from '../../../src/zone/signing/signed-types.ts';
import { nodeOf, ourAnswer, queryFor } from '../../support/answer/queries.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';
import { expectPublished, newAccount, newDomain, saved } from '../../support/database/domains.ts';
import { checkOnce } from '../../support/database/saved-checks.ts';
import { enabled, useSecrets } from '../../support/database/signed-zones.ts';
import { historyOf, keepHistory, type ZoneVersion } from '../../support/database/zone-history.ts';
import { judgeSignedReply } from '../../support/dnssec/judge-signed-reply.ts';
import { complaints, VERIFIERS } from '../../support/dnssec/zone-verifiers.ts';
import { isInstalled } from '../../support/peers/peers.ts';
import { pick, randomFrom } from '../../support/random/random-zones.ts';
import { changesBetween } from '../../support/random/signed-zones.ts';
import { scale } from '../../support/tests/scale.ts';
import { checkSigned } from '../../support/zone/check-signed.ts';
import { APEX, edit } from '../../support/zone/customer-records.ts';
import { zoneOfRecords } from '../../support/zone/sign-zone.ts';
import { zonesOf } from '../../support/zone/zone-text.ts';

const SEED = Number(process.env.ZONEFLEET_SEED ?? 20_261_124);
const NAMES = scale(600, 260);
const NEVER = new AbortController().signal;
/** Names that are asked for at each version. dnssec-edits asks validators of others. */
const JUDGED = scale(120, 40);
const TYPES = [
  TYPE.A,
  TYPE.TXT,
  TYPE.DS,
  TYPE.NSEC,
  TYPE.NSEC3,
  TYPE.ANY,
  TYPE.RRSIG,
  TYPE.NS,
  TYPE.NSEC3PARAM,
];

describe('changes between NSEC and NSEC3', () => {
  const random = randomFrom(SEED);
  let database: TestDatabase;
  let versions: ZoneVersion[];

  beforeAll(async () => {
    database = await createDatabase();
    const { db } = database;
    useSecrets(db);
    const domainId = (await newDomain(db, await newAccount(db, 'a@example.org'))).id;
    await checkOnce(db, domainId, 'referral ns1.example.net ns2.example.net');
    const first = Array.from({ length: NAMES }, (_, i) => `${nameOf(i)} A 192.0.2.1`);
    const { ops } = await saved(
      db,
      domainId,
      edit({ create: [...first, '*.wild A 192.0.2.1', 'alias CNAME n1.d1.example.com'] }),
    );
    const { signed } = await enabled(db, { domainId });
    await signInPieces(db, signed.id, NEVER);
    await keepHistory(db);
    let edits = 0;
    const going: Promise<unknown>[] = [];
    const signal = Object.assign(new AbortController().signal, {
      throwIfAborted() {
        const n = edits++;
        const gone = [ops[2 * n], ops[NAMES - 1 - n]].flatMap((op) => op?.after?.id ?? []);
        const create = [
          `a${n}.b A 192.0.2.3`,
          `c${n}.n${(n * 9) % NAMES} A 192.0.2.4`,
          `cut${n} NS ns.cut${n}.example.com`,
          `x.wild${n} TXT x`,
        ];
        going.push(saved(db, domainId, edit({ delete: gone, create })));
      },
    });
    for (let turn = 0; turn < 2; turn++) {
      await sql`update signed_zones set denial_change = 'adding', seq = seq + 1`.execute(db); // as of a larger zone
      expect(await addChain(db, signed.id, signal)).toBe('changed');
      await removeChain(db, signed.id, signal);
      await Promise.all(going);
      await removeChain(db, signed.id, NEVER);
    }
    await expectPublished(db, domainId);
    versions = await historyOf(db, APEX);
    console.log(
      `${versions.length} versions, ${edits} edits of a zone of ${versions.at(-1)?.records.length} records`,
    );
  });
  afterAll(() => database.drop());

  const nameOf = (i: number) => {
    if (i % 25 === 7) return `ns.cut${(i - 7) / 25}`; // what a cut will be above
    return i % 3 === 0 ? `n${i}` : `n${i}.d${i % 11}`;
  };

  /** Names that a version touches and others, with those around them. */
  function namesAround(before: ZoneVersion | undefined, now: ZoneVersion, most: number): Name[] {
    const { records, gone } = changesBetween(before?.records ?? [], now.records);
    const touched = [...records, ...gone].filter(({ type }) => !isMade(type)).map(({ owner }) => owner);
    const names = new Set<Name>([APEX, parseName('alias', APEX), parseName('q.wild', APEX)]);
    while (names.size < most) {
      const name =
        random() < 0.5 && touched.length > 0 ? pick(random, touched) : pick(random, now.records).owner;
      const parent = name === APEX ? APEX : parentOf(name);
      const near = [
        name,
        name,
        parent,
        prependLabel(pick(random, ['0', 'b0', 'zz', '\xff']), parent),
        prependLabel('q', name),
        wildcardBelow(parent),
      ];
      const one = pick(random, near);
      if (one !== undefined && isWithin(one, APEX)) names.add(one);
    }
    return [...names];
  }

  it('both chains stand, and go', () => {
    const kinds = versions.map(({ records }) => {
      const has = (type: number) => records.some((record) => record.type === type);
      return [TYPE.NSEC, TYPE.NSEC3, TYPE.NSEC3PARAM].map((type) => (has(type) ? 1 : 0)).join('');
    });
    const turns = kinds.filter((kind, i) => kind !== kinds[i - 1]);
    const isBefore = turns[0] === '100'; // an edit came before the first piece
    expect(turns.slice(isBefore ? 1 : 0)).toEqual(['110', '111', '011', '111', '110', '100']);
    const at = Math.floor(Date.now() / 1000);
    for (const { version, records } of versions)
      expect(checkSigned(APEX, records, at), `${version}`).toEqual([]);
  });

  it.each([1, 3])('no answer of a node that takes up to %i versions at once is bogus', (most) => {
    const node = nodeOf(zonesOf(zoneOfRecords(APEX, versions[0]?.records ?? [])));
    const at = Math.floor(Date.now() / 1000);
    let judged = 0;
    for (let i = 0, taken = 0; i < versions.length; i += 1 + Math.floor(random() * most)) {
      const now = versions[i] as ZoneVersion;
      const before = versions[taken] as ZoneVersion;
      if (i > 0) {
        const changes = changesBetween(before.records, now.records);
        expect(node.writer.edit(APEX, { id: 0, version: now.version, mark: 0 }, changes).kind).toBe('edited');
      }
      taken = i;
      const keys = now.records.filter(({ type }) => type === TYPE.DNSKEY).map(({ rdata }) => rdata);
      const hasNsec3 = now.records.some(({ type }) => type === TYPE.NSEC3PARAM);
      for (const name of namesAround(before, now, JUDGED))
        for (const type of TYPES) {
          if (type === TYPE.NSEC && hasNsec3 && printName(name).includes('alias')) continue; // NODATA at an alias
          const query = queryFor({ name, type, udpPayloadSize: 1232, dnssecOk: true });
          const message = decodeMessage(ourAnswer(node, query, 'tcp'));
          const asked = `version ${now.version}: ${printName(name)} ${typeMnemonic(type)}`;
          const idle = hasNsec3 ? TYPE.NSEC : TYPE.NSEC3;
          const shown = [...message.answers, ...message.authorities].map((record) => record.type);
          expect(shown, asked).not.toContain(idle);
          expect(
            () => judgeSignedReply(message, { name, type }, { apex: APEX, keys, at }),
            asked,
          ).not.toThrow();
          judged++;
        }
    }
    console.log(`${judged} answers`);
  });

  it.each(
    VERIFIERS.filter(({ program }) => isInstalled(program)),
  )('$program finds the zone whole', (verifier) => {
    const onlyOne = versions.filter(({ records }) => {
      const has = (type: number) => records.some((record) => record.type === type);
      return has(TYPE.NSEC) !== has(TYPE.NSEC3);
    });
    const [nsec3] = onlyOne.filter(({ records }) => records.some(({ type }) => type === TYPE.NSEC3));
    for (const { version, records } of [nsec3, versions.at(-1)] as ZoneVersion[])
      expect(complaints(verifier, APEX, records), `${version}`).toBe('');
  });
});
