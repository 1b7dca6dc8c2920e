// Chooses the next addresses to query: first those that answer, of different nameservers and both families, then any
// others. The load spreads over all servers of the zone.

import type { ZoneAddress } from '../state/known-zone.ts';

/**
 * Within this difference, an address is as good as the fastest: one lost packet or a long distance is no reason to query
 * only one server.
 */
const SAME_SPEED_MS = 200;

/** Returns at most `count` of the candidates, best first. `asked` are addresses chosen before. */
export function pickAddresses(
  candidates: readonly ZoneAddress[],
  count: number,
  { now, random, asked = [] }: { now: number; random: () => number; asked?: readonly ZoneAddress[] },
): ZoneAddress[] {
  const left = shuffled(candidates, random);
  const fastest = left.reduce((best, { rttMs }) => Math.min(best, rttMs ?? best), Number.POSITIVE_INFINITY);
  const picked = [...asked];
  while (picked.length < asked.length + count && left.length > 0) {
    let best = 0;
    let lowest = Number.POSITIVE_INFINITY;
    for (let i = 0; i < left.length; i++) {
      const cost = costOf(left[i] as ZoneAddress, picked, { now, fastest });
      if (cost >= lowest) continue;
      lowest = cost;
      best = i;
    }
    picked.push(left[best] as ZoneAddress);
    left.splice(best, 1);
  }
  return picked.slice(asked.length);
}

/** Each criterion outweighs all later ones. */
function costOf(
  { shunnedUntil, server, rttMs, isIpv6 }: ZoneAddress,
  picked: readonly ZoneAddress[],
  { now, fastest }: { now: number; fastest: number },
): number {
  let cost = 0;
  if (shunnedUntil > now) cost += 8;
  for (const other of picked) {
    if (other.server !== server) continue;
    cost += 4;
    break;
  }
  if (rttMs !== undefined && rttMs > fastest + SAME_SPEED_MS) cost += 2;
  if (picked[picked.length - 1]?.isIpv6 === isIpv6) cost += 1;
  return cost;
}

function shuffled(addresses: readonly ZoneAddress[], random: () => number): ZoneAddress[] {
  const all = [...addresses];
  for (let i = all.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    const other = all[j] as ZoneAddress;
    all[j] = all[i] as ZoneAddress;
    all[i] = other;
  }
  return all;
}
