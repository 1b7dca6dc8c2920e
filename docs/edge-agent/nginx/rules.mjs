// @ts-check
// What each type of rule becomes in the server of one host. A rule that nginx cannot obey is left out and told.

import { headerVariable, ignoredHeaders, printCache } from './cache.mjs';
import { KEYS, matchesOf } from './match.mjs';
import { Capture, oneOf, quote, Unwritable, variable, whole } from './quote.mjs';
import { literal } from './regex.mjs';
import { bodyLimitOf, profileOf } from './waf.mjs';

/**
 * @typedef {import('../../../src/edge/edge-rule.ts').EdgeRule} EdgeRule
 * @typedef {import('./match.mjs').Maps} Maps
 * @typedef {import('./domain.mjs').Told} Told
 */

/** Engines take thousands of entries; a request that walks them all pays for each. */
const MAX_ENTRIES = 2_000;

/**
 * @template {EdgeRule['type']} T
 * @typedef {Extract<EdgeRule, { type: T }>} RuleOf
 */

/**
 * The rules of one type, in their order, with what could be written of each.
 * @template {EdgeRule['type']} T
 * @template U
 * @param {readonly EdgeRule[]} rules
 * @param {T} type
 * @param {Told} told
 * @param {(rule: RuleOf<T>) => U} write
 * @returns {{ rule: RuleOf<T>, written: U }[]}
 */
export function writeEach(rules, type, told, write) {
  return rules.flatMap((each) => {
    if (each.type !== type) return [];
    const rule = /** @type {RuleOf<T>} */ (each);
    try {
      return { rule, written: write(rule) };
    } catch (error) {
      if (!(error instanceof Unwritable)) throw error;
      told.add(rule.id, error.message);
      return [];
    }
  });
}

/**
 * @param {readonly { rule: EdgeRule, written: readonly (readonly [string, string])[] }[]} written
 */
function entriesOf(written) {
  const entries = written.flatMap((each) => each.written);
  if (entries.length > MAX_ENTRIES) throw new Unwritable(`more than ${MAX_ENTRIES} patterns`);
  return entries;
}

/**
 * @param {readonly EdgeRule[]} rules
 * @param {Maps} maps
 * @param {Told} told
 * @param {{ hasCountries: boolean }} facts
 */
export function printDrops(rules, maps, told, { hasCountries }) {
  const written = writeEach(rules, 'drop', told, (rule) => {
    const lead = countryLead(rule, hasCountries);
    return matchesOf(rule, lead).map(({ regex }) => /** @type {const} */ ([regex, quote(String(rule.id))]));
  });
  return printEnding(
    written,
    KEYS.country,
    maps,
    (name) => `  if ($${name}) { set $zf_rule $${name}; return 403; }\n`,
  );
}

/**
 * Rules that count in dry runs: those only set `zf_dry`, for the log.
 * @template {EdgeRule} R
 * @param {readonly { rule: R, written: readonly (readonly [string, string])[] }[]} written
 * @param {string} key
 * @param {Maps} maps
 * @param {(name: string) => string} print
 */
function printEnding(written, key, maps, print) {
  const enforced = entriesOf(written.filter(({ rule }) => rule.action_mode === 'enforce'));
  const dry = written
    .filter(({ rule }) => rule.action_mode === 'dry_run')
    .flatMap(({ rule, written: entries }) =>
      entries.map(
        ([regex]) => /** @type {const} */ ([regex, quote(`${whole(rule.id, 1, Number.MAX_SAFE_INTEGER)} `)]),
      ),
    );
  const dryPart = dry.length === 0 ? '' : `  set $zf_dry "\${zf_dry}\${${maps.add(key, dry)}}";\n`;
  return dryPart + (enforced.length === 0 ? '' : print(maps.add(key, enforced)));
}

/**
 * @param {RuleOf<'drop'>} rule
 * @param {boolean} hasCountries
 */
