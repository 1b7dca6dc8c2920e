// Wildcards that a program makes, as load balancers in front of tenants do: an alias at every name that is not there, and
// not always of the same host.

import { RCODE } from '../../../src/dns/message/rcodes.ts';
import { contains } from '../challenge/challenge-world.ts';
import type { Random } from '../random/random-zones.ts';
import { answering, type Conduct } from '../world/zone-exchange.ts';

interface Choice {
  readonly random: Random;
  /** What was handed out before, by this server or by all of them. */
  readonly memory: { turn: number };
  readonly asked: string;
  readonly count: number;
}

/** Which of so many targets a name gets. */
const CHOICES = {
  'in turn': ({ memory, count }: Choice) => memory.turn++ % count,
  'in turn, each twice': ({ memory, count }: Choice) => Math.floor(memory.turn++ / 2) % count,
  'at random': ({ random, count }: Choice) => Math.floor(random() * count),
  'mostly the first': ({ random, count }: Choice) => (random() < 0.9 ? 0 : Math.floor(random() * count)),
  'by the name': ({ asked, count }: Choice) => hash(asked) % count,
};
export type ChangingBy = keyof typeof CHOICES;
export const CHANGES = Object.keys(CHOICES) as ChangingBy[];

/** For names below `parent`. */
export function changingWildcard(
  parent: string,
  by: ChangingBy,
  { targets, ...at }: { targets: readonly string[] } & Pick<Choice, 'random' | 'memory'>,
): Conduct {
  return ({ name, honest }) => {
    if (!contains(parent, name) || honest().rcode !== RCODE.NXDOMAIN) return undefined;
    const target = targets[CHOICES[by]({ ...at, asked: name, count: targets.length })];
    return answering(`${name} CNAME ${target}`);
  };
}

/** Of all letters, and of lower ones above all: names of one length differ in their low bits only. */
function hash(text: string): number {
  let value = 0;
  for (const character of text) value = (Math.imul(value, 31) + character.charCodeAt(0)) >>> 0;
  return value >>> 8;
}
