// @ts-check
// Prints customers' error pages as files; the configuration has only their hashes.

import { createHash } from 'node:crypto';
import { quote, Unwritable } from './quote.mjs';

/**
 * @typedef {import('./rules.mjs').RuleOf<'error_page'>} ErrorPage
 * @typedef {Map<string, import('./domain.mjs').Page>} Pages
 */

/** Statuses that nginx reserves. */
const OWN_CODES = [444, 494, 495, 496, 497, 498, 499];

/**
 * @param {ErrorPage} rule
 * @param {string} prefix
 * @param {Pages} pages
 */
export function keepPage(rule, prefix, pages) {
  const end = { 'text/html': 'html', 'text/plain': 'txt', 'application/json': 'json' }[rule.content_type];
  if (end === undefined) throw new Unwritable('the content type of the page is not supported');
  const hash = createHash('sha256').update(rule.html).digest('hex').slice(0, 16);
  const path = `${prefix}/${hash}.${end}`;
  pages.set(path, { path, content: rule.html });
  return path;
}

/**
 * @param {string} folder
 * @param {Pages} pages
 */
export function printPagePlace(folder, pages) {
  if (pages.size === 0) return '';
  return `  location ^~ /.zonefleet-page/ {
    internal;
    alias ${quote(`${folder}/`)};
    types { text/html html; text/plain txt; application/json json; }
    charset utf-8;
    charset_types text/plain application/json;
    add_header Cache-Control no-store always;
  }
`;
}

/**
 * Prints the page of the first matching rule, and for other statuses the pages of rules that apply to all paths.
 * @param {ErrorPage | undefined} first
 * @param {readonly ErrorPage[]} everywhere
 * @param {string} prefix
 * @param {Pages} pages
 */
export function printErrorPages(first, everywhere, prefix, pages) {
  if (first === undefined) return '';
  const seen = new Set(OWN_CODES);
  const lines = [first, ...everywhere].flatMap((rule) => {
    const codes = rule.status_codes.filter(
      (code) => Number.isInteger(code) && code >= 400 && code <= 599 && !seen.has(code),
    );
    for (const code of codes) seen.add(code);
    if (codes.length === 0) return [];
    const file = keepPage(rule, prefix, pages).slice(prefix.length + 1);
    return `    error_page ${codes.join(' ')} /.zonefleet-page/${file};\n`;
  });
  return lines.length === 0 ? '' : `    proxy_intercept_errors on;\n${lines.join('')}`;
}
