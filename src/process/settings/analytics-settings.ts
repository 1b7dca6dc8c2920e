// Settings of the analytics store (docs/operating/edges.md "Analytics").

import { NONE, setting } from './setting.ts';
import { oneOf, onOrOff, shape } from './shapes.ts';

const storeUrl = shape('a URL like https://user:password@host:8443/database', (text) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search + url.hash !== '') return undefined;
  return /^\/\w+$/.test(url.pathname) ? url.href : undefined;
});

export const ANALYTICS_SETTINGS = {
  /** Determines whether `npm start` runs its own store when `analyticsUrl` is undefined. Undefined if the operator has not chosen. */
  analytics: setting({
    name: 'ANALYTICS',
    readers: ['npm start'],
    schema: onOrOff,
    byDefault: { words: '`on` if `DATA_DIR` has a store', make: () => undefined },
    is: '`on`: `npm start` installs an analytics store if it is missing, and runs it; `off`: it does neither',
  }),
  /** Undefined if there is no store. */
  analyticsUrl: setting({
    name: 'ANALYTICS_URL',
    readers: ['API', 'workers', 'npm start', 'CLI'],
    schema: storeUrl,
    byDefault: NONE,
    is: '`https://user:password@host:8443/database`, a ClickHouse 25.8 or newer, which stores the analytics',
    isSecret: true,
  }),
  /** Determines whether raw lines contain the client's whole address or only its /24 or /48. */
  analyticsClients: setting({
    name: 'ANALYTICS_CLIENTS',
    readers: ['API'],
    schema: oneOf(['prefix', 'full'], 'prefix or full'),
    byDefault: 'prefix',
    is: '`prefix`: raw lines of requests contain the /24 or /48 of the client; `full`: the whole address',
  }),
};
