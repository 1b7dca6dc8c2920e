// English texts of the cache.

import { plural } from './figures.ts';

export const cache = {
  purge: 'Purge the cache',
  purgeText:
    'If you have changed something on your server, purge the old copy so that visitors see the change immediately.',
  what: 'What',
  scopes: { all: 'Everything', host: 'One host', url: 'One page or file', prefix: 'All with a prefix' },
  labels: { host: 'Host', url: 'Address', prefix: 'Address prefix' },
  hints: {
    host: (name: string) => `www.${name}, or *.${name} for every host below`,
    url: (name: string) => `https://www.${name}/page?x=1`,
    prefix: (name: string) => `https://www.${name}/img/`,
  },
  purgeButtons: {
    all: 'Purge everything',
    host: 'Purge host',
    url: 'Purge page',
    prefix: 'Purge prefix',
  },
  refresh: 'Purge and fetch again',
  refreshText: 'The edges fetch a new copy right away, so no visitor has to wait for it.',
  allTitle: (name: string) => `Purge the whole cache of ${name}?`,
  allText:
    'Nothing is lost, but your server receives every request until the edges have cached the responses again.',
  progress: (id: number) => `Purge ${id}`,
  states: { done: 'done', replaced: 'replaced', silent: 'waiting', going: 'in progress' },
  doneOf: (done: number, edges: number) => `Done on ${done} of ${plural(edges, 'edge', 'edges')}.`,
  stateTexts: {
    done: 'All edges that serve visitors have finished.',
    replaced: 'Replaced by a later purge of everything.',
    silent: 'The other edges are offline. They receive no visitors and purge when they are back.',
    going: 'The other edges purge as soon as they receive the request.',
  },
  node: {
    done: 'done',
    going: 'in progress',
    silent: 'offline; purges when it is back',
    failed: (why: string) => `failed and will retry: ${why}`,
  },
  cached: 'Cached responses',
  reload: 'Refresh',
  host: 'Host',
  path: 'Path',
  filterHint: 'Part of it, or a pattern with *',
  filter: 'Filter',
  noFilter: 'Show all',
  empty: 'Nothing is cached',
  emptyText:
    'Edges cache the responses for proxied names that may be cached. A rule of the type “Cache” sets how long.',
  noMatch: 'No cached response matches',
  noMatchText: 'Try another part of the host or path.',
  range: (from: number, to: number, total: string) => `${from} to ${to} of ${total}.`,
  dropped: (entries: number) => `${plural(entries, 'older entry is', 'older entries are')} not listed.`,
  before: 'Previous',
  after: 'Next',
  edge: 'Edge',
  size: 'Size',
  cachedAt: 'Cached',
  expires: 'Expires',
  action: 'Purge',
  take: 'Purge',
  purgeOne: (what: string) => `Purge ${what}`,
};