function countryLead({ countries, country_match_type }, hasCountries) {
  const any = String.raw`[^\n]*+\n`;
  if (countries.length === 0) return any;
  if (!hasCountries) throw new Unwritable('this edge has no table of countries');
  if (!countries.every((code) => /^[A-Z]{2}$/.test(code))) throw new Unwritable('a country that is none');
  const listed = String.raw`(?:${countries.join('|')})\n`;
  return oneOf(country_match_type, ['include', 'exclude']) === 'include' ? listed : `(?!${listed})${any}`;
}

/**
 * @param {readonly EdgeRule[]} rules
 * @param {Maps} maps
 * @param {Told} told
 * @param {Map<string, string>} zones what has to stand beside the server
 * @param {string} size of a zone
 */
export function printRateLimits(rules, maps, told, zones, size) {
  return writeEach(rules, 'rate_limit', told, (rule) => {
    if (rule.action === 'captcha') throw new Unwritable('nginx has no challenges');
    if (rule.action_mode === 'dry_run')
      throw new Unwritable('nginx cannot count without limiting for one rule alone');
    const requests = whole(rule.requests, 1, 1_000_000);
    const rate = rateOf(requests, whole(rule.period_seconds, 1, 86_400));
    const value = keyOf(rule);
    const name = maps.add(
      KEYS.plain,
      matchesOf(rule).map(({ regex }) => [regex, value]),
    );
    // A zone keeps its key and rate for ever: another key or rate is another zone.
    const zone = `${name}_${rate.replace('/', '')}_${rule.id}`;
    zones.set(zone, `limit_req_zone $${name} zone=${zone}:${size} rate=${rate};\n`);
    if (rule.block_seconds > rule.period_seconds && rule.action === 'block') {
      told.add(rule.id, 'in part: nginx refuses what is above the limit, and not all else for block_seconds');
    }
    const burst =
      rule.action === 'delay' ? ` burst=${2 * requests} delay=${requests}` : ` burst=${requests - 1} nodelay`;
    return `    limit_req zone=${zone}${requests === 1 && rule.action === 'block' ? '' : burst};\n`;
  })
    .map(({ written }) => written)
    .join('');
}

/** @param {number} requests @param {number} seconds */
function rateOf(requests, seconds) {
  if (requests % seconds === 0) return `${requests / seconds}r/s`;
  const perMinute = Math.round((requests * 60) / seconds);
  if (perMinute < 1) throw new Unwritable('nginx does not count slower than one request a minute');
  return `${perMinute}r/m`;
}

/** @param {RuleOf<'rate_limit'>} rule */
function keyOf(rule) {
  switch (oneOf(rule.key, ['ip', 'ip_path', 'header'])) {
    case 'ip':
      return quote(variable('binary_remote_addr'));
    case 'ip_path':
      return quote(variable('binary_remote_addr'), variable('zf_path'));
    default:
      return quote('h', variable(headerVariable(rule.header ?? '')));
  }
}

/**
 * @param {readonly EdgeRule[]} rules
 * @param {Maps} maps
 * @param {Told} told
 * @param {(destination: string) => string} targetOf the name of the target
 */
export function printBots(rules, maps, told, targetOf) {
  const written = writeEach(rules, 'bot_route', told, (rule) => {
    if (rule.bots !== 'list') throw new Unwritable('nginx does not know which robots are verified');
    if (rule.action === 'captcha') throw new Unwritable('nginx has no challenges');
    const agents = rule.list.map(literal).join('|');
    const lead = String.raw`(?>(?i:[^\n]*?(?:${agents})))[^\n]*+\n`;
    const value = {
      allow: () => quote('allow'),
      block: () => quote(`block ${rule.id}`),
      route: () => quote(targetOf(rule.destination ?? '')),
    }[oneOf(rule.action, ['allow', 'block', 'route'])];
    const does = value();
    return matchesOf(rule, lead).map(({ regex }) => /** @type {const} */ ([regex, does]));
  });
  return printEnding(
    written,
    KEYS.agent,
    maps,
    (name) => `  if ($${name} ~ "^block ([0-9]+)") { set $zf_rule $1; return 403; }
  if ($${name} ~ "^(o[0-9]+)") { set $zf_target $1; }
`,
  );
}

