// @ts-check
// Prints the rule types that reject requests: drop, rate_limit, bot_route, waf.

import { headerVariable } from './cache.mjs';
import { KEYS, matchesOf } from './match.mjs';
import { oneOf, quote, Unwritable, variable, whole } from './quote.mjs';
import { literal } from './regex.mjs';
import { affordable, entriesOf, printEnding, refuseUnknown, UNKNOWN, writeEach } from './rules.mjs';
import { bodyLimitOf, profileOf } from './waf.mjs';

/**
 * @typedef {import('./rules.mjs').EdgeRule} EdgeRule
 * @typedef {import('./match.mjs').Maps} Maps
 * @typedef {import('./domain.mjs').RuleReport} RuleReport
 */

/**
 * @template {EdgeRule['type']} T
 * @typedef {import('./rules.mjs').RuleOf<T>} RuleOf
 */

/**
 * @param {readonly EdgeRule[]} rules
 * @param {Maps} maps
 * @param {RuleReport} report
 * @param {{ hasCountries: boolean }} facts
 */
export function printDrops(rules, maps, report, { hasCountries }) {
  const written = writeEach(rules, 'drop', report, (rule) => {
    const lead = countryLead(rule, hasCountries);
    return matchesOf(rule, lead).map(({ regex }) => /** @type {const} */ ([regex, quote(String(rule.id))]));
  });
  return printEnding(
    written,
    KEYS.country,
    maps,
    report,
    (name) => `${refuseUnknown(name)}  if ($${name}) { set $zf_rule $${name}; return 403; }\n`,
    UNKNOWN,
  );
}

/** @param {RuleOf<'drop'>} rule @param {boolean} hasCountries */
function countryLead({ countries, country_match_type }, hasCountries) {
  const any = String.raw`[^\n]*+\n`;
  if (countries.length === 0) return any;
  if (!hasCountries) throw new Unwritable('this edge has no country database');
  if (!countries.every((code) => /^[A-Z]{2}$/.test(code))) throw new Unwritable('a country code is invalid');
  const listed = String.raw`(?:${countries.join('|')})\n`;
  return oneOf(country_match_type, ['include', 'exclude']) === 'include' ? listed : `(?!${listed})${any}`;
}

/**
 * @param {readonly EdgeRule[]} rules
 * @param {Maps} maps
 * @param {RuleReport} report
 * @param {Map<string, string>} zones directives for the level of the server
 * @param {string} size of a zone
 */
export function printRateLimits(rules, maps, report, zones, size) {
  const written = writeEach(rules, 'rate_limit', report, (rule) => {
    if (rule.action === 'captcha') throw new Unwritable('nginx does not support captchas');
    if (rule.action_mode === 'dry_run')
      throw new Unwritable('nginx does not support log-only mode for a single rate limit');
    const requests = whole(rule.requests, 1, 1_000_000);
    rateOf(requests, whole(rule.period_seconds, 1, 86_400));
    const value = keyOf(rule);
    return matchesOf(rule).map(({ regex }) => /** @type {const} */ ([regex, value]));
  });
  const limits = affordable(written, report);
  // nginx does not report which of several limits rejected a request.
  const [only, second] = limits;
  const named = only === undefined || second !== undefined ? '' : `    set $zf_limit ${only.rule.id};\n`;
  return named + limits.map(({ rule, written: entries }) => printRateLimit(rule, entries)).join('');

  /** @param {RuleOf<'rate_limit'>} rule @param {import('./rules.mjs').Entries} entries */
  function printRateLimit(rule, entries) {
    const { requests } = rule;
    const rate = rateOf(requests, rule.period_seconds);
    // Requests that take too many steps to match are counted, too.
    const name = maps.add(KEYS.plain, entries, '""', keyOf(rule));
    // A zone keeps its key and rate, so another key or rate needs another zone.
    const zone = `${name}_${rate.replace('/', '')}_${rule.id}`;
    zones.set(zone, `limit_req_zone $${name} zone=${zone}:${size} rate=${rate};\n`);
    if (rate.endsWith('r/m') && (requests * 60) % rule.period_seconds !== 0) {
      report.add(rule.id, `in part: nginx counts whole requests a minute, ${rate}`);
    }
    if (rule.block_seconds > rule.period_seconds && rule.action === 'block') {
      report.add(
        rule.id,
        'partly supported: nginx rejects requests above the limit, but not all requests for block_seconds',
      );
    }
    const burst =
      rule.action === 'delay' ? ` burst=${2 * requests} delay=${requests}` : ` burst=${requests - 1} nodelay`;
    return `    limit_req zone=${zone}${requests === 1 && rule.action === 'block' ? '' : burst};\n`;
  }
}

/** @param {number} requests @param {number} seconds */
function rateOf(requests, seconds) {
  if (requests % seconds === 0) return `${requests / seconds}r/s`;
  // rounded down, so that the rule's limit is never exceeded
  const perMinute = Math.floor((requests * 60) / seconds);
  if (perMinute < 1) throw new Unwritable('nginx does not support limits below one request per minute');
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
 * @param {RuleReport} report
 * @param {(destination: string) => string} targetOf returns the name of the target
 */
export function printBots(rules, maps, report, targetOf) {
  const written = writeEach(rules, 'bot_route', report, (rule) => {
    if (rule.bots !== 'list') throw new Unwritable('nginx cannot verify bots');
    if (rule.action === 'captcha') throw new Unwritable('nginx does not support captchas');
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
    report,
    (name) => `${refuseUnknown(name)}  if ($${name} ~ "^block ([0-9]+)") { set $zf_rule $1; return 403; }
  if ($${name} ~ "^(o[0-9]+)") { set $zf_target $1; }
`,
    UNKNOWN,
  );
}

/**
 * Prints the location in which modsecurity inspects a request, and selects the rule that applies. Empty if no rule does.
 * @param {readonly EdgeRule[]} rules
 * @param {Maps} maps
 * @param {RuleReport} report
 * @param {{ file: string, ids: ReadonlySet<string> } | undefined} waf
 */
export function printWaf(rules, maps, report, waf) {
  const written = writeEach(rules, 'waf', report, (rule) => {
    if (waf === undefined) throw new Unwritable('this edge has no modsecurity');
    // Without the body, modsecurity skips the phase in which the core rules detect attacks.
    if (whole(rule.body_cap_kb, 0, 1_024) === 0)
      throw new Unwritable('modsecurity cannot skip only the body: body_cap_kb must be at least 1');
    const unknown = rule.rule_excludes.filter((id) => !waf.ids.has(id));
    if (unknown.length > 0)
      report.add(rule.id, `in part: no rules to leave out: ${unknown.slice(0, 10).join(', ')}`);
    const profile = quote(profileOf(rule, waf.ids));
    return matchesOf(rule).map(({ regex }) => /** @type {const} */ ([regex, profile]));
  });
  if (waf === undefined || written.length === 0) return { named: '', place: '' };
  // A request is inspected once. Enforced rules take precedence over dry runs.
  const ordered = ['enforce', 'dry_run'].flatMap((mode) =>
    written.filter(({ rule }) => rule.action_mode === mode),
  );
  const name = maps.add(KEYS.plain, entriesOf(ordered, report), '"off-"', ordered[0]?.written[0]?.[1]);
  const place = `    modsecurity on;
    modsecurity_rules_file ${quote(waf.file)};
    modsecurity_rules 'SecRequestBodyLimit ${bodyLimitOf(written.map(({ rule }) => rule))}';
    modsecurity_transaction_id "zf-\${${name}}\${request_id}";
`;
  return { named: `  set $zf_waf $${name};\n`, place };
}
