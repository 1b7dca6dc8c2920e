// Settings of the analytics store (docs/operating.md "Analytics").

import { NONE, setting } from './setting.ts';
import { oneOf, onOrOff, shape } from './shapes.ts';

const storeUrl = shape('a URL like https://user:password@host:8443/database', (text) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search + url.hash !== '') return undefined;
  return /^\/\w+$/.test(url.pathname) ? url.href : undefined;
});

export const ANALYTICS_SETTINGS = {
  /** Whether `npm start` runs a store of its own where `analyticsUrl` is undefined. */
  analytics: setting({
    name: 'ANALYTICS',
    readers: ['npm start'],
    schema: onOrOff,
    byDefault: 'on',
    is: '`off`: `npm start` neither installs nor runs an analytics store',
  }),
  /** Undefined: there is no store. */
  analyticsUrl: setting({
    name: 'ANALYTICS_URL',
    readers: ['API', 'workers', 'npm start', 'CLI'],
    schema: storeUrl,
    byDefault: NONE,
    is: '`https://user:password@host:8443/database`, a ClickHouse 25.8 or newer, where analytics are',
    isSecret: true,
  }),
  /** Whether raw lines keep the whole address of who asked, or its /24 or /48. */
  analyticsClients: setting({
    name: 'ANALYTICS_CLIENTS',
    readers: ['API'],
    schema: oneOf(['prefix', 'full'], 'prefix or full'),
    byDefault: 'prefix',
    is: '`prefix`: raw lines of requests keep the /24 or /48 of who asked; `full`: the whole address',
  }),
};
