// Names in zones of one trade, or of users of certain software (words/trades.txt).

import { groupOf, readWordGroups } from './read-words.ts';
import type { Kind } from './scan-kind.ts';
import { AD_SERVICES } from './scan-services.ts';

/** Number of names per trade that every scan queries. */
const MOST_PROBES = 5;
/** Number of signs that indicate a trade, if not two. */
const NEEDED: Readonly<Record<string, number>> = {
  'active directory': 1,
  product: 4,
  'communities of game servers': 1,
  'servers of a windows domain': 1,
};

const GROUPS = readWordGroups('trades', ['signs', 'names']);

const DIRECTORY = shownBySigns('active directory');
/** Kinds whose signs every scan queries anyway, so that no further probes are needed. */
const SHOWN: readonly Kind[] = [
  {
    ...shownBySigns('university'),
    domains:
      /(^|\.)(edu(\.[a-z]{2})?|ac\.[a-z]{2})$|(^|\.)(uni|univ|tu|fh)-[^.]+\.|universit|college|hochschule/,
  },
  {
    ...DIRECTORY,
    names: ['_msdcs', ...AD_SERVICES.map((each) => `${each}._msdcs`), ...DIRECTORY.names],
  },
  shownBySigns('localized'),
  shownBySigns('product'),
];

export const TRADES: readonly Kind[] = [
  ...SHOWN,
  ...GROUPS.slice(SHOWN.length).map(({ head }) => askedFor(head)),
];

function shownBySigns(head: string): Kind {
  const { signs, names } = groupOf(GROUPS, head);
  return { signs: new Set(signs), needed: NEEDED[head] ?? 2, names };
}

function askedFor(head: string): Kind {
  const kind = shownBySigns(head);
  const hosts = [...kind.signs].filter((sign) => !sign.includes('_')); // services are queried only where there are any
  return { ...kind, probes: hosts.slice(0, MOST_PROBES), names: [...hosts, ...kind.names] };
}
