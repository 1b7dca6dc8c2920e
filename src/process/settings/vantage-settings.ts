// Settings of a remote observer (docs/operating/vantage-points.md "Vantage points").

import { isIPv4 } from 'node:net';
import { isVantageName, readPrivateKey } from '../vantage-signature.ts';
import { NONE, setting } from './setting.ts';
import { shape } from './shapes.ts';

const OBSERVER = ['observer'] as const;

const name = shape('1 to 63 lower-case letters, digits and hyphens', (text) =>
  isVantageName(text) ? text : undefined,
);

/** Requires TLS: an attacker on the network could otherwise block jobs and results. */
const apiUrl = shape(
  'an https URL without user, query or fragment, like https://api.example.net; http only to a loopback address like http://127.0.0.1:8053, or to localhost',
  (text) => {
    if (!URL.canParse(text)) return undefined;
    const url = new URL(text);
    // The resolver's result for the name is not used.
    if (url.protocol === 'http:' && url.hostname === 'localhost') url.hostname = '127.0.0.1';
    const { hostname, protocol } = url;
    const isLoopback = hostname === '[::1]' || (isIPv4(hostname) && hostname.startsWith('127.'));
    const isAllowed = protocol === 'https:' || (protocol === 'http:' && isLoopback);
    const hasMore = url.username + url.password + url.search + url.hash !== '';
    return isAllowed && !hasMore ? url : undefined;
  },
);

export const VANTAGE_SETTINGS = {
  vantage: setting({
    name: 'VANTAGE',
    readers: OBSERVER,
    schema: name,
    byDefault: NONE,
    is: 'the name of this observer, as passed to `zonefleet vantage add`',
  }),
  vantageKey: setting({
    name: 'VANTAGE_KEY',
    readers: OBSERVER,
    schema: shape(
      'zfv_ and 43 letters, digits, - and _, the private key of the vantage point',
      readPrivateKey,
    ),
    byDefault: NONE,
    is: 'the private key of this observer, `zfv_` and 43 letters, digits, `-` and `_`',
    isSecret: true,
  }),
  vantageApi: setting({
    name: 'VANTAGE_API',
    readers: OBSERVER,
    schema: apiUrl,
    byDefault: NONE,
    is: 'the URL of the API, like `https://api.example.net`',
  }),
};
