// @ts-check
// Prints the server of one host, or of several that differ only in their names. A request passes locations in the order in which rules
// apply: immediate rejections, rate limits, the WAF, redirects, and the origin. The last step has a location for each way to contact the
// origin, to cache and to serve errors.

import { printChallenges } from './challenges.mjs';
import { printAnswer } from './headers.mjs';
import { printRedirects, printRewrites } from './locations.mjs';
import { printProxy, wayOf } from './origins.mjs';
import { keepPage, printErrorPages, printPagePlace } from './pages.mjs';
import { quote } from './quote.mjs';
import { printDrops, printRateLimits, printWaf } from './refusals.mjs';
import { firstOf, writeEach } from './rules.mjs';
import { chooseTarget } from './targets.mjs';

/**
 * @typedef {import('../../src/edge/edge-config.ts').EdgeConfig} EdgeConfig
 * @typedef {import('../../src/edge/edge-config.ts').EdgeHost} EdgeHost
 * @typedef {import('./domain.mjs').EdgeFacts} EdgeFacts
 * @typedef {import('./origins.mjs').Target} Target
 * @typedef {{
 *   facts: EdgeFacts,
 *   maps: import('./match.mjs').Maps,
 *   upstreams: import('./origins.mjs').Upstreams,
 *   report: import('./domain.mjs').RuleReport,
 *   httpBlocks: Map<string, string>,
 *   pages: Map<string, import('./domain.mjs').Page>,
 *   prefix: string,
 * }} Around
 * @typedef {{
 *   hosts: readonly EdgeHost[],
 *   rules: EdgeConfig['rules'],
 *   certificate: { chain: string, key: string } | undefined,
 * }} HostGroup hosts that one server can serve
 */

const MAX_PLACES = 200;

/**
 * Groups hosts with the same rules that are contacted in the same way, because a server costs nginx about 100 KB, and a name 100 bytes.
 * @param {EdgeConfig} config
 * @param {readonly EdgeHost[]} hosts
 * @param {EdgeFacts} facts
 * @returns {HostGroup[]}
 */
export function groupHosts(config, hosts, facts) {
  const narrowed = config.rules.map((rule) => ({ rule, names: rule.hosts && new Set(rule.hosts) }));
  /** @type {Map<string, HostGroup & { hosts: EdgeHost[] }>} */
  const groups = new Map();
  for (const host of hosts) {
    const mine = narrowed.filter(({ names }) => names === undefined || names.has(host.host));
    const rules = mine.map(({ rule }) => rule);
    const certificate = config.suspended ? undefined : certificateOf(config, host.host, facts);
    const origins = host.origins.map(({ destination, scheme, port, host_header, timeout_seconds }) => [
      destination,
      scheme,
      port,
      host_header,
      timeout_seconds,
    ]);
    const narrow = mine.flatMap(({ rule, names }) => (names === undefined ? [] : rule.id));
    const way = wayOf(host, facts);
    // The target of bots uses the port of the host's own origin.
    const port = rules.some(({ type }) => type === 'bot_route') ? host.origins[0]?.port : undefined;
    const key = config.suspended ? '' : JSON.stringify([way ?? [origins], narrow, certificate?.chain, port]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { hosts: [host], rules, certificate });
    else group.hosts.push(host);
  }
  return [...groups.values()];
}

/**
 * @param {EdgeConfig} config
 * @param {HostGroup} group
 * @param {Around} around
 */
export function printServer(config, { hosts, rules, certificate }, around) {
  const { facts } = around;
  const name = `  server_name ${hosts.map(({ host }) => quote(host)).join('\n    ')};\n`;
  const http = facts.listen.http.map((place) => `  listen ${place};\n`).join('');
  const https = facts.listen.https.map((place) => `  listen ${place} ssl http2;\n`).join('');
  const refusing = `server {\n${https}${name}  ssl_reject_handshake on;\n  return 421;\n}\n`;
  if (config.suspended)
    return `server {\n${http}${name}${printChallenges(config)}  set $zf_reason suspended;\n  return 403;\n}\n${refusing}`;
  const body = printBody(config, hosts, rules, around);
  if (certificate === undefined) return `server {\n${http}${name}${body}}\n${refusing}`;
  const { chain, key } = certificate;
  return `server {\n${http}${https}${name}  ssl_certificate ${quote(chain)};\n  ssl_certificate_key ${quote(key)};\n${body}}\n`;
}

/**
 * @param {EdgeConfig} config
 * @param {string} host
 * @param {EdgeFacts} facts
 */
function certificateOf({ certificates }, host, facts) {
  const parent = `*.${host.replace(/^[^.]+\./, '')}`;
  return certificates
    .filter(({ names }) => names.includes(host) || names.includes(parent))
    .sort((a, b) => Date.parse(b.not_after) - Date.parse(a.not_after))
    .map(({ id }) => facts.certificateOf(id))
    .find((each) => each !== undefined);
}

/**
 * @param {EdgeConfig} config
 * @param {readonly EdgeHost[]} hosts
 * @param {EdgeConfig['rules']} rules
 * @param {Around} around
 */
