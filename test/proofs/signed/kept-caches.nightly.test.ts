// Resolvers that keep what they were told and answer from NSEC records for names that were not asked (RFC 8198): over random zones
// of our signer, with marked names, they never find anything else than what is there, whatever was asked before.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Name, parseName, wildcardBelow } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import type { Zone } from '../../../src/zone/zone.ts';
import { nodeOf } from '../../support/answer/queries.ts';
import { serveNode } from '../../support/answer/serve-node.ts';
import type { WrittenNode } from '../../support/answer/test-node.ts';
import { keySettings } from '../../support/dnssec/zone-keys.ts';
import { freePort, type Peer, startPeer } from '../../support/peers/peers.ts';
import { pick, randomFrom } from '../../support/random/random-zones.ts';
import { scale } from '../../support/tests/scale.ts';
import { startTogether } from '../../support/tests/start-together.ts';
import { EditedZone } from '../../support/validators/edited-zone.ts';
import { unexpected } from '../../support/validators/judge-verdicts.ts';
import { startNamed } from '../../support/validators/named.ts';
import { NEEDS_VALIDATORS } from '../../support/validators/start-validators.ts';
import { startUnbound } from '../../support/validators/unbound.ts';
import {
  BARE_WILDCARD_ROW,
  type ExpectedVerdict,
  type ValidatingResolver,
} from '../../support/validators/validator.ts';
import { zonesOf } from '../../support/zone/zone-text.ts';

const SEED = Number(process.env.ZONEFLEET_SEED ?? 20_261_123);
const ZONES = scale(200, 8);
const ROUNDS = 3;
const GAPS = 150;

describe.skipIf(NEEDS_VALIDATORS !== '')(`resolvers that keep what they were told${NEEDS_VALIDATORS}`, () => {
  const random = randomFrom(SEED);
  const settings = Object.values(keySettings());
  const zones = Array.from(
    { length: ZONES },
    (_, i) =>
      new EditedZone({
        apex: `z${i}.example.`,
        denial: i % 4 === 3 ? 'nsec3' : 'nsec',
        setting: pick(random, settings),
        random,
      }),
  );
  let root: Peer;
  let node: WrittenNode;
  let served: { stop(): Promise<void> };
  let resolvers: readonly ValidatingResolver[];

  beforeAll(async () => {
    root = await startPeer('nsd', [{ apex: '.', text: '@ 60 SOA a. b. 1 1 1 1 60\n@ 60 NS a.' }]);
    const port = await freePort();
    for (const zone of zones) for (let edits = 0; edits < 12; edits++) zone.edit();
    node = nodeOf(zonesOf(...zones.map((zone) => zone.zone())));
    served = await serveNode(node, [{ address: '127.0.0.1', port }]);
    const space = {
      anchors: zones.flatMap(({ anchors }) => anchors),
      reached: {
        stubs: [{ zone: '.', port: root.port }, ...zones.map(({ apex }) => ({ zone: apex, port }))],
      },
    };
    resolvers = await startTogether([startNamed(space), startUnbound(space, { kind: 'aggressive' })]);
  });

  afterAll(async () => {
    await Promise.all((resolvers ?? []).map((resolver) => resolver.stop()));
    await served?.stop();
    await root?.stop();
  });

  it('find what is there, whatever was asked before', async () => {
    const marked = zones.reduce((sum, zone) => sum + zone.zone().marked.size, 0);
    expect(marked).toBeGreaterThan(0);
    let verdicts = 0;
    const wrong: string[] = [];
    for (const resolver of resolvers) {
      for (let round = 0; round < ROUNDS && wrong.length === 0; round++) {
        const asked = zones.flatMap((zone) => zone.questions()).filter(isClear(resolver));
        asked.sort(() => random() - 0.5);
        wrong.push(...unexpected(resolver, asked, await resolver.ask(asked)));
        verdicts += asked.length;
      }
    }
    console.log(`${verdicts} verdicts; ${marked} marked names`);
    expect(wrong.slice(0, 20)).toEqual([]);
  });

  it('ask no more for what they can tell by themselves', async () => {
    // Without a wildcard, whose answers not all of them make.
    const { apex } = zones
      .map((zone) => zone.zone())
      .find(
        ({ apex, nodes, denials }) => denials?.kind === 'nsec' && !nodes.has(wildcardBelow(apex) as Name),
      ) as Zone;
    const names = Array.from({ length: GAPS }, (_, i) => parseName(`~~${i}`, apex));
    for (const resolver of resolvers) {
      await resolver.ask([{ name: names[0] as Name, type: TYPE.A }]);
      const before = node.counters.signed.answers;
      const told = await resolver.ask(names.map((name) => ({ name, type: TYPE.A })));
      expect(new Set(told.map(({ security }) => security))).toEqual(new Set(['secure']));
      expect(node.counters.signed.answers - before, resolver.name).toBeLessThan(GAPS / 10);
    }
  });
});

/** Caches take a wildcard that is an empty non-terminal for one that is not there. */
function isClear(resolver: ValidatingResolver): (question: ExpectedVerdict) => boolean {
  return (question) => question.row !== BARE_WILDCARD_ROW && (resolver.judges?.(question) ?? true);
}
