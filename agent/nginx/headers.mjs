// @ts-check
// Prints which headers of a response are passed on, removed and added.

import { ignoredHeaders, printCache } from './cache.mjs';
import { whole } from './quote.mjs';

/**
 * @param {import('./cache.mjs').CacheRule | undefined} rule
 * @param {string} zone
 * @param {import('../../src/edge/edge-config.ts').EdgeSettings} settings
 * @param {boolean} isOff
 * @param {import('./match.mjs').Maps} maps
 */
export function printAnswer(rule, zone, settings, isOff, maps) {
  const ignored = rule === undefined || isOff ? '' : ignoredHeaders(rule);
  // Headers that control nginx itself (X-Accel-Redirect) are ignored, because an origin could lead it anywhere.
  let text = `    proxy_ignore_headers X-Accel-Redirect X-Accel-Expires X-Accel-Limit-Rate X-Accel-Buffering X-Accel-Charset${ignored};\n`;
  if (rule !== undefined && !isOff) {
    text += printCache(rule, zone, settings, maps);
    if (rule.browser_ttl_seconds !== undefined) {
      const seconds = whole(rule.browser_ttl_seconds, 0, 31_536_000);
      text += `    proxy_hide_header Cache-Control;\n    proxy_hide_header Expires;\n    add_header Cache-Control "max-age=${seconds}";\n`;
    }
    text += '    add_header X-Cache $upstream_cache_status always;\n';
  }
  return text + printHeaders(settings);
}

/** @param {import('../../src/edge/edge-config.ts').EdgeSettings} settings */
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
