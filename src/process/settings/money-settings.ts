// Settings of money: what resellers may owe, and for how long.

import { setting } from './setting.ts';
import { integer } from './shapes.ts';

const CHARGING = ['API', 'workers'] as const;
const MOST_RIALS = 1_000_000_000_000;

export const MONEY_SETTINGS = {
  /** How far below zero purchases may bring a reseller's wallet. */
  resellerMaxNegativeRials: setting({
    name: 'RESELLER_MAX_NEGATIVE_RIALS',
    readers: CHARGING,
    schema: integer(0, MOST_RIALS, `a number of rials from 0 to ${MOST_RIALS}`),
    byDefault: '0',
    is: "how many rials a reseller's wallet may go below zero when it, or one of its clients, buys something",
  }),
};