/**
 * The place where modsecurity looks at a request; empty: no rule wants it.
 * @param {readonly EdgeRule[]} rules
 * @param {Maps} maps
 * @param {Told} told
 * @param {{ file: string, ids: ReadonlySet<string> } | undefined} waf
 */
export function printWaf(rules, maps, told, waf) {
  const written = writeEach(rules, 'waf', told, (rule) => {
    if (waf === undefined) throw new Unwritable('this edge has no modsecurity');
    const unknown = rule.rule_excludes.filter((id) => !waf.ids.has(id));
    if (unknown.length > 0)
      told.add(rule.id, `in part: no rules to leave out: ${unknown.slice(0, 10).join(', ')}`);
    const profile = quote(profileOf(rule, waf.ids));
    return matchesOf(rule).map(({ regex }) => /** @type {const} */ ([regex, profile]));
  });
  if (waf === undefined || written.length === 0) return '';
  // A request is looked at once. What is enforced comes before what is only tried.
  const ordered = ['enforce', 'dry_run'].flatMap((mode) =>
    written.filter(({ rule }) => rule.action_mode === mode),
  );
  const name = maps.add(KEYS.plain, entriesOf(ordered), '"off-"');
  return `    modsecurity on;
    modsecurity_rules_file ${quote(waf.file)};
    modsecurity_rules 'SecRequestBodyLimit ${bodyLimitOf(written.map(({ rule }) => rule))}';
    modsecurity_transaction_id "zf-\${${name}}\${request_id}";
`;
}

/**
 * @param {readonly EdgeRule[]} rules
 * @param {Maps} maps
 * @param {Told} told
 * @returns {{ dry: string, place: string }}
 */
export function printRedirects(rules, maps, told) {
  const codes = new Set();
  const written = writeEach(rules, 'redirect', told, (rule) => {
    const code = oneOf(rule.status_code, [301, 302, 307, 308]);
    codes.add(code);
    const location = quote(`${code} ${rule.id} `, ...locationOf(rule));
    return matchesOf(rule).map(({ regex }) => /** @type {const} */ ([regex, location]));
  });
  let place = '';
  const dry = printEnding(written, KEYS.plain, maps, (name) => {
    place = [...codes]
      .map(
        (code) => `    if ($${name} ~ "^${code} ([0-9]+) (.*)$") { set $zf_rule $1; return ${code} $2; }\n`,
      )
      .join('');
    return '';
  });
  return { dry, place };
}

