// What a world for one challenge is made of while it is made: by its owner, by chance, and by an attacker.

import { RCODE } from '../../../src/dns/message/rcodes.ts';
import { pick, type Random } from '../random/random-zones.ts';
import { reply } from '../world/zone-exchange.ts';
import type { ChallengeWorld, Seat, WorldZone } from './challenge-world.ts';

export const VALUE = 'svc-verify=abcdefghijklmnopqrstuvwxyz234567';
export const TXT_VALUE = `TXT "${VALUE}"`;
/** The names of our own nameservers. */
export const FLEET = ['ns1.fleet.com.', 'ns2.fleet.com.', 'ns3.fleet.com.'];

/** The challenge's name and what it is an alias of, each with the zone that holds it. */
export interface Link {
  readonly name: string;
  readonly zone: WorldZone;
}

export interface ChallengeDraft {
  readonly world: ChallengeWorld;
  readonly random: Random;
  readonly links: readonly [Link, ...Link[]];
  /** What is wrong in this world, for who reads a failure. */
  readonly story: string[];
}

export function lastOf({ links }: ChallengeDraft): Link {
  return links.at(-1) as Link;
}

const FAILURES = ['silent', 'bad', 'refused', 'servfail', 'lame', 'without AA'] as const;

/** The address gives no usable answer any more. */
export function fail({ world, random, story }: ChallengeDraft, { address }: Seat): void {
  const failure = pick(random, FAILURES);
  story.push(`${address} is ${failure}`);
  world.conducts.set(address, ({ honest }) => {
    switch (failure) {
      case 'silent':
      case 'bad':
        return failure;
      case 'refused':
        return reply({ rcode: RCODE.REFUSED });
      case 'servfail':
        return reply({ rcode: RCODE.SERVFAIL });
      case 'lame':
        return reply({});
      case 'without AA':
        return { ...honest(), aa: false, authorities: [] };
      default:
        return failure satisfies never;
    }
  });
}
