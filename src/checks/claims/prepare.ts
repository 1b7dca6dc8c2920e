// Which claims are offered a TXT record (docs/rules.md "Preparing with TXT"): those whose zone would be answered whole with it
// before their delegation proves them, and is not without it.

import { type Around, answeredDomain, type NamedDomain } from './answered.ts';

type Enclosing = Around['enclosing'];

/** `enclosingOf`: what is answered around the name for other accounts than this one. */
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
