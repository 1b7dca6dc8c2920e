// @ts-check
// Prints the possible origins of a request, and selects one.

import { Unwritable } from './quote.mjs';
import { printBots } from './refusals.mjs';
import { firstOf } from './rules.mjs';

/**
 * @typedef {import('../../src/edge/edge-config.ts').EdgeHost} EdgeHost
 * @typedef {import('./origins.mjs').Target} Target
 * @typedef {import('./origins.mjs').Way} Way
 */

/**
 * Order of precedence: pool, route, target of bots, the host's own origins.
 * @param {readonly EdgeHost[]} hosts of one server
 * @param {readonly import('./rules.mjs').EdgeRule[]} rules
 * @param {import('./server.mjs').Around} around
 */
export function chooseTarget(hosts, rules, { upstreams, maps, report, httpBlocks }) {
  /** @type {Target[]} */
  const targets = [];
  const place = (/** @type {Way | readonly EdgeHost[]} */ way) => {
    targets.push('members' in way ? upstreams.targetOf(way) : upstreams.targetOfHosts(way));
    return `o${targets.length - 1}`;
  };
  const placeOwn = (/** @type {Way | readonly EdgeHost[]} */ way) => {
    try {
      return place(way);
    } catch (error) {
      if (!(error instanceof Unwritable)) throw error;
      return place({ scheme: 'http', timeoutSeconds: 15, members: [] });
    }
  };
  const [host] = hosts;
  const [origin] = host?.origins ?? [];
  const places = hosts.map(({ origins }) => origins.map(({ destination, port }) => [destination, port]));
  const isOne = new Set(places.map((each) => JSON.stringify(each))).size <= 1;
  const own = isOne ? ownTargets(host, placeOwn, upstreams.prefix, httpBlocks) : placeOwn(hosts);
  const timeoutSeconds = origin?.timeout_seconds ?? 15;
  const bots = printBots(rules, maps, report, (destination) => {
    const { scheme = 'default', port = 443, host_header: hostHeader } = origin ?? {};
    return place({ scheme, hostHeader, timeoutSeconds, members: [{ destination, port }] });
  });
  const choose = (
    /** @type {'origin_route' | 'origin_pool'} */ type,
    /** @type {(rule: any) => string} */ placeOf,
  ) => {
    /** @type {string[]} */
    const names = [];
    const { part } = firstOf(rules, type, 'n', maps, report, (rule) => names.push(placeOf(rule)));
    if (names.length === 0) return '';
    const lines = names.map((name, i) => `  if ($zf_chosen = n${i + 1}) { set $zf_target ${name}; }\n`);
    return `  set $zf_chosen "${part}";\n${lines.join('')}`;
  };
  const chooses = [
    choose('origin_route', ({ destination, port, scheme, host_header }) =>
      place({ scheme, hostHeader: host_header, timeoutSeconds, members: [{ destination, port }] }),
    ),
    choose('origin_pool', (rule) => placePool(rule, timeoutSeconds, place, report)),
  ].join('');
  return { targets, chooses, bots, first: own };
}

/**
 * @param {import('./rules.mjs').RuleOf<'origin_pool'>} rule
 * @param {number} timeoutSeconds
 * @param {(way: import('./origins.mjs').Way) => string} place
 * @param {import('./domain.mjs').RuleReport} report
 */
function placePool(rule, timeoutSeconds, place, report) {
  const { origins, method, health } = rule;
  const [scheme] = new Set(origins.map((each) => each.scheme));
  if (origins.some((each) => each.scheme !== scheme))
    throw new Unwritable('nginx requires the same scheme for all origins of a pool');
  if (method === 'least_time') throw new Unwritable('this nginx does not measure response times of origins');
  if (health !== undefined)
    report.add(rule.id, 'partly supported: nginx detects failed origins only by requests');
  if (method === 'hash' && origins.some(({ backup }) => backup)) {
    report.add(rule.id, 'partly supported: nginx does not support backups with hashing');
  }
  const members = origins.map(({ host: destination, port, weight, backup }) => ({
    destination,
    port,
    weight,
    backup,
  }));
  return place({ scheme: scheme ?? 'https', timeoutSeconds, method, members });
}

/**
 * Groups origins that are contacted in the same way. With several groups, each request picks one at random, weighted by its size.
 * @param {EdgeHost | undefined} host
 * @param {(way: import('./origins.mjs').Way) => string} place
 * @param {string} prefix
 * @param {Map<string, string>} httpBlocks
 */
function ownTargets(host, place, prefix, httpBlocks) {
  /** @type {Map<string, import('../../src/edge/edge-config.ts').EdgeOrigin[]>} */
  const groups = new Map();
  const origins = host?.origins ?? [];
  for (const origin of origins) {
    const key = JSON.stringify([origin.scheme, origin.host_header, origin.timeout_seconds]);
    groups.set(key, [...(groups.get(key) ?? []), origin]);
  }
  const names = [...groups.values()].map((origins) => {
    const [{ scheme, host_header: hostHeader, timeout_seconds: timeoutSeconds }] = /** @type {[any]} */ (
      origins
    );
    const members = origins.map(({ destination, port }) => ({ destination, port }));
    return { name: place({ scheme, hostHeader, timeoutSeconds, members }), size: origins.length };
  });
  const [only] = names;
  if (only === undefined) return place({ scheme: 'http', timeoutSeconds: 15, members: [] });
  if (names.length === 1) return only.name;
  const total = origins.length;
  const shares = names
    .slice(0, -1)
    .map(({ name, size }) => `  ${((size / total) * 100).toFixed(2)}% ${name};\n`);
  const chosen = `${prefix}_split_${shares.join('').replaceAll(/[^0-9o]+/g, '_')}${names.at(-1)?.name}`;
  httpBlocks.set(
    chosen,
    `split_clients $request_id $${chosen} {\n${shares.join('')}  * ${names.at(-1)?.name};\n}\n`,
  );
  return `$${chosen}`;
}