function printBody(config, hosts, rules, around) {
  const { facts, maps, report, httpBlocks } = around;
  for (const { id, type } of rules) {
    if (type === 'captcha') report.add(id, 'nginx does not support captchas');
    if (type === 'fingerprint') report.add(id, 'nginx does not support TLS fingerprints');
  }
  const { targets, chooses, bots, first } = chooseTarget(hosts, rules, around);
  const redirects = printRedirects(rules, maps, report);
  const waf = printWaf(rules, maps, report, facts.waf);
  const before = [
    printChallenges(config),
    '  if ($zf_bad_path) { return 400; }\n  if ($zf_misdirected) { return 421; }\n  if ($zf_loop) { return 508; }\n',
    '  set $zf_path $uri;\n  set $zf_rule "";\n  set $zf_dry "";\n',
    `  set $zf_target ${first};\n`,
    printDrops(rules, maps, report, facts),
    bots,
    redirects.dry,
    waf.named,
    chooses,
  ].join('');
  const limits = printRateLimits(rules, maps, report, httpBlocks, facts.rateZone);
  const places = printPlaces(config, rules, targets, around);
  const stages = [limits && `    limit_req_status 429;\n${limits}`, waf.place, redirects.place];
  const texts = stages.filter((text) => text !== '');
  const last = `@${places.next}`;
  const steps = texts.map((text, i) => {
    const where = i === 0 ? '/' : `@step${i}`;
    return printStep(where, text, i + 1 < texts.length ? `@step${i + 1}` : last, facts);
  });
  const begin = texts.length === 0 ? printStep('/', '', last, facts) : '';
  return [
    before,
    begin,
    ...steps,
    places.text,
    printPagePlace(`${facts.folders.pages}/${around.prefix}`, around.pages),
  ].join('');
}

/**
 * @param {string} where
 * @param {string} text
 * @param {string} next
 * @param {EdgeFacts} facts
 */
function printStep(where, text, next, facts) {
  return `  location ${where} {\n${text}    root ${quote(facts.folders.empty)};\n    try_files /.none ${next};\n  }\n`;
}

/**
 * @param {EdgeConfig} config
 * @param {EdgeConfig['rules']} rules
 * @param {readonly Target[]} targets
 * @param {Around} around
 */
function printPlaces(config, rules, targets, around) {
  const { maps, report, pages, prefix, facts, httpBlocks } = around;
  const { settings } = config;
  const { developer_mode_until: until } = settings;
  const isOff = until !== undefined && Date.parse(until) > facts.now.getTime();
  const zone = `${prefix}_cache`;
  const cache = firstOf(rules, 'cache', 'c', maps, report, (rule) =>
    printAnswer(rule, zone, settings, isOff, maps),
  );
  const errors = firstOf(
    rules,
    'error_page',
    'e',
    maps,
    report,
    (rule) => void keepPage(rule, prefix, pages),
  );
  const everywhere = writeEach(rules, 'error_page', report, (rule) => rule)
    .map(({ rule }) => rule)
    .filter(
      ({ path, host }) =>
        host === undefined &&
        path.type === 'wildcard' &&
        path.includes.includes('/*') &&
        path.excludes.length === 0,
    );
  if (targets.length * (cache.chosen.length + 1) * (errors.chosen.length + 1) > MAX_PLACES) {
    for (const { id } of errors.chosen)
      report.add(id, 'too many rules of this type: nginx needs a location for each combination');
    errors.chosen = [];
    errors.part = 'e0';
  }
  if (targets.length * (cache.chosen.length + 1) > MAX_PLACES) {
    for (const { id } of cache.chosen)
      report.add(id, 'too many rules of this type: nginx needs a location for each combination');
    cache.chosen = [];
    cache.part = 'c0';
  }
  if (cache.chosen.length > 0) httpBlocks.set(zone, printZone(config, zone, facts));
  const rewrites = printRewrites(rules, maps, report);
  const text = targets.flatMap((target, o) =>
    [undefined, ...cache.chosen].flatMap((cacheRule, c) =>
      [undefined, ...errors.chosen].map((errorRule, e) => {
        const body = [
          rewrites,
          printProxy(target, settings),
          printAnswer(cacheRule, zone, settings, isOff, maps),
          printErrorPages(errorRule, everywhere, prefix, pages),
        ];
        return `  location @o${o}${`c${c}e${e}`} {\n${body.join('')}  }\n`;
      }),
    ),
  );
  return { text: text.join(''), next: `\${zf_target}${cache.part}${errors.part}` };
}

/**
 * @param {EdgeConfig} config
 * @param {string} zone
 * @param {EdgeFacts} facts
 */
function printZone({ settings }, zone, facts) {
  const gigabytes = Math.max(1, Math.min(100_000, Math.trunc(settings.cache_l2_max_gb) || 1));
  const days = Math.max(1, Math.min(7, Math.trunc(settings.cache_l2_ttl_days) || 1));
  const path = quote(`${facts.folders.cache}/${zone}`);
  return `proxy_cache_path ${path} levels=1:2 keys_zone=${zone}:${facts.cacheZone} max_size=${gigabytes}g inactive=${days}d use_temp_path=off;\n`;
}