/** @param {RuleOf<'redirect'>} rule */
function locationOf({ target, preserve_path, preserve_query }) {
  const [, way = '', ownQuery, fragment = ''] = /^([^?#]*)(?:\?([^#]*))?(#.*)?$/s.exec(target) ?? [];
  const path = preserve_path ? [way.replace(/\/+$/, ''), variable('zf_raw_path')] : [way];
  const query = [
    ...(ownQuery ? [`?${ownQuery}`] : []),
    ...(preserve_query ? [variable(ownQuery ? 'zf_and_args' : 'zf_question_args')] : []),
  ];
  return [...path, ...query, fragment];
}

/**
 * @param {readonly EdgeRule[]} rules
 * @param {Maps} maps
 * @param {Told} told
 */
export function printRewrites(rules, maps, told) {
  const written = writeEach(rules, 'rewrite', told, (rule) => {
    const mode = oneOf(rule.query_mode, ['preserve', 'replace', 'strip']);
    const query = { preserve: quote(variable('args')), strip: '""', replace: quote(rule.query_target) }[mode];
    return matchesOf(rule).map(({ regex, groups }) => ({ regex, path: pathOf(rule, groups), query }));
  }).flatMap((each) => each.written);
  if (written.length === 0) return '';
  const path = maps.add(
    KEYS.plain,
    written.map(({ regex, path }) => [regex, path]),
  );
  const query = maps.add(
    KEYS.plain,
    written.map(({ regex, query }) => [regex, query]),
  );
  return `    if ($${path}) { set $args $${query}; rewrite ^ $${path} break; }\n`;
}

/**
 * nginx encodes the path that it asks for, so it is told the decoded one.
 * @param {RuleOf<'rewrite'>} rule
 * @param {number} groups
 */
function pathOf({ path, path_target }, groups) {
  const parts = path.type === 'regex' ? path_target.split(/\$([1-9])/) : [path_target];
  if (!path_target.startsWith('/')) {
    if (!/^\^?\(\//.test(path.includes[0] ?? ''))
      throw new Unwritable('a target that does not begin with "/"');
  }
  const printed = parts.map((part, i) => {
    if (i % 2 === 0) return decode(part);
    return Number(part) <= groups ? new Capture(Number(part)) : '';
  });
  return quote(...printed);
}

/** @param {string} text */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Unwritable('a target whose %-codes are no UTF-8');
  }
}

/**
 * Which rule of a type is the first one for the request: the name of a variable, with the rule's place in the list.
 * @template {EdgeRule['type']} T
 * @param {readonly EdgeRule[]} rules
 * @param {T} type
 * @param {string} letter
 * @param {Maps} maps
 * @param {Told} told
 * @param {(rule: RuleOf<T>) => void} judge
 */
export function firstOf(rules, type, letter, maps, told, judge) {
  const written = writeEach(rules, type, told, (rule) => {
    const matches = matchesOf(rule);
    judge(rule);
    return matches;
  });
  const entries = written.flatMap(({ written: matches }, i) =>
    matches.map(({ regex }) => /** @type {const} */ ([regex, quote(`${letter}${i + 1}`)])),
  );
  const chosen = written.map(({ rule }) => rule);
  return entries.length === 0
    ? { chosen, part: `${letter}0` }
    : { chosen, part: `\${${maps.add(KEYS.plain, entries, quote(`${letter}0`))}}` };
}

/**
 * @param {import('./cache.mjs').CacheRule | undefined} rule
 * @param {string} zone
 * @param {import('../../../src/edge/edge-config.ts').EdgeSettings} settings
 * @param {boolean} isOff
 */
export function printAnswer(rule, zone, settings, isOff) {
  const ignored = rule === undefined || isOff ? '' : ignoredHeaders(rule);
  // What an origin says to nginx itself could lead anywhere (X-Accel-Redirect): none of it counts.
  let text = `    proxy_ignore_headers X-Accel-Redirect X-Accel-Expires X-Accel-Limit-Rate X-Accel-Buffering X-Accel-Charset${ignored};\n`;
  if (rule !== undefined && !isOff) {
    text += printCache(rule, zone, settings);
    if (rule.browser_ttl_seconds !== undefined) {
      const seconds = whole(rule.browser_ttl_seconds, 0, 31_536_000);
      text += `    proxy_hide_header Cache-Control;\n    proxy_hide_header Expires;\n    add_header Cache-Control "max-age=${seconds}";\n`;
    }
    text += '    add_header X-Cache $upstream_cache_status always;\n';
  }
  return text + printHeaders(settings);
}

/** @param {import('../../../src/edge/edge-config.ts').EdgeSettings} settings */
export function printHeaders(settings) {
  let text = '';
  if (settings.sec_no_sniff) {
    text +=
      '    proxy_hide_header X-Content-Type-Options;\n    add_header X-Content-Type-Options nosniff always;\n';
  }
  if (settings.sec_referrer_policy) {
    text +=
      '    proxy_hide_header Referrer-Policy;\n    add_header Referrer-Policy strict-origin-when-cross-origin always;\n';
  }
  if (!settings.sec_strip_headers) return `${text}    proxy_pass_header Server;\n`;
  return text + STRIPPED.map((name) => `    proxy_hide_header ${name};\n`).join('');
}

const STRIPPED = [
  'X-Powered-By',
  'X-AspNet-Version',
  'X-AspNetMvc-Version',
  'X-Generator',
  'X-Runtime',
  'X-Version',
  'X-Drupal-Cache',
  'X-Varnish',
  'Via',
  'X-Backend-Server',
];
