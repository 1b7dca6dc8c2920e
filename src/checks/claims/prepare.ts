// Selects the claims that are offered a TXT record (docs/rules.md "Preparing with TXT"): those whose whole zone would be
// answered only with it, before the delegation proves them.

import { type Around, answeredDomain, type NamedDomain } from './answered.ts';

type Enclosing = Around['enclosing'];

/** `enclosingOf`: how accounts other than this one are answered above the name. */
export function claimsToPrepare(
  domains: readonly NamedDomain[],
  sightedRights: readonly number[],
  enclosingOf: (accountId: number) => Enclosing,
): readonly number[] {
  const waiting = domains.filter(({ stage }) => stage === 'waiting');
  return waiting
    .filter(({ id, accountId }) => {
      const around = { turn: id, sightedRights, enclosing: enclosingOf(accountId) };
      const isWhole = (hasTxt: boolean) => {
        const as = domains.map((domain) => (domain.id === id ? { ...domain, hasTxt } : domain));
        const answered = answeredDomain(as, around);
        return answered?.id === id && answered.served === 'full';
      };
      return !isWhole(false) && isWhole(true);
    })
    .map(({ id }) => id);
}
