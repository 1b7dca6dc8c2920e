// Settings of money: what resellers may owe, and for how long.

import { NONE, setting } from './setting.ts';
import { integer, matching, shape } from './shapes.ts';

const CHARGING = ['API', 'workers'] as const;
const MOST_DAYS = 3650;
const MOST_RIALS = 1_000_000_000_000;

/** A text of a few lines; `\\n` is the end of one, since not every file of variables can hold that. */
const lines = shape('a text of at most 2000 characters', (text) =>
  text.length <= 2000 ? text.replaceAll('\\n', '\n') : undefined,
);

const gatewayUrl = shape('a URL like https://pay.example.net/begin, or http: on loopback', (text) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.username !== '' || url.password !== '' || url.hash !== '') return undefined;
  const isHere = url.protocol === 'http:' && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  return url.protocol === 'https:' || isHere ? url.href : undefined;
});

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
  /** Undefined: there is no gateway that sends notices. */
  paymentUrl: setting({
    name: 'PAYMENT_URL',
    readers: ['API'],
    schema: gatewayUrl,
    byDefault: NONE,
    is: 'a URL like `https://pay.example.net/begin`: the page of the payment gateway `online`',
  }),
  paymentSecret: setting({
    name: 'PAYMENT_SECRET',
    readers: ['API'],
    schema: matching(/^[\x21-\x7e]{32,256}$/, '32 to 256 printable characters without spaces'),
    byDefault: NONE,
    is: '32 to 256 characters that only the gateway knows: orders and notices are signed with it',
    isSecret: true,
  }),
  paymentInstructions: setting({
    name: 'PAYMENT_INSTRUCTIONS',
    readers: ['API'],
    schema: lines,
    byDefault: NONE,
    is: 'a text that says how to pay by hand, for the page of a top-up by `manual`',
  }),
  invoiceSeller: setting({
    name: 'INVOICE_SELLER',
    readers: CHARGING,
    schema: lines,
    byDefault: NONE,
    is: 'a text that says who sells, for invoices that are made from then on',
  }),
};
