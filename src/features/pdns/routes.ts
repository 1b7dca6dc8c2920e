// Routes for the server: its version, a few settings, statistics, the search, and the flush of the cache.

import { z } from 'zod';
import { CompatAnswer } from '../../api/answers/compat-answer.ts';
import { Problem } from '../../api/answers/problem.ts';
import { domainNamesOf } from '../../api/callers/caller.ts';
import { account, type Route } from '../../api/calls/route.ts';
import { NoTurn, Turns } from '../../api/calls/turns.ts';
import { anyKey, compatRoute } from '../../api/compat/compat-route.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { ApiType } from '../../zone/records/customer-types.ts';
import { printContent, printType, SERVER } from './print.ts';
import { readCanonical, readSearch, refuse, type Search, VERSION } from './rules.ts';
import { type FoundRecord, findRecords, findZones, type SearchOrder } from './sql.ts';
import { PDNS } from './surface.ts';

const text = z.string().max(1024).optional();

/** Declares a route that returns the same value to every caller. */
function constant(path: string, operationId: string, value: unknown): Route {
  const answer = CompatAnswer.json(value);
  return compatRoute(PDNS, account(), { method: 'GET', path, operationId, run: () => answer });
}

const server = {
  type: 'Server',
  id: 'localhost',
  daemon_type: 'authoritative',
  version: VERSION,
  url: SERVER,
  config_url: `${SERVER}/config{/config_setting}`,
  zones_url: `${SERVER}/zones{/zone}`,
  autoprimaries_url: `${SERVER}/autoprimaries{/autoprimary}`,
};

const CONFIG = [
  { name: 'default-soa-edit', type: 'ConfigSetting', value: '' },
  { name: 'enable-lua-records', type: 'ConfigSetting', value: 'no' },
  { name: 'version-string', type: 'ConfigSetting', value: VERSION },
];

const statistics = compatRoute(PDNS, account(), {
  method: 'GET',
  path: `${SERVER}/statistics`,
  operationId: 'pdnsStatistics',
  query: z.looseObject({ statistic: text }),
  run({ query: { statistic } }) {
    const uptime = String(Math.floor(process.uptime()));
    const items = [{ name: 'uptime', type: 'StatisticItem', value: uptime }];
    const named = items.filter(({ name }) => statistic === undefined || name === statistic);
    return named.length === 0 ? refuse('Unknown statistic name') : CompatAnswer.json(named);
  },
});

/** Searches of each account run one at a time, because each may read all records of the account. */
const searches = new Turns({ waitMs: 8000, waiting: 10 });

const search = compatRoute(PDNS, account(), {
  method: 'GET',
  path: `${SERVER}/search-data`,
  operationId: 'pdnsSearch',
  query: z.looseObject({ q: text, max: text, object_type: text }),
  async run({ api, caller, query }) {
    const read = readSearch(query);
    if (read instanceof Problem) return read;
    const { id: accountId } = caller.account;
    try {
      return await searches.run(accountId, async () => {
        const found = await find(api.db, { accountId, names: domainNamesOf(caller.key), ...read });
        return CompatAnswer.json(found.slice(0, read.most));
      });
    } catch (error) {
      if (!(error instanceof NoTurn)) throw error;
      return new Problem(429, 'earlier searches of the account are in progress', {
        headers: { 'Retry-After': '1' },
      });
    }
  },
});

async function find(db: Database, { type, ...order }: SearchOrder & Pick<Search, 'type'>): Promise<object[]> {
  const isSought = (each: string) => type === 'all' || type === each;
  const zones = isSought('zone') ? await findZones(db, order) : [];
  const records = isSought('record') ? await findRecords(db, order, 'record') : [];
  const comments = isSought('comment') ? await findRecords(db, order, 'comment') : [];
  return [
    ...zones.map((name) => ({ object_type: 'zone', name, zone_id: name })),
    ...records.map(printFound),
    ...comments.map(({ zone, name, type, comment }) => ({
      ...{ object_type: 'comment', content: comment, name, type: printType(type as ApiType) },
      ...{ zone, zone_id: zone },
    })),
  ];
}

function printFound({ zone, name, type, ttl, rdata }: FoundRecord): object {
  const content = printContent(type as ApiType, Buffer.from(rdata, 'hex'));
  const record = { object_type: 'record', name, type: printType(type as ApiType), ttl, content };
  return { ...record, disabled: false, zone, zone_id: zone };
}

/** Has no effect, because nodes have no cache of answers. Restricted keys may call it too. */
const flush = compatRoute(PDNS, anyKey, {
  method: 'PUT',
  path: `${SERVER}/cache/flush`,
  operationId: 'pdnsFlush',
  writes: false,
  audit: { none: 'it changes nothing' },
  query: z.looseObject({ domain: text }),
  run({ query: { domain = '' } }) {
    const name = readCanonical(domain);
    if (name instanceof Problem) return name;
    return CompatAnswer.json({ count: 0, result: 'Flushed cache.' });
  },
});

const API = [{ version: 1, url: '/api/v1' }];
const VERSION_1 = [{ server_url: '/api/v1/servers{/server}', api_features: [] }];

export const SERVER_ROUTES: readonly Route[] = [
  constant('/api', 'pdnsApi', API),
  constant('/api/v1', 'pdnsVersion', VERSION_1),
  constant('/api/v1/servers', 'pdnsServers', [server]),
  constant(SERVER, 'pdnsServer', server),
  constant(`${SERVER}/config`, 'pdnsConfig', CONFIG),
  constant(`${SERVER}/autoprimaries`, 'pdnsAutoprimaries', []),
  statistics,
  search,
  flush,
];
