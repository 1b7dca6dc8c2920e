// Settings for payments: how much resellers may owe, and for how long.

import { NONE, setting } from './setting.ts';
import { integer, matching, shape } from './shapes.ts';

const CHARGING = ['API', 'workers'] as const;
const MOST_DAYS = 3650;
const MOST_RIALS = 1_000_000_000_000;

/**
 * A text of a few lines. `
 * ` represents a line break, since not every environment file supports line breaks.
 */
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
  /** How far purchases may take a reseller's wallet below zero. */
  resellerMaxNegativeRials: setting({
    name: 'RESELLER_MAX_NEGATIVE_RIALS',
    readers: CHARGING,
    schema: integer(0, MOST_RIALS, `a number of rials from 0 to ${MOST_RIALS}`),
    byDefault: '0',
    is: 'maximum number of rials by which purchases of a reseller or its clients may take its wallet below zero',
  }),
  /** How long a wallet may be negative before the domains that it pays for are suspended. */
  resellerNegativeGraceDays: setting({
    name: 'RESELLER_NEGATIVE_GRACE_DAYS',
    readers: ['workers'],
    schema: integer(0, MOST_DAYS, `a number of days from 0 to ${MOST_DAYS}`),
    byDefault: '7',
    is: "number of days that a wallet may be negative before the domains of its account, and of a reseller's clients, are suspended",
  }),
  /** Undefined if no gateway sends notices. */
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
    is: '32 to 256 characters: the secret shared with the gateway, with which orders and notices are signed',
    isSecret: true,
  }),
  paymentInstructions: setting({
    name: 'PAYMENT_INSTRUCTIONS',
    readers: ['API'],
    schema: lines,
    byDefault: NONE,
    is: 'instructions for manual payment, shown on the page of a top-up by `manual`',
  }),
  invoiceSeller: setting({
    name: 'INVOICE_SELLER',
    readers: CHARGING,
    schema: lines,
    byDefault: NONE,
    is: 'the name and address of the seller, for new invoices',
  }),
};
