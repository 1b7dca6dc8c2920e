// Settings of money: what resellers may owe, and for how long.

import { setting } from './setting.ts';
import { integer } from './shapes.ts';

const CHARGING = ['API', 'workers'] as const;
const MOST_DAYS = 3650;
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
  /** How long a wallet may be below zero before the domains that it pays for are suspended. */
  resellerNegativeGraceDays: setting({
    name: 'RESELLER_NEGATIVE_GRACE_DAYS',
    readers: ['workers'],
    schema: integer(0, MOST_DAYS, `a number of days from 0 to ${MOST_DAYS}`),
    byDefault: '7',
    is: "for how many days a wallet may be below zero before the domains of its account, and of a reseller's clients, are suspended",
  }),
};
