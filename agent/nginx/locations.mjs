// @ts-check
// Prints redirects, and the rewritten paths for origins.

import { KEYS, matchesOf } from './match.mjs';
import { Capture, oneOf, quote, Unwritable, variable } from './quote.mjs';
import { printEnding, writeEach } from './rules.mjs';

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
 * @returns {{ dry: string, place: string }}
 */
export function printRedirects(rules, maps, report) {
  const codes = new Set();
  const written = writeEach(rules, 'redirect', report, (rule) => {
    const code = oneOf(rule.status_code, [301, 302, 307, 308]);
    codes.add(code);
    const location = quote(`${code} ${rule.id} `, ...locationOf(rule));
    return matchesOf(rule).map(({ regex }) => /** @type {const} */ ([regex, location]));
  });
  let place = '';
  const dry = printEnding(written, KEYS.plain, maps, report, (name) => {
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
 * @param {RuleReport} report
 */
export function printRewrites(rules, maps, report) {
  const written = writeEach(rules, 'rewrite', report, (rule) => {
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

/** nginx encodes the path for the origin, so it gets the decoded one. @param {RuleOf<'rewrite'>} rule @param {number} groups */
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
    throw new Unwritable('the percent-encoded text of the target is not UTF-8');
  }
}
