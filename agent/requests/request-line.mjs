// @ts-check
// Converts a line of nginx's log to a line of the contract (docs/edge.md, "The contract"). Visitors choose most of its content: nginx
// escapes it, so that it cannot end a value, and values longer than the contract allows are truncated.

/** Values are texts, because nginx writes a missing status as `000`, which is not a JSON number. */
const VARIABLES = {
  ended: 'msec',
  took: 'request_time',
  host: 'host',
  method: 'request_method',
  uri: 'request_uri',
  status: 'status',
  octets: 'bytes_sent',
  client: 'remote_addr',
  cache: 'upstream_cache_status',
  asked: 'upstream_status',
  connected: 'upstream_connect_time',
  headed: 'upstream_header_time',
  rule: 'zf_rule',
  limit: 'limit_req_status',
  limited: 'zf_limit',
  waf: 'zf_waf',
  reason: 'zf_reason',
};

/** @typedef {Record<keyof typeof VARIABLES, string>} Logged */

/** For `log_format … escape=json`. */
export const LOG_FORMAT = `{${Object.entries(VARIABLES)
  .map(([name, variable]) => `"${name}":"$${variable}"`)
  .join(',')}}`;

/** Cannot occur in a value, because quotes in values are escaped. */
const BEGIN = '{"ended":"';
/** RFC 9110 does not limit these values; longer ones are truncated to these lengths. */
const MOST_URI = 2048;
const MOST_METHOD = 64;
const MOST_HOST = 255;

/** @type {Readonly<Record<string, string>>} */
const CACHE_STATES = {
  HIT: 'hit',
  MISS: 'miss',
  SCARCE: 'miss',
  BYPASS: 'bypass',
  EXPIRED: 'expired',
  STALE: 'stale',
  UPDATING: 'stale',
  REVALIDATED: 'revalidated',
};
/** Statuses of requests that nginx could not parse, so that no origin was contacted. */
const BAD_REQUEST = [400, 405, 411, 413, 414, 417, 431, 494, 495, 496, 497, 505];

/**
 * @param {string} text a line of the log; if it was cut off and continues with another line, that other line is parsed
 * @returns {string | undefined} undefined if it cannot be parsed
 */
export function printLine(text) {
  /** @type {Logged} */
  let logged;
  try {
    logged = JSON.parse(text.slice(Math.max(0, text.lastIndexOf(BEGIN))));
  } catch {
    return undefined;
  }
  if (typeof logged !== 'object' || logged === null) return undefined;
  if (Object.keys(VARIABLES).some((name) => typeof logged[/** @type {keyof Logged} */ (name)] !== 'string'))
    return undefined;
  const [ended, took] = [Number(logged.ended), Number(logged.took)];
  const at = new Date(Math.round((ended - took) * 1000));
  if (ended <= 0 || took < 0 || Number.isNaN(at.getTime())) return undefined;
  const status = Number(logged.status);
  const octets = Number(logged.octets);
  if (!Number.isInteger(status) || !Number.isInteger(octets)) return undefined;
  const { rule, reason } = refusalOf(logged, status);
  const cache = CACHE_STATES[logged.cache];
  return JSON.stringify({
    at: at.toISOString(),
    host: logged.host.slice(0, MOST_HOST),
    method: logged.method.slice(0, MOST_METHOD),
    uri: logged.uri.slice(0, MOST_URI),
    status: status < 100 ? 0 : status,
    octets,
    ms: Math.round(took * 1000),
    client: logged.client,
    ...(cache !== undefined && { cache }),
    ...(rule > 0 && { rule }),
    ...(reason !== undefined && { reason }),
    ...(status === 101 && { websocket: true }),
  });
}

/**
 * Returns the rule that acted, and why no origin responded.
 * @param {Logged} logged
 * @param {number} status
 * @returns {{ rule: number, reason?: string | undefined }}
 */
function refusalOf(logged, status) {
  const rule = /^[1-9][0-9]{0,9}$/.test(logged.rule) ? Number(logged.rule) : 0;
  if (status === 499 || status === 0) return { rule, reason: 'client_closed' };
  if (status === 408) return { rule, reason: 'client_timeout' };
  if (logged.asked !== '') return { rule, reason: failureOf(logged, status) };
  // Served from the cache.
  if (logged.cache !== '') return { rule };
  if (status === 429 && logged.limit === 'REJECTED')
    return { rule: Number(logged.limited) || 0, reason: 'rule_limited' };
  if (logged.reason === 'suspended') return { rule, reason: logged.reason };
  if (status === 403) {
    if (rule > 0) return { rule, reason: 'rule_blocked' };
    // The transaction id of modsecurity with the rule's id, as ../nginx/waf.mjs writes it.
    const [, found] = /^p\dt\d+-r([1-9]\d{0,9})-/.exec(logged.waf) ?? [];
    if (found !== undefined) return { rule: Number(found), reason: 'rule_blocked' };
  }
  if (status === 508) return { rule, reason: 'loop' };
  if (status === 502) return { rule, reason: 'no_origin' };
  if (status >= 500 && status !== 505) return { rule, reason: 'edge_fault' };
  return { rule, reason: BAD_REQUEST.includes(status) ? 'client_bad_request' : undefined };
}

/** Returns the failure of the last origin that was contacted. Undefined if the response came from an origin or the cache. @param {Logged} logged @param {number} status */
function failureOf({ asked, connected, headed }, status) {
  const last = (/** @type {string} */ text) => text.split(/, | : /).at(-1) ?? '';
  if (last(headed) !== '-') return undefined;
  if (status === 500) return 'edge_fault';
  if (![502, 504].includes(status) || last(asked) !== String(status)) return undefined;
  if (last(connected) === '-') return 'origin_unreachable';
  return status === 504 ? 'origin_timeout' : 'origin_broke_off';
}
