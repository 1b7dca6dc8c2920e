// Many small zones of one recipe (SOA, 2 NS, 3 A, 2 CNAME, MX, 3 TXT of 30, 40 and 110 characters), and queries for them,
// with zones chosen evenly or by Zipf's law.

import { type Random, randomFrom } from '../../test/support/random/random-zones.ts';
import type { ZoneSet } from './zone-set.ts';

export const RECIPE_RECORDS = 12;
const LABEL_DIGITS = 7;
export const RECIPE_PARENT = 'test';

const text = (start: string, characters: number) => start.padEnd(characters, 'x');

export const RECIPE = `$TTL 3600
@ SOA ns1.nameservers.test. hostmaster.nameservers.test. 1 10000 2400 604800 1800
@ NS ns1.nameservers.test.
@ NS ns2.nameservers.test.
@ A 192.0.2.80
www A 192.0.2.80
mail A 192.0.2.25
shop CNAME www
autoconfig CNAME mail
@ MX 10 mail
@ TXT "${text('v=spf1 mx -all ', 30)}"
_dmarc TXT "${text('v=DMARC1; p=reject; ', 40)}"
key1._domainkey TXT "${text('v=DKIM1; k=ed25519; p=', 110)}"
`;

/** Without the final dot. */
export function recipeName(index: number): string {
  return `z${String(index).padStart(LABEL_DIGITS, '0')}.${RECIPE_PARENT}`;
}

export function makeRecipeZones(count: number): ZoneSet {
  return {
    name: `recipe_${count}`,
    zones: [],
    recipe: { count, text: RECIPE, apexOf: (index) => `${recipeName(index)}.` },
    records: count * RECIPE_RECORDS,
  };
}

/** Returns the index of a zone. */
export type Draw = (random: Random) => number;

export function evenly(zones: number): Draw {
  return (random) => Math.floor(random() * zones);
}

/**
 * The zone of rank r gets 1/r of the first one's queries. Ranks are spread over the zones, so that neighbouring ranks are
 * not neighbours in memory.
 */
export function byZipf(zones: number): Draw {
  const sums = new Float64Array(zones);
  let sum = 0;
  for (let rank = 0; rank < zones; rank++) {
    sum += 1 / (rank + 1);
    sums[rank] = sum;
  }
  const step = stepThrough(zones);
  return (random) => {
    const wanted = random() * sum;
    let low = 0;
    for (let high = zones - 1; low < high; ) {
      const middle = (low + high) >> 1;
      if ((sums[middle] as number) < wanted) low = middle + 1;
      else high = middle;
    }
    return (low * step) % zones;
  };
}

/** Returns a step that visits every zone before any zone again: a prime that does not divide the number of zones. */
function stepThrough(zones: number): number {
  return [7_368_787, 611_953, 48_611].find((prime) => zones % prime !== 0) as number;
}

/** Lines for dnsperf: 65 % A, 15 % AAAA (which no name has), 5 % CNAME, 5 % names that do not exist, 10 % MX and TXT of the apex. */
export function recipeQuestions(draw: Draw, count: number, seed: number): string {
  const random = randomFrom(seed);
  const lines: string[] = [];
  const hosts = ['', 'www.', 'mail.'];
  for (let i = 0; i < count; i++) {
    const apex = recipeName(draw(random));
    const kind = random() * 100;
    const host = hosts[Math.floor(random() * hosts.length)] as string;
    if (kind < 65) lines.push(`${host}${apex} A`);
    else if (kind < 80) lines.push(`${host}${apex} AAAA`);
    else if (kind < 85) lines.push(`${kind < 82.5 ? 'shop' : 'autoconfig'}.${apex} A`);
    else if (kind < 90) lines.push(`absent.${apex} A`);
    else lines.push(`${apex} ${kind < 95 ? 'MX' : 'TXT'}`);
  }
  return `${lines.join('\n')}\n`;
}
