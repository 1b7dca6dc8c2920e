// @ts-check
// Prints a cache rule for the location that contacts the origin. Parts of the cache key are separated by line breaks, which cannot
// occur in a request: no client can write one part so that it looks like two.

import { oneOf, quote, Unwritable, variable, whole } from './quote.mjs';

/** @typedef {import('../../src/edge/edge-rule.ts').EdgeRule} EdgeRule */
/** @typedef {Extract<EdgeRule, { type: 'cache' }>} CacheRule */
/** @typedef {import('../../src/edge/edge-config.ts').EdgeSettings} EdgeSettings */

/** Limits the size of cached bodies in MiB, with a map that detects larger responses. */
export const CAPS = /** @type {const} */ ([128, 256, 512, 2_048, 4_096]);

/**
 * @param {CacheRule} rule
 * @param {string} zone
 * @param {EdgeSettings} settings
 * @param {import('./match.mjs').Maps} maps
 */
export function printCache(rule, zone, settings, maps) {
  const ttl = whole(rule.ttl_seconds, 0, 31_536_000);
  if (rule.bypass || (ttl === 0 && !rule.respect_origin)) return '';
  const key = quote(variable('scheme'), '://', variable('host')).slice(1, -1);
  const cap = oneOf(settings.cache_cap_mb, CAPS);
  // Cache lifetimes by status (heuristically cacheable, RFC 9110 §15.1).
  const valid = ttl === 0 ? '' : `    proxy_cache_valid 200 203 204 300 301 308 404 410 ${ttl}s;\n`;
  return `    proxy_cache ${zone};
    proxy_cache_key "${[key, '$request_method', '$zf_target', ...queryKeys(rule, maps), ...headerKeys(rule)].join('\\n')}";
${valid}    proxy_cache_lock on;
    proxy_cache_bypass $http_authorization;
    proxy_no_cache $http_authorization $zf_over_${cap};
`;
}

/** @param {CacheRule} rule */
export function ignoredHeaders(rule) {
  return rule.respect_origin ? '' : ' Cache-Control Expires';
}

/** @param {CacheRule} rule @param {import('./match.mjs').Maps} maps */
function queryKeys(rule, maps) {
  switch (oneOf(rule.key_query, ['all', 'none', 'list'])) {
    case 'all':
      return ['$zf_raw_path', '$args'];
    case 'none':
      return ['$zf_raw_path'];
    default:
      return ['$zf_raw_path', ...rule.key_query_list.map(argument), `\${${doubtful(rule, maps)}}`];
  }
}

/**
 * Uses the complete query if the origin may read other values of the listed parameters than nginx, which takes the first one, ignores case
 * and decodes nothing. Otherwise a visitor could store a response for another request. Empty if each listed name occurs once and all
 * names are plain.
 * @param {CacheRule} rule
 * @param {import('./match.mjs').Maps} maps
 */
function doubtful({ key_query_list: names }, maps) {
  const whole = '"$args"';
  /** @type {[string, string][]} */
  const twice =
    names.length === 0 ? [] : [[String.raw`(?:\A|&)(${names.join('|')})=(?:[^&]*+&)+?\1=`, whole]];
  return maps.add('$args', [...twice, [String.raw`\A(?:[a-z0-9_-]++=[^&;]*+(?:&|\z))*+\z`, '""']], whole);
}

/** @param {string} name */
function argument(name) {
  if (!/^[a-z0-9_]{1,64}$/.test(name))
    throw new Unwritable('nginx tells parameters apart by names of small letters, digits and "_" only');
  return `\${arg_${name}}`;
}

/** @param {CacheRule} rule */
function headerKeys(rule) {
  return rule.key_headers.map((name) => `\${${headerVariable(name)}}`);
}

/** @param {string} name */
export function headerVariable(name) {
  if (!/^[A-Za-z0-9-]{1,64}$/.test(name))
    throw new Unwritable('nginx reads headers by names of letters, digits and "-" only');
  return `http_${name.toLowerCase().replaceAll('-', '_')}`;
}

/** Returns a regular expression for decimal numbers greater than `limit`, which is above one. @param {number} limit */
export function above(limit) {
  const digits = String(limit);
  const ways = [...digits].flatMap((digit, i) => {
    const rest = digits.length - i - 1;
    return digit === '9' ? [] : [`${digits.slice(0, i)}[${Number(digit) + 1}-9][0-9]{${rest}}`];
  });
  return `\\A(?:[1-9][0-9]{${digits.length},}|${ways.join('|')})\\z`;
}
