// Settings for users: the service's URL, registration, and mail.

import { isIPv4, isIPv6 } from 'node:net';
import { networks } from './address-shapes.ts';
import { NONE, NOTHING_LISTED, setting } from './setting.ts';
import { matching, onOrOff, shape } from './shapes.ts';

/** Without a path: `https://dns.example.net`. Plain HTTP only on loopback, since passwords are sent. */
const publicUrl = shape(
  'a URL like https://dns.example.net, or http: on loopback, without a path',
  (text) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url === undefined || url.username !== '' || url.password !== '') return undefined;
    if (url.pathname !== '/' || url.search !== '' || url.hash !== '') return undefined;
    const isFit = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname));
    return isFit ? url.origin : undefined;
  },
);

function isLoopback(host: string): boolean {
  const address = host.replace(/^\[(.*)\]$/, '$1');
  if (host === 'localhost') return true;
  return isIPv4(address) ? address.startsWith('127.') : isIPv6(address) && address === '::1';
}

export const PEOPLE_SETTINGS = {
  /** Undefined means the first loopback address of API_LISTEN. */
  publicUrl: setting({
    name: 'PUBLIC_URL',
    readers: ['API', 'workers', 'npm start', 'CLI'],
    schema: publicUrl,
    byDefault: { words: '`http://` and the first loopback address of `API_LISTEN`', make: () => undefined },
    is: 'the URL of the API for browsers, like `https://dns.example.net`, without a path',
  }),
  /** CIDR notation. */
  trustedProxies: setting({
    name: 'TRUSTED_PROXIES',
    readers: ['API'],
    schema: networks,
    byDefault: NOTHING_LISTED,
    is: 'comma list of networks like `10.0.0.0/8` with proxies whose `X-Forwarded-For` is trusted',
  }),
  registration: setting({
    name: 'REGISTRATION',
    readers: ['API'],
    schema: onOrOff,
    byDefault: 'off',
    is: '`on`: anyone may create an account, with a link sent by mail',
  }),
  /** Undefined if no mail is sent. */
  smtpUrl: setting({
    name: 'SMTP_URL',
    readers: ['API', 'workers', 'CLI'],
    schema: matching(/^smtps?:\/\/[^\s/]+\/?$/, 'a URL like smtps://user:password@mail.example.net:465'),
    byDefault: NONE,
    is: '`smtps://user:password@host:465`, or `smtp://` for STARTTLS: the server that sends our mail',
    isSecret: true,
  }),
  /** Undefined means `zonefleet` at the host of PUBLIC_URL. */
  mailFrom: setting({
    name: 'MAIL_FROM',
    readers: ['workers'],
    schema: matching(/^[^\s@<>]+@[^\s@<>]+$/, 'an email address'),
    byDefault: { words: '`zonefleet@` and the host of `PUBLIC_URL`', make: () => undefined },
    is: 'the sender address of mail',
  }),
};
