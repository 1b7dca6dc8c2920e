// Names in zones of one trade, or of those who run certain software (words/trades.txt).

import { groupOf, readWordGroups } from './read-words.ts';
import type { Kind } from './scan-kind.ts';
import { AD_SERVICES } from './scan-services.ts';

/** How many names of each trade every scan asks for. */
const MOST_PROBES = 5;
/** How many signs show a trade, where that is not two. */
const NEEDED: Readonly<Record<string, number>> = {
  'active directory': 1,
  product: 4,
  'communities of game servers': 1,
  'servers of a windows domain': 1,
};

const GROUPS = readWordGroups('trades', ['signs', 'names']);

const DIRECTORY = shownBySigns('active directory');
/** Kinds whose signs every scan asks for anyway, so that it needs no others to learn the kind. */
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
  const hosts = [...kind.signs].filter((sign) => !sign.includes('_')); // services are asked for where any are
  return { ...kind, probes: hosts.slice(0, MOST_PROBES), names: [...hosts, ...kind.names] };
}
