// Random zones with what servers trip over (wildcards, empty non-terminals, cuts, chains of CNAME and DNAME, occluded names),
// signed by BIND's dnssec-signzone and by our signer, on a node of ours: resolvers of others find in them what the records
// say, and nothing bogus. Not Knot Resolver: below names like `a.*.b` it finds even NSD's answers bogus (BARE_WILDCARD_ROW).

import { describe, expect, it } from 'vitest';
import { type Name, parseName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import type { Zone } from '../../../src/zone/zone.ts';
import { nodeOf } from '../../support/answer/queries.ts';
import { serveNode } from '../../support/answer/serve-node.ts';
import { signAsOurs } from '../../support/dnssec/sign-as-ours.ts';
import { SIGNING_STYLES, signWith } from '../../support/dnssec/signing-programs.ts';
import { keySettings } from '../../support/dnssec/zone-keys.ts';
import { freePort, startPeer, type ZoneText } from '../../support/peers/peers.ts';
import {
  pick,
  type Random,
  type RandomZone,
  randomFrom,
  randomQuestion,
  randomZone,
} from '../../support/random/random-zones.ts';
import { scale } from '../../support/tests/scale.ts';
import { unexpected } from '../../support/validators/judge-verdicts.ts';
import { resolveByHand } from '../../support/validators/resolve-by-hand.ts';
import { NEEDS_VALIDATORS, startResolvers } from '../../support/validators/start-validators.ts';
import { BARE_WILDCARD_ROW, type ExpectedVerdict } from '../../support/validators/validator.ts';
import { zoneOfRecords } from '../../support/zone/sign-zone.ts';
import { recordsOf, zonesOf } from '../../support/zone/zone-text.ts';

const SEED = Number(process.env.ZONEFLEET_SEED ?? 20_261_123);
const ROUNDS = scale(10, 1);
const QUESTIONS = scale(1000, 200);
const APEXES = ['r.zz.', 's.zz.', 'v.yy.'];
/** No rule says what a resolver makes of them; or the records without signatures do not hold the answer. */
const LEFT_OUT: readonly number[] = [TYPE.RRSIG, TYPE.NSEC, TYPE.DNSKEY, TYPE.NSEC3PARAM, 255];

const settings = keySettings();
const OUR_STYLES = Object.values(settings).flatMap((setting) =>
  (['nsec', 'nsec3'] as const).map((denial) => ({ setting, denial })),
);
// ldns-signzone takes names below a DNAME for ones that are there.
const THEIR_STYLES = SIGNING_STYLES.filter(
  ({ program, nsec3 }) => program !== 'ldns-signzone' && !nsec3?.optOut,
);

async function signed(random: Random, zone: ZoneText) {
  if (random() < 0.5) return signAsOurs(pick(random, OUR_STYLES), zone);
  const { text, ds } = await signWith(pick(random, THEIR_STYLES), zone);
  return { text, ds, records: recordsOf(text, zone.apex) };
}

/** No DS where no cut is: BIND signs no such zone, and finds NXDOMAIN below such a name bogus. */
function drawZone(random: Random, apex: string): RandomZone {
  const others = APEXES.filter((other) => other !== apex);
  for (;;) {
    const drawn = randomZone(random, apex, 60, others);
    const nodes = [...drawn.zone.nodes.values()];
    if (nodes.every(({ sets }) => sets.has(TYPE.NS) || !sets.has(TYPE.DS))) return drawn;
  }
}

describe.skipIf(NEEDS_VALIDATORS !== '')(`random signed zones${NEEDS_VALIDATORS}`, () => {
  it(`hold for resolvers of others what their records say, in ${ROUNDS} rounds`, async () => {
    const random = randomFrom(SEED);
    const wrong: string[] = [];
    let verdicts = 0;
    for (let round = 0; round < ROUNDS && wrong.length === 0; round++) {
      const told = await playRound(random);
      verdicts += told.verdicts;
      wrong.push(...told.wrong.map((line) => `round ${round}: ${line}`));
    }
    console.log(`${verdicts} verdicts`);
    expect(wrong.slice(0, 40)).toEqual([]);
  });
});

async function playRound(random: Random): Promise<{ verdicts: number; wrong: string[] }> {
  const plain = APEXES.map((apex) => drawZone(random, apex));
  const unsigned = zonesOf(...plain.map(({ zone }) => zone));
  const zones = await Promise.all(plain.map((zone) => signed(random, zone)));
  const port = await freePort();
  const served = zonesOf(
    ...zones.map(({ records }, i) => zoneOfRecords(parseName(APEXES[i] as string), records)),
  );
  const node = await serveNode(nodeOf(served), [{ address: '127.0.0.1', port }]);
  const root = await startPeer('nsd', [{ apex: '.', text: '@ 60 SOA a. b. 1 1 1 1 60\n@ 60 NS a.' }]);
  const resolvers = await startResolvers(
    {
      anchors: zones.flatMap(({ ds }) => ds.split('\n')),
      reached: { stubs: [{ zone: '.', port: root.port }, ...APEXES.map((zone) => ({ zone, port }))] },
    },
    { keeps: false },
  );
  const wrong: string[] = [];
  let verdicts = 0;
  try {
    const questions = randomQuestions(random, unsigned);
    for (const resolver of resolvers.filter(({ name }) => name !== 'kresd')) {
      const asked = questions.filter((question) => resolver.judges?.(question) ?? true);
      wrong.push(...unexpected(resolver, asked, await resolver.ask(asked)));
      verdicts += asked.length;
    }
  } finally {
    await Promise.all([...resolvers, node, root].map((each) => each.stop()));
  }
  return { verdicts, wrong };
}

function randomQuestions(random: Random, zones: ReadonlyMap<Name, Zone>): ExpectedVerdict[] {
  const questions = new Map<string, ExpectedVerdict>();
  const names = new Map([...zones].map(([apex, { nodes }]) => [apex, [...nodes.keys()]]));
  for (let i = 0; i < QUESTIONS; i++) {
    const zone = pick(random, [...zones.values()]);
    const { name, type } = randomQuestion(random, zone, names.get(zone.apex) as Name[]);
    if (LEFT_OUT.includes(type)) continue;
    const expected = resolveByHand(zones, name, type);
    // Where names like `a.*.b.*.c` meet, BIND too rejects the proof of an empty wildcard in cases.
    const isBare = expected?.row === BARE_WILDCARD_ROW;
    if (expected !== undefined && !isBare) questions.set(`${expected.name} ${expected.type}`, expected);
  }
  return [...questions.values()];
}
