// @ts-check
// The types of rules that refuse requests: drop, rate_limit, bot_route, waf.

import { headerVariable } from './cache.mjs';
import { KEYS, matchesOf } from './match.mjs';
import { oneOf, quote, Unwritable, variable, whole } from './quote.mjs';
import { literal } from './regex.mjs';
import { affordable, entriesOf, printEnding, refuseUnknown, UNKNOWN, writeEach } from './rules.mjs';
import { bodyLimitOf, profileOf } from './waf.mjs';

/**
 * @typedef {import('./rules.mjs').EdgeRule} EdgeRule
 * @typedef {import('./match.mjs').Maps} Maps
 * @typedef {import('./domain.mjs').Told} Told
 */

/**
 * @template {EdgeRule['type']} T
 * @typedef {import('./rules.mjs').RuleOf<T>} RuleOf
 */

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
    told,
    (name) => `${refuseUnknown(name)}  if ($${name}) { set $zf_rule $${name}; return 403; }\n`,
    UNKNOWN,
  );
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
  const written = writeEach(rules, 'rate_limit', told, (rule) => {
    if (rule.action === 'captcha') throw new Unwritable('nginx has no challenges');
    if (rule.action_mode === 'dry_run')
      throw new Unwritable('nginx cannot count without limiting for one rule alone');
    const requests = whole(rule.requests, 1, 1_000_000);
    rateOf(requests, whole(rule.period_seconds, 1, 86_400));
    const value = keyOf(rule);
    return matchesOf(rule).map(({ regex }) => /** @type {const} */ ([regex, value]));
  });
  const limits = affordable(written, told);
  // nginx does not say which of several has refused.
  const [only, second] = limits;
  const named = only === undefined || second !== undefined ? '' : `    set $zf_limit ${only.rule.id};\n`;
  return named + limits.map(({ rule, written: entries }) => printRateLimit(rule, entries)).join('');

  /** @param {RuleOf<'rate_limit'>} rule @param {import('./rules.mjs').Entries} entries */
  function printRateLimit(rule, entries) {
    const { requests } = rule;
    const rate = rateOf(requests, rule.period_seconds);
    // What takes too long to match counts, too.
    const name = maps.add(KEYS.plain, entries, '""', keyOf(rule));
    // A zone keeps its key and rate for ever: another key or rate is another zone.
    const zone = `${name}_${rate.replace('/', '')}_${rule.id}`;
    zones.set(zone, `limit_req_zone $${name} zone=${zone}:${size} rate=${rate};\n`);
    if (rate.endsWith('r/m') && (requests * 60) % rule.period_seconds !== 0) {
      told.add(rule.id, `in part: nginx counts whole requests a minute, ${rate}`);
    }
    if (rule.block_seconds > rule.period_seconds && rule.action === 'block') {
      told.add(rule.id, 'in part: nginx refuses what is above the limit, and not all else for block_seconds');
    }
    const burst =
      rule.action === 'delay' ? ` burst=${2 * requests} delay=${requests}` : ` burst=${requests - 1} nodelay`;
    return `    limit_req zone=${zone}${requests === 1 && rule.action === 'block' ? '' : burst};\n`;
  }
}

/** @param {number} requests @param {number} seconds */
function rateOf(requests, seconds) {
  if (requests % seconds === 0) return `${requests / seconds}r/s`;
  // rounded down: never more than the rule allows
  const perMinute = Math.floor((requests * 60) / seconds);
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
    told,
    (name) => `${refuseUnknown(name)}  if ($${name} ~ "^block ([0-9]+)") { set $zf_rule $1; return 403; }
  if ($${name} ~ "^(o[0-9]+)") { set $zf_target $1; }
`,
    UNKNOWN,
  );
}

/**
 * The place where modsecurity looks at a request, and before it which rule wants that; empty: none does.
 * @param {readonly EdgeRule[]} rules
 * @param {Maps} maps
 * @param {Told} told
 * @param {{ file: string, ids: ReadonlySet<string> } | undefined} waf
 */
export function printWaf(rules, maps, told, waf) {
  const written = writeEach(rules, 'waf', told, (rule) => {
    if (waf === undefined) throw new Unwritable('this edge has no modsecurity');
    // Without the body modsecurity looks at no part of a request in which the core rules look for attacks.
    if (whole(rule.body_cap_kb, 0, 1_024) === 0)
      throw new Unwritable('modsecurity cannot leave out the body alone: body_cap_kb must be at least 1');
    const unknown = rule.rule_excludes.filter((id) => !waf.ids.has(id));
    if (unknown.length > 0)
      told.add(rule.id, `in part: no rules to leave out: ${unknown.slice(0, 10).join(', ')}`);
    const profile = quote(profileOf(rule, waf.ids));
    return matchesOf(rule).map(({ regex }) => /** @type {const} */ ([regex, profile]));
  });
  if (waf === undefined || written.length === 0) return { named: '', place: '' };
  // A request is looked at once. What is enforced comes before what is only tried.
  const ordered = ['enforce', 'dry_run'].flatMap((mode) =>
    written.filter(({ rule }) => rule.action_mode === mode),
  );
  const name = maps.add(KEYS.plain, entriesOf(ordered, told), '"off-"', ordered[0]?.written[0]?.[1]);
  const place = `    modsecurity on;
    modsecurity_rules_file ${quote(waf.file)};
    modsecurity_rules 'SecRequestBodyLimit ${bodyLimitOf(written.map(({ rule }) => rule))}';
    modsecurity_transaction_id "zf-\${${name}}\${request_id}";
`;
  return { named: `  set $zf_waf $${name};\n`, place };
}
