// Our answers against those of NSD or Knot with the same zones. rcode, AA, TC and the three sections must agree; where they do
// not, one of the accepted differences has to say why.

import { expect } from 'vitest';
import { foldCase, type Name, printName } from '../../../src/dns/name.ts';
import { typeMnemonic } from '../../../src/dns/type-codes.ts';
import type { Zone } from '../../../src/zone/zone.ts';
import { askMany, askTcp, type PeerName, startPeer, type ZoneText } from '../peers/peers.ts';
import { explains } from './accepted-differences.ts';
import { describeObserved, isSame, type Observed, observe } from './observed-answer.ts';
import { type Asked, nodeOf, ourAnswer, queryFor } from './queries.ts';

const MAX_UDP_OCTETS = 1232;

interface CompareOptions {
  /** All are asked over TCP. */
  readonly tcp?: boolean;
  /** Where nothing but proofs differs: whether our whole answer proves what it says. */
  readonly isProven?: (reply: Uint8Array, asked: { readonly name: Name; readonly type: number }) => boolean;
}

export interface Outcome {
  readonly asked: number;
  readonly same: number;
  readonly unexplained: readonly string[];
}

export async function compareWithPeer(
  peer: PeerName,
  zones: ReadonlyMap<Name, Zone>,
  texts: readonly ZoneText[],
  asked: readonly Asked[],
  { tcp = false, isProven }: CompareOptions = {},
): Promise<Outcome> {
  const node = nodeOf(zones);
  const server = await startPeer(peer, texts);
  try {
    const queries = asked.map((one) => queryFor(one));
    const replies = tcp ? await askEachTcp(server.port, queries) : await askMany(server.port, queries);
    const unexplained: string[] = [];
    let same = 0;
    for (const [index, one] of asked.entries()) {
      const query = queries[index] as Uint8Array;
      const reply = replies[index];
      const title = `${peer}: ${printName(one.name)} ${typeMnemonic(one.type)} edns=${one.udpPayloadSize ?? 'none'}${one.dnssecOk === true ? ' DO' : ''}${tcp ? ' TCP' : ''}`;
      if (reply === undefined) {
        unexplained.push(`${title}: no reply`);
        continue;
      }
      const ours = observe(ourAnswer(node, query, tcp ? 'tcp' : 'udp'));
      const theirs = observe(reply);
      if (isSame(ours, theirs)) {
        same++;
        continue;
      }
      const udpLimit = Math.min(Math.max(one.udpPayloadSize ?? 512, 512), MAX_UDP_OCTETS);
      const whole = ourAnswer(node, query, 'tcp');
      const complete = observe(whole);
      const theirComplete = ours.tc === theirs.tc ? undefined : observe(await askTcp(server.port, query));
      const about = { name: foldCase(one.name), type: one.type };
      const isExplained = explains({
        peer,
        zones,
        ...about,
        dnssecOk: one.dnssecOk === true && one.udpPayloadSize !== undefined,
        limit: tcp ? 65_535 : udpLimit,
        ours,
        theirs,
        complete,
        ...(theirComplete !== undefined && { theirComplete }),
      });
      const isOther = isSame(withoutProofs(complete), withoutProofs(theirComplete ?? theirs));
      if (!isExplained && !(isOther && isProven?.(whole, about)))
        unexplained.push(`${title}\nours\n${describeObserved(ours)}\ntheirs\n${describeObserved(theirs)}`);
    }
    return { asked: asked.length, same, unexplained };
  } finally {
    await server.stop();
  }
}

const IS_PROOF = / (RRSIG )?NSEC3? /;

/** Additional records are optional with DO, but for glue. */
function withoutProofs(seen: Observed): Observed {
  const authority = seen.authority.filter((line) => !IS_PROOF.test(line));
  return { ...seen, authority, additional: [], octets: 0 };
}

async function askEachTcp(port: number, queries: readonly Uint8Array[]): Promise<Uint8Array[]> {
  const replies: Uint8Array[] = [];
  for (const query of queries) replies.push(await askTcp(port, query));
  return replies;
}

export function expectAgreement(outcomes: readonly Outcome[]): void {
  const asked = outcomes.reduce((sum, outcome) => sum + outcome.asked, 0);
  const unexplained = outcomes.flatMap((outcome) => outcome.unexplained);
  if (unexplained.length > 0) {
    expect.fail(
      `${unexplained.length} of ${asked} unexplained\n${unexplained.slice(0, Number(process.env.SHOW ?? 5)).join('\n\n')}`,
    );
  }
}
